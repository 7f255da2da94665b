"""The result types of `+ - * /` with dates, times and intervals; None where no operand is one."""

from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    CALENDAR_INTERVAL,
    DATE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    DataType,
    Interval,
    Time,
    is_numeric,
)
from sql.types.coercion import tightest
from sql.types.expression_type import Typed
from sql.types.type_family import kind_of

DAY: Final = Interval("day", "day")
DAY_TIME: Final = Interval("day", "second")
YEAR_MONTH: Final = Interval("year", "month")
TIMESTAMPS: Final = (TIMESTAMP, TIMESTAMP_NTZ)


def moved_dates(operator: str, left: Typed, right: Typed) -> Typed | None:
    if operator == "+":
        return _moved(left, right, "+") or _moved(right, left, "+")
    if operator == "-":
        return _moved(left, right, "-") or _between(left, right)
    return None


def _moved(point: Typed, by: Typed, operator: str) -> Typed | None:
    """A date or timestamp, moved."""
    nullable = point.nullable or by.nullable
    kind = kind_of(by.type)
    if point.type == DATE:
        if by.type in (TINYINT, SMALLINT, INT):
            return Typed(DATE, nullable)
        if by.type == VOID and operator == "+":
            return Typed(TIMESTAMP, nullable)
        if kind in ("ym", "interval"):
            return Typed(DATE, nullable)
        if kind == "dt":
            return Typed(DATE if by.type == DAY else TIMESTAMP, nullable)
    elif isinstance(point.type, Time):
        if by.type == VOID and operator == "+":
            return Typed(Time(6))
        if not isinstance(by.type, Interval) or by.type.is_year_month:
            return None
        return Typed(Time(6) if by.type.end == "second" else point.type)
    elif point.type in TIMESTAMPS:
        if kind in ("ym", "dt", "interval") or (by.type == VOID and operator == "+"):
            return Typed(point.type, nullable)
    elif point.type == STRING and kind in ("dt", "interval"):
        return Typed(STRING)
    return None


def date_shape(operator: str, left: DataType, right: DataType) -> str | None:
    """How a date or timestamp is moved: by `days`, by an interval of days, or `moved` otherwise; `_swapped` where the
    point stands on the right; None if nothing is moved."""
    points = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
    if left in points and right in points:
        return None
    if isinstance(left, Time) or isinstance(right, Time):
        return "moved" if isinstance(left, Time) or operator == "-" else "moved_swapped"
    for point, by, suffix in ((left, right, ""), (right, left, "_swapped")):
        if point == DATE and by in (TINYINT, SMALLINT, INT):
            return "days" + suffix
        if point == DATE and by == DAY:
            return "interval_days" + suffix
        if (point in points or point == STRING) and kind_of(by) in ("ym", "dt", "interval"):
            return "moved" + suffix
        if point in points and by == VOID and operator == "+":
            return "moved" + suffix
    return None


def _between(left: Typed, right: Typed) -> Typed | None:
    """The interval between two points in time."""
    pair = (left.type, right.type)
    if any(isinstance(side, Time) for side in pair) and all(
        isinstance(side, Time) or side in (STRING, VOID) for side in pair
    ):
        return Typed(Interval("hour", "second"))
    nullable = left.nullable or right.nullable
    points = [type for type in pair if type == DATE or type in TIMESTAMPS]
    if not points or any(type not in (DATE, *TIMESTAMPS, STRING, VOID) for type in pair):
        return None
    result = DAY if all(type == DATE for type in points) else DAY_TIME
    forced = STRING in pair or set(pair) == {DATE, TIMESTAMP_NTZ}
    return Typed(result, nullable or forced)


def added_intervals(operator: str, left: Typed, right: Typed) -> Typed | None:
    kinds = (kind_of(left.type), kind_of(right.type))
    nullable = left.nullable or right.nullable
    if operator in ("+", "-", "div"):
        return _like_intervals(operator, left, right, kinds, nullable)
    if operator == "*" and kinds[1] in ("ym", "dt", "interval"):
        left, right, kinds = right, left, (kinds[1], kinds[0])
    if operator not in ("*", "/") or kinds[0] not in ("ym", "dt", "interval"):
        return None
    if not is_numeric(right.type) and right.type not in (STRING, VOID):
        return None
    results: dict[str, DataType] = {"ym": YEAR_MONTH, "dt": DAY_TIME, "interval": CALENDAR_INTERVAL}
    return Typed(results[kinds[0]], nullable or right.type == STRING or kinds[0] == "interval")


def _like_intervals(operator: str, left: Typed, right: Typed, kinds: tuple[str, str], nullable: bool) -> Typed | None:
    if kinds[0] not in ("ym", "dt", "interval") and kinds[1] not in ("ym", "dt", "interval"):
        return None
    if kinds == ("interval", "void") and operator == "-":
        return Typed(CALENDAR_INTERVAL)
    if "interval" in kinds and (kinds[0] != kinds[1] or operator == "div"):
        return None
    common = tightest(left.type, right.type)
    if common is None:
        return None
    return Typed(BIGINT, True) if operator == "div" else Typed(common, nullable)
