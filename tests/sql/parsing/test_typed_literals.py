"""Which texts are dates, timestamps and times to Spark."""

import pytest

from sql.parsing.parse import parse
from sql.parsing.typed_literals import is_date, is_time, literal_issue, read_timestamp


@pytest.mark.parametrize(
    "text", ["2020", "2020-2", "2020-02-29", "2020-1-1 abc", "2020-01-01T1", "+12020-01-01", "now"]
)
def test_a_date(text):
    assert is_date(text)


@pytest.mark.parametrize("text", ["", "20", "2020-13-01", "2021-02-29", "2020-01-32", "2020/01/01", "abc"])
def test_no_date(text):
    assert not is_date(text)


@pytest.mark.parametrize("text", ["2020-01-01", "2020-01-01 10:00", "10:00", "T1:2:3", "2020-01-01 1:2:3.5 UTC", "now"])
def test_a_timestamp(text):
    assert read_timestamp(text) is not None


@pytest.mark.parametrize("text", ["2020-01-01 25:00", "2020-01-01 10:60", "2020-02-30 10:00", "2020-01-01 abc", "abc"])
def test_no_timestamp(text):
    assert read_timestamp(text) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2020-07-01 12:00:00 PST", "2020-07-01 19:00:00"),
        ("2020-07-01 12:00:00.1230 Europe/Berlin", "2020-07-01 10:00:00.123"),
        ("2020-07-01 00:00:00+05:30", "2020-06-30 18:30:00"),
        ("epoch", "1970-01-01 00:00:00"),
        ("10:00", None),
        ("now", None),
    ],
)
def test_a_timestamp_is_shown_in_utc(text, shown):
    assert read_timestamp(text).shown(in_utc=True) == shown


@pytest.mark.parametrize(
    ("text", "fits"), [("10:00", True), ("1:2:3.5", True), ("10:00 PM", True), ("24:00", False), ("x", False)]
)
def test_a_time(text, fits):
    assert is_time(text) is fits


def test_the_error_is_at_the_text_of_the_literal():
    query = "select date '2020-13-01'"
    word, literal = parse(query).tokens[1:]
    (issue,) = literal_issue(word, literal)
    assert (query[issue.start : issue.end], issue.code) == ("'2020-13-01'", "PEN3013")
    assert list(literal_issue(parse("x '1'").tokens[0], literal)) == []
