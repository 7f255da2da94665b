"""Calls that keep the name and the arguments that the user wrote."""

import pytest
from sqlglot import exp

from sql.parsing.call_names import call_name
from sql.parsing.parse import parse


def calls(expression: str) -> list[str]:
    return sorted(call_name(node) for node in parse(f"select {expression} from t").tree.find_all(exp.Anonymous))


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("DATE_ADD(d, 1)", ["DATE_ADD"]),
        ("left(a, 1) || Right(b, 2)", ["Right", "left"]),
        ("substring(a, 1)", ["substring"]),
        ("substring(a from 1)", []),
        ("trim(both 'x' from a)", []),
        ("trim(a)", ["trim"]),
        ("cast(a as int)", []),
        ("exists(xs, x -> x)", ["exists"]),
        ("exists (select 1)", []),
        ("a in (1, 2)", []),
        ("a like any ('x')", []),
        ("any(a)", ["any"]),
        ("case when (a) then b end", []),
        ("when(a, b)", ["when"]),
        ("current_date()", ["current_date"]),
        ("map('a', 1)['a']", ["map"]),
    ],
)
def test_the_calls_of_an_expression(expression, names):
    assert calls(expression) == names


def test_the_name_of_a_cte_is_no_call():
    tree = parse("with c (x) as (select 1), d (y) as (select upper('a')) select x, y from c, d").tree
    assert [call_name(node) for node in tree.find_all(exp.Anonymous)] == ["upper"]
