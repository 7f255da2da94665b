"""Whether a query in an expression stands for one value."""

import pytest
from sqlglot import exp

from sql.grammar.parse import parse
from sql.grammar.subquery_position import is_scalar, outermost


@pytest.mark.parametrize(
    ("query", "scalar"),
    [
        ("select (select 1)", True),
        ("select ((select 1)) + 1", True),
        ("select exists (select 1)", False),
        ("select 1 in (select 1)", False),
        ("select * from (select 1)", False),
        ("select * from t, lateral (select 1)", False),
    ],
)
def test_a_scalar_subquery(query, scalar):
    inner = list(parse(query).tree.find_all(exp.Select))[1]
    assert is_scalar(inner) is scalar


def test_the_outermost_brackets():
    tree = parse("select ((select 1)) + 1").tree
    inner = list(tree.find_all(exp.Select))[1]
    assert isinstance(outermost(inner).parent, exp.Add)
