"""Queries as trees: what parses, where the first error of the others is, and calls that keep the user's own name."""

import pytest
from sqlglot import exp

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.source import PlacedText
from sql.parsing.call_names import call_name
from sql.parsing.node_ranges import Places
from sql.parsing.parse import parse
from sql.suppressions import not_suppressed


@pytest.mark.parametrize(
    ("query", "text", "message"),
    [
        ("select 1; select 2", ";", "only one query is allowed here"),
        ("selct a from t", "selct", "a query is expected here"),
        ("select (1", "(", "the bracket `(` is not closed"),
        ("", "", "the query is empty"),
    ],
)
def test_the_error_and_its_range(query, text, message):
    (issue,) = parse(query).issues
    assert (query[issue.start : issue.end], issue.message) == (text if text != "(" else "(", message)


@pytest.mark.parametrize("query", ["select 1;", "from t |> where a > 1", "select x as select from t", "(values (1))"])
def test_what_spark_accepts_parses(query):
    parsed = parse(query)
    assert parsed.tree is not None
    assert parsed.issues == ()


def test_calls_keep_the_name_and_the_arguments_that_are_written():
    tree = parse("select date_sub(d, 1 + 1), current_date, LEFT('x', 1), cast(a as int) from t").tree
    calls = [(call_name(node), len(node.expressions)) for node in tree.find_all(exp.Anonymous)]
    assert sorted(calls) == [("LEFT", 2), ("date_sub", 2)]


def test_the_range_of_a_call_ends_behind_its_bracket():
    query = "select coalesce(a, upper(b)) from t"
    parsed = parse(query)
    start, end = Places(query, parsed.tokens).range(parsed.tree.expressions[0])
    assert query[start:end] == "coalesce(a, upper(b))"


def test_a_comment_suppresses_its_code_on_its_line_only():
    query = PlacedText.bare("select a -- penstock: ignore PEN3004, PEN3006\n, a")
    items = [
        Diagnostic(code, "wrong", query.span(at, at + 1))
        for code, at in (("PEN3004", 7), ("PEN3008", 7), ("PEN3004", len(query.value) - 1))
    ]
    assert not_suppressed(query, items) == (items[1], items[2])
