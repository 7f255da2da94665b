"""INTERVAL literals."""

import pytest

from sql.recognizer.cursor import NotSparkError
from sql.recognizer.interval_syntax import interval
from tests.sql.recognizer.rule_rest import rest


@pytest.mark.parametrize("text", ["'1 day'", "1 day 2 hours", "- 3 weeks", "'1-2' year to month"])
def test_an_interval_is_read_to_its_end(text: str) -> None:
    assert rest(interval, f"interval {text} then") == "then"


def test_a_word_that_is_no_unit_is_named() -> None:
    with pytest.raises(NotSparkError) as raised:
        rest(interval, "interval 1 fortnight")
    assert raised.value.message == "`FORTNIGHT` is not a unit of time"
