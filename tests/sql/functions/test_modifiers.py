"""The tables of constant arguments: each line is of an argument that Spark's function has."""

import pytest

from catalog.diagnostics.source import PlacedText
from sql.analyze import analyze
from sql.functions.catalogue import signatures
from sql.functions.modifiers import RANGES, UNITS


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_of_an_argument_of_the_function(name):
    assert any(signature.kind_at(index) for signature in signatures(name) for index in RANGES[name])
    assert all(least < most for least, most in RANGES[name].values())


def errors(expression: str) -> list[str]:
    return [error.message for error in analyze(PlacedText.bare(f"select {expression}"), {}).diagnostics]


@pytest.mark.parametrize("value", ["0", "0.5", "1", "array(0, 0.5)"])
def test_a_fraction_within_its_bounds(value):
    assert errors(f"percentile(1, {value})") == []


@pytest.mark.parametrize(("value", "shown"), [("1.5", "1.5"), ("-1", "-1"), ("array(0.5, 2)", "2")])
def test_a_fraction_outside_of_its_bounds(value, shown):
    assert errors(f"percentile(1, {value})") == [f"`percentile` takes a number between 0 and 1 here, this is {shown}"]


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_a_unit_of_time_is_a_bare_word(unit):
    assert errors(f"timestampadd({unit}, 1, timestamp'2020-01-01')") == []
    assert errors(f"timestampadd('{unit}', 1, timestamp'2020-01-01')") == [
        "`timestampadd` takes a unit of time here, as a bare word"
    ]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("upper(distinct 'a')", "`upper` is not an aggregate function: it takes no DISTINCT"),
        ("upper('a') filter (where true)", "`upper` is not an aggregate function: it takes no FILTER"),
        ("sum(1) ignore nulls", "`sum` takes no IGNORE NULLS"),
        ("sum(1) within group (order by 1)", "`sum` takes no WITHIN GROUP"),
        ("to_binary('a', 'x')", "`to_binary` takes hex, utf-8 or base64 here, this is 'x'"),
        ("mask('a', 'XX')", "`mask` takes one character here, this is 'XX'"),
    ],
)
def test_a_clause_or_text_that_the_function_does_not_take(expression, message):
    assert errors(expression) == [message]
