"""Whether a query in an expression stands for one value."""

import pytest
from sqlglot import exp

from sql.parsing.parse import parse
from sql.parsing.subquery_position import is_scalar, outermost


@pytest.mark.parametrize(
    ("query", "scalar"),
    [
        ("select (select 1)", True),
        ("select ((select 1)) + 1", True),
        ("select exists (select 1)", False),
        ("select 1 in (select 1)", False),
        ("select 1 in ((select 1))", True),
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


@pytest.mark.parametrize(
    ("brackets", "is_query"),
    [
        ("(select 1)", True),
        ("((select 1))", False),
        ("(((select 1)))", False),
        ("((select 1), 2)", False),
        ("((select 1) limit 1)", True),
        ("((select 1) union (select 2))", True),
        ("(values 1, 2)", True),
        ("((1), 2)", False),
    ],
)
def test_a_query_and_a_list_in_the_brackets_of_in(brackets, is_query):
    tree = parse(f"select a in {brackets} from t").tree
    assert tree is not None
    node = tree.find(exp.In)
    assert node is not None
    assert (node.args.get("query") is not None) == is_query
    assert bool(node.expressions) != is_query
