"""The types of parts of dates and intervals, and of windows of time."""

import pytest

from sql.functions.rules.dates import extracted
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result, typed

WINDOW = "struct<start:timestamp,end:timestamp>"


@pytest.mark.parametrize(
    ("field", "source", "type"),
    [
        ("year", "date!", "int!"),
        ("SECOND", "timestamp!", "decimal(8,6)!"),
        ("year", "string!", "int"),
        ("hour", "timestamp_ntz!", "int!"),
        ("hour", "time(3)!", "int"),
        ("month", "interval year to month!", "tinyint!"),
        ("d", "interval day to second!", "int!"),
        ("secs", "interval day to second!", "decimal(8,6)!"),
    ],
)
def test_a_part(field, source, type):
    found = extracted(field, typed(source))
    assert f"{found.type}{'' if found.nullable else '!'}" == type


@pytest.mark.parametrize(
    ("field", "source"), [("nosuch", "date"), ("day", "interval hour"), ("doy", "interval day"), ("year", "int")]
)
def test_a_part_that_is_not_there(field, source):
    with pytest.raises(Mismatch, match=f"`{field}` can't be extracted from {source}"):
        extracted(field, typed(source))


def test_a_window_is_null_only_where_it_slides():
    assert result("window", "timestamp", "'10 minutes'") == f"{WINDOW}!"
    assert result("window", "timestamp", "'10 minutes'", "'600 seconds'") == f"{WINDOW}!"
    assert result("window", "timestamp", "'10 minutes'", "'5 minutes'") == WINDOW


@pytest.mark.parametrize(
    ("durations", "message"),
    [
        (["'abc'"], "'abc' is not an interval: write '10 minutes'"),
        (["'1 month'"], "a window can't be of months or years: they are of no fixed length"),
        (["'-1 hour'"], "the length of a window is more than nothing"),
        (["'1 hour'", "'2 hours'"], "a window slides at most by its length"),
    ],
)
def test_a_window_that_is_refused(durations, message):
    with pytest.raises(Mismatch) as error:
        result("window", "timestamp", *durations)
    assert error.value.message == message


def test_the_precision_of_times():
    assert result("current_time", "3") == "time(3)"
    assert result("current_time", "9") == "unknown"
    assert result("time_trunc", "string", "time(2)") == "time(2)"
    assert result("to_time", "string") == "time(6)"
