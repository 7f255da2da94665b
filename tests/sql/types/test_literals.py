"""Literals: the type that a number, a point in time or an interval is written as."""

import pytest
from sqlglot import exp

from catalog.types.datatypes import DATE, TIMESTAMP, Time
from sql.parsing.parse import parse
from sql.types.literals import interval, interval_of, number, typed_literal, units_of
from sql.types.mismatch import Mismatch


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("1", "int"),
        ("2147483648", "bigint"),
        ("9223372036854775808", "decimal(19,0)"),
        ("1L", "bigint"),
        ("1s", "smallint"),
        ("127Y", "tinyint"),
        ("1.50", "decimal(3,2)"),
        (".5", "decimal(1,1)"),
        ("1e3", "double"),
        ("1e3BD", "decimal(4,0)"),
        ("1.5F", "float"),
        ("1x", "unknown"),
    ],
)
def test_the_type_of_a_number(text, type):
    assert str(number(text).type) == type


def test_the_least_number_needs_its_minus():
    assert number("128Y", negative=True).value == -128
    with pytest.raises(Mismatch, match="128 does not fit into tinyint"):
        number("128Y")


@pytest.mark.parametrize("text", ["1e400", "3.5e38f", "9223372036854775808L", "1" * 39 + "BD"])
def test_a_number_that_is_too_large(text):
    with pytest.raises(Mismatch):
        number(text)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (DATE, "2020-13-01"),
        (TIMESTAMP, "2020-01-01 25:00"),
        (TIMESTAMP, "2020-01-01 10:00 No/Where"),
        (Time(6), "25:00"),
    ],
)
def test_a_point_in_time_that_does_not_exist(type, text):
    with pytest.raises(Mismatch, match="is not a"):
        typed_literal(type, text)


def test_a_time_literal_has_six_digits():
    assert typed_literal(Time(0), "10:00").type == Time(6)


def node(text: str) -> exp.Expr:
    return parse(f"select {text}").tree.expressions[0]


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("interval 1 day", "interval day"),
        ("interval '2' weeks", "interval day"),
        ("interval 3 milliseconds", "interval second"),
        ("interval '1-2' year to month", "interval year to month"),
        ("interval '1 day 2 hours'", "interval day to hour"),
        ("interval 'interval 1 year'", "interval year"),
    ],
)
def test_the_type_of_an_interval(text, type):
    assert str(interval(node(text)).type) == type


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interval 1 foo", "`foo` is not a unit of time"),
        ("interval 'x' day", "'x' is not a number of day"),
        ("interval 1.5 day", "day takes a whole number, only seconds have fractions"),
        ("interval '1-13' year to month", "'1-13' is not an interval year to month"),
        ("interval '1-1' year to day", "there is no interval YEAR to DAY"),
        ("interval '1 year 1 day'", "an interval of years or months can't hold days or hours"),
    ],
)
def test_an_interval_that_is_refused(text, message):
    with pytest.raises(Mismatch) as error:
        interval(node(text))
    assert error.value.message.lower() == message.lower()


def test_the_units_of_a_sum_of_intervals():
    assert units_of(node("interval 1 day 2 hours")) == ["day", "hour"]
    assert units_of(node("1 + 2")) is None
    assert str(interval_of(["minute", "day"]).type) == "interval day to minute"
