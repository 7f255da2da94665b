"""What is added to dates and subtracted from them: the results, and how Spark prints it."""

import pytest

from catalog.types.typetext import parse_type
from sql.types.date_arithmetic import added_intervals, date_shape, moved_dates
from sql.types.expression_type import Typed


@pytest.mark.parametrize(
    ("left", "right", "shape"),
    [
        ("date", "int", "days"),
        ("int", "date", "days_swapped"),
        ("date", "interval day", "interval_days"),
        ("interval month", "timestamp", "moved_swapped"),
        ("string", "interval day", "moved"),
        ("date", "date", None),
        ("int", "int", None),
    ],
)
def test_how_a_point_in_time_is_moved(left, right, shape):
    assert date_shape("+", parse_type(left), parse_type(right)) == shape


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        ("date", "+", "int", "date"),
        ("date", "-", "date", "interval day"),
        ("timestamp", "-", "date", "interval day to second"),
        ("date", "+", "interval day", "date"),
        ("date", "+", "interval day to second", "timestamp"),
        ("date", "*", "int", None),
    ],
)
def test_what_a_moved_point_in_time_is(left, operator, right, result):
    found = moved_dates(operator, Typed(parse_type(left), False), Typed(parse_type(right), True))
    assert (found and str(found.type)) == result
    assert found is None or found.nullable


def test_intervals_are_added_to_intervals_of_their_kind():
    months, days = (Typed(parse_type(f"interval {unit}"), False) for unit in ("month", "day"))
    assert str(added_intervals("+", months, months).type) == "interval month"
    assert str(added_intervals("*", days, Typed(parse_type("int"), False)).type) == "interval day to second"
    assert added_intervals("+", Typed(parse_type("int"), False), Typed(parse_type("int"), False)) is None
