"""Result rules of functions over points in time and intervals."""

from collections.abc import Sequence
from typing import Final

from catalog.types.datatypes import (
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VOID,
    DataType,
    Decimal,
    Field,
    Interval,
    Struct,
    Time,
)
from sql.functions.rules.call import Call, Rule
from sql.types import intervals
from sql.types.casts import forces_null
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch

SECONDS: Final = Decimal(8, 6)
_CALENDAR_FIELDS: Final = """
year y years yr yrs yearofweek quarter qtr month mon mons months week w weeks day d days dayofweek dow dayofweek_iso
dow_iso doy
"""
_CLOCK_FIELDS: Final = "hour h hours hr hrs minute m min mins minutes"
_SECOND_FIELDS: Final = "second s sec seconds secs"
DATE_FIELDS: Final[dict[str, DataType]] = {
    **dict.fromkeys((_CALENDAR_FIELDS + _CLOCK_FIELDS).split(), INT),
    **dict.fromkeys(_SECOND_FIELDS.split(), SECONDS),
}
_INTERVAL_INT_FIELDS: Final = "year y years yr yrs day d days"
INTERVAL_FIELDS: Final[dict[str, DataType]] = {
    **dict.fromkeys(_INTERVAL_INT_FIELDS.split(), INT),
    **dict.fromkeys(("month mon mons months " + _CLOCK_FIELDS).split(), TINYINT),
    **dict.fromkeys(_SECOND_FIELDS.split(), SECONDS),
}


def date_part(call: Call) -> Typed:
    field = call.text(0)
    source = call.given[1]
    if call.given[0].type == VOID:
        return Typed(DOUBLE)
    if field is None or source.type == UNKNOWN:
        return NOT_KNOWN
    return extracted(field, source)


def extracted(field: str, source: Typed) -> Typed:
    """`EXTRACT(field FROM source)`."""
    is_interval = isinstance(source.type, Interval)
    fields = INTERVAL_FIELDS if is_interval else DATE_FIELDS
    result = fields.get(field.lower())
    if result is None:
        if is_interval or field.lower() not in DATE_FIELDS:
            raise Mismatch(f"`{field}` can't be extracted from {source.type}", 0)
        return NOT_KNOWN
    if isinstance(source.type, Interval):
        if not source.type.holds(_unit(field.lower())):
            raise Mismatch(f"`{field}` can't be extracted from {source.type}", 0)
        return Typed(result, source.nullable)
    if isinstance(source.type, Time):
        return Typed(result)
    if source.type in (UNKNOWN, VOID):
        return NOT_KNOWN
    if source.type not in (DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING):
        raise Mismatch(f"`{field}` can't be extracted from {source.type}", 1)
    has_clock = field.lower() in (_CLOCK_FIELDS + " " + _SECOND_FIELDS).split()
    target = TIMESTAMP if has_clock else DATE
    if has_clock and source.type == TIMESTAMP_NTZ:
        target = TIMESTAMP_NTZ
    return Typed(result, source.nullable or forces_null(source.type, target))


def _unit(field: str) -> str:
    """The unit that a field of an interval means."""
    units = {"y": "year", "d": "day", "h": "hour", "m": "minute", "s": "second"}
    return "month" if field.startswith("mon") else units[field[0]]


def clock(call: Call) -> Typed:
    """`hour`, `minute` and `second`."""
    return Typed(INT, call.args[0].nullable or isinstance(call.type(0), Time))


def timestampadd(call: Call) -> DataType:
    type = call.type(2)
    return type if type == TIMESTAMP_NTZ else TIMESTAMP


def current_time(call: Call) -> DataType:
    value = call.given[0].value if call.given else 6
    return Time(value) if isinstance(value, int) and 0 <= value <= 6 else UNKNOWN


def to_time(call: Call) -> DataType:
    """Spark replaces a call whose format is a constant NULL by a NULL of the format's type."""
    if len(call.given) < 2:
        return Time(6)
    if call.given[1].type == VOID:
        return STRING
    return UNKNOWN if call.given[1].foldable and call.given[1].nullable else Time(6)


def time_trunc(call: Call) -> DataType:
    return call.type(1) if isinstance(call.type(1), Time) else Time(6)


def window(call: Call) -> Typed:
    for index in range(1, len(call.nodes)):
        text = call.text(index)
        if call.name == "window" and isinstance(call.given[index].type, Interval):
            raise Mismatch("a window takes its durations as text: write '5 minutes'", index)
        if text is not None and call.name == "window" and intervals.is_none(text):
            raise Mismatch(f"'{text}' is not an interval: write '10 minutes'", index)
        if text is not None and intervals.has_months(text):
            raise Mismatch("a window can't be of months or years: they are of no fixed length", index)
    type = call.type(0)
    if type not in (TIMESTAMP, TIMESTAMP_NTZ, DATE, STRING):
        return NOT_KNOWN
    point = TIMESTAMP_NTZ if type == TIMESTAMP_NTZ else TIMESTAMP
    durations = [intervals.micros_of(call.text(index)) for index in range(1, len(call.nodes))]
    _check_durations(durations)
    slides = len(durations) > 1 and durations[0] != durations[1]
    return Typed(Struct((Field("start", point), Field("end", point))), slides)


def _check_durations(durations: Sequence[int | None]) -> None:
    """Length, slide and start of a window, in microseconds; None: no literal."""
    for index, duration in enumerate(durations[:2], start=1):
        if duration is not None and duration <= 0:
            raise Mismatch("the length of a window is more than nothing", index)
    if len(durations) > 1 and durations[0] is not None and durations[1] is not None and durations[1] > durations[0]:
        raise Mismatch("a window slides at most by its length", 2)


RULES: Final[dict[str, Rule]] = {
    "date_part": date_part,
    "clock": clock,
    "timestampadd": timestampadd,
    "current_time": current_time,
    "to_time": to_time,
    "time_trunc": time_trunc,
    "window": window,
}
