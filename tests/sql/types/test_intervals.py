"""Interval literals as numbers of months or microseconds, and as Spark prints them."""

import pytest

from catalog.types.datatypes import Interval
from sql.types import intervals

DAY_TO_SECOND = Interval("day", "second")
YEAR_TO_MONTH = Interval("year", "month")


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1 day 2 hours", 93_600_000_000),
        ("-1.5 seconds", -1_500_000),
        ("1 year 2 months", 14),
        ("2 weeks", 1_209_600_000_000),
        ("1 century", None),
    ],
)
def test_pairs_of_numbers_and_units(text, amount):
    assert intervals.of_pairs(text) == amount


@pytest.mark.parametrize(("text", "is_none"), [("10 minutes", False), ("interval 1 day", False), ("", True),
                                               ("abc", True), ("1 day x", True), ("5", True)])  # fmt: skip
def test_what_is_no_interval(text, is_none):
    assert intervals.is_none(text) is is_none


def test_months_have_no_microseconds():
    assert intervals.micros_of("1 month") is None
    assert intervals.micros_of("1 hour") == 3_600_000_000
    assert intervals.micros_of(None) is None


@pytest.mark.parametrize(
    ("text", "type", "fits"),
    [
        ("1-11", YEAR_TO_MONTH, True),
        ("1-12", YEAR_TO_MONTH, False),
        ("-1 23:59:59.5", DAY_TO_SECOND, True),
        ("1 24:00:00", DAY_TO_SECOND, False),
        ("1 2", DAY_TO_SECOND, False),
        ("10:20", Interval("minute", "second"), True),
        ("7", Interval("day", "day"), True),
    ],
)
def test_the_parts_of_a_span(text, type, fits):
    assert intervals.is_span(text, type) is fits


@pytest.mark.parametrize(
    ("text", "type", "printed"),
    [
        ("1-2", YEAR_TO_MONTH, "INTERVAL '1-2' YEAR TO MONTH"),
        ("-1-2", YEAR_TO_MONTH, "INTERVAL '-1-2' YEAR TO MONTH"),
        ("1 02:03:04.50", DAY_TO_SECOND, "INTERVAL '1 02:03:04.5' DAY TO SECOND"),
        ("1 2", Interval("day", "hour"), "INTERVAL '1 02' DAY TO HOUR"),
        ("5:6", Interval("hour", "minute"), "INTERVAL '05:06' HOUR TO MINUTE"),
    ],
)
def test_a_span_is_printed_with_two_digits_a_part(text, type, printed):
    amount = intervals.of_span(text, type)
    assert amount is not None
    assert intervals.to_sql(amount, type) == printed


def test_a_text_of_another_shape_is_no_span():
    assert intervals.of_span("1", YEAR_TO_MONTH) is None
    assert intervals.of_span("x", DAY_TO_SECOND) is None
