"""Where in the text of a query a node is."""

import pytest
from sqlglot import exp

from sql.parsing.node_ranges import Places, first_offset
from sql.parsing.parse import parse


def ranged(query: str, kind: type[exp.Expr]) -> tuple[str, str]:
    """The text of the first node of a kind, and the part of it that a message marks."""
    parsed = parse(query)
    places, node = Places(query, parsed.tokens), parsed.tree.find(kind)
    start, end = places.range(node)
    first, last = places.marked(node)
    return query[start:end], query[first:last]


@pytest.mark.parametrize(
    ("query", "kind", "text"),
    [
        ("select a + 1 from t", exp.Add, "a + 1"),
        ("select upper(lower(a)) from t", exp.Anonymous, "upper(lower(a))"),
        ("select cast( a as int) from t", exp.Cast, "cast( a as int)"),
        ("select a::int from t", exp.Cast, "a"),
        ("select f(null, 1)", exp.Null, "null"),
        ("select (a + b) * 2 from t", exp.Mul, "(a + b) * 2"),
    ],
)
def test_the_range_of_a_node(query, kind, text):
    assert ranged(query, kind)[0].strip("(") == text.strip("(")


def test_of_a_long_operation_the_operator_is_marked():
    side = "a_column_with_a_name_that_is_so_long_that_it_fills_the_line_with_its_twin"
    assert ranged(f"select {side} + {side} from t", exp.Add)[1] == "+"


def test_of_a_long_call_its_name_is_marked():
    arguments = ", ".join(["a_column_with_a_long_name"] * 4)
    assert ranged(f"select coalesce({arguments}) from t", exp.Anonymous)[1] == "coalesce"


def test_the_order_of_two_nodes():
    query = "select a, b from t"
    parsed = parse(query)
    a, b = parsed.tree.expressions
    assert Places(query, parsed.tokens).is_before(a, b)
    assert not Places(query, parsed.tokens).is_before(b, a)
    assert first_offset(b) == query.index("b")
    assert first_offset(exp.Null()) is None
