"""What IN has in its brackets."""

import pytest
from sqlglot import exp

from sql.grammar.parse import parse


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
def test_a_query_and_a_list(brackets, is_query):
    tree = parse(f"select a in {brackets} from t").tree
    assert tree is not None
    node = tree.find(exp.In)
    assert node is not None
    assert (node.args.get("query") is not None) == is_query
    assert bool(node.expressions) != is_query
