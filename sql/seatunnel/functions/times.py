"""Date and time functions of SeaTunnel's SQL as Spark's."""

from collections.abc import Mapping
from typing import Final

from catalog.compat import Compat
from catalog.types.datatypes import DATE, STRING, Time
from sql.seatunnel.functions.strings import ON_A_DAY
from sql.seatunnel.sites.call import CallSite, Rule
from sql.seatunnel.sites.edits import Parts

_INTERVALS: Final = {
    "YEAR": "make_interval({1})",
    "MONTH": "make_interval(0, {1})",
    "WEEK": "make_interval(0, 0, {1})",
    "DAY": "make_interval(0, 0, 0, {1})",
    "HOUR": "make_interval(0, 0, 0, 0, {1})",
    "MINUTE": "make_interval(0, 0, 0, 0, 0, {1})",
    "SECOND": "make_interval(0, 0, 0, 0, 0, 0, {1})",
    "MILLISECOND": "make_interval(0, 0, 0, 0, 0, 0, {1} / 1000.0)",
}
_TIME_INTERVALS: Final = {
    "HOUR": "make_dt_interval(0, {1})",
    "MINUTE": "make_dt_interval(0, 0, {1})",
    "SECOND": "make_dt_interval(0, 0, 0, {1})",
    "MILLISECOND": "make_dt_interval(0, 0, 0, {1} / 1000.0)",
}
_DAYS: Final = ("YEAR", "MONTH", "WEEK", "DAY")

_OF_TIME: Final = (
    "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MILLISECONDS", "MICROSECOND", "MICROSECONDS",
)  # fmt: skip

WEEK_OF_YEAR: Final = "CAST((dayofyear({0}) + dayofweek(trunc({0}, 'YEAR')) - 2) DIV 7 + 1 AS INT)"
"""Weeks begin on Sunday and the first holds January 1: Java's week of the year in an English locale."""


def _unit(call: CallSite, index: int) -> str | None:
    """The unit that a call names; DAY where it names none."""
    if call.count <= index or call.is_null(index):
        return "DAY"
    constant = call.text_constant(index)
    return None if constant is None else constant.upper()


def _dateadd(call: CallSite) -> Parts | None:
    unit = _unit(call, 2)
    if call.count not in (2, 3) or unit is None or unit not in _INTERVALS:
        return None
    type = call.type(0)
    if type == DATE:
        return call.fill(f"CAST({{0}} + {_INTERVALS[unit]} AS DATE)") if unit in _DAYS else [call.arg(0)]
    if isinstance(type, Time):
        return call.fill(f"({{0}} + {_TIME_INTERVALS[unit]})") if unit in _TIME_INTERVALS else [call.arg(0)]
    value = "CAST({0} AS TIMESTAMP)" if type == STRING else "{0}"
    return call.fill(f"({value} + {_INTERVALS[unit]})")


def _datediff(call: CallSite) -> Parts | None:
    """From the first to the second, in whole units; in 2.3, months beyond whole years."""
    unit = _unit(call, 2)
    if call.count not in (2, 3) or unit is None:
        return None
    if unit in ("YEAR", "MONTH"):
        beyond = " % 12" if unit == "MONTH" and call.edits.compat is Compat.SEATUNNEL_2 else ""
        return call.fill(f"(timestampdiff({unit}, to_date({{0}}), to_date({{1}})){beyond})")
    if unit == "DAY":
        return call.fill("CAST(datediff({1}, {0}) AS BIGINT)")
    name = {"DAYTIME": "DAY", "WEEK": "WEEK", "HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND",
            "MILLISECOND": "MILLISECOND"}.get(unit)  # fmt: skip
    return None if name is None else call.fill(f"timestampdiff({name}, {{0}}, {{1}})")


def _week(call: CallSite) -> Parts | None:
    """In 3.x the ISO week."""
    if call.count != 1:
        return None
    return call.fill(WEEK_OF_YEAR if call.edits.compat is Compat.SEATUNNEL_2 else "weekofyear({0})")


def _date_trunc(call: CallSite) -> Parts | None:
    if call.text_constant(0) is not None and call.count == 2 and call.text_constant(1) is None:
        return None  # Spark's own order: the unit first
    unit = _unit(call, 1)
    return None if unit is None else call.fill(f"date_trunc('{unit}', {{0}})")


def _format(call: CallSite) -> Parts | None:
    if call.count != 2:
        return None
    if isinstance(call.type(0), Time):
        return call.fill(f"date_format({ON_A_DAY}, {{1}})")
    return call.fill("date_format({0}, {1})")


def _parse(call: CallSite) -> Parts | None:
    """A timestamp, a date or a time: by what the pattern holds."""
    pattern = call.text_constant(1) if call.count == 2 else None
    if pattern is None:
        return None
    if "yy" in pattern:
        return call.fill("to_timestamp({0}, {1})" if "mm" in pattern else "to_date({0}, {1})")
    return call.fill("to_time({0}, {1})") if "mm" in pattern else None


def _is_date(call: CallSite) -> Parts | None:
    """Whether PARSEDATETIME can read a text; NULL is read as NULL. A date has a year, month and day."""
    pattern = call.text_constant(1) if call.count == 2 else None
    if pattern is not None:
        is_whole = "M" in pattern and "d" in pattern if "yy" in pattern else "mm" in pattern
        if not is_whole:
            return call.fill("({0} IS NULL)")
    return call.fill("({0} IS NULL OR try_to_timestamp({0}, {1}) IS NOT NULL)") if call.count == 2 else None


def _from_unixtime(call: CallSite) -> Parts | None:
    if call.count == 3:
        return call.fill("date_format(from_utc_timestamp(timestamp_seconds({0}), {2}), {1})")
    return call.fill("from_unixtime(CAST({0} AS BIGINT), {1})") if call.count == 2 else None


def _unix_timestamp(call: CallSite) -> Parts | None:
    """With a pattern, a text that does not fit it is read with the default one."""
    if call.count == 2 and call.type(0) == STRING:
        return call.fill("unix_timestamp(coalesce(try_to_timestamp({0}, {1}), to_timestamp({0})))")
    return None


def extracted(field: str, type: object) -> str | None:
    """What `EXTRACT(field FROM {0})` is; None for a field that there is none of."""
    whole = {
        "YEAR": "year({0})",
        "MONTH": "month({0})",
        "DAY": "day({0})",
        "HOUR": "hour({0})",
        "MINUTE": "minute({0})",
        "SECOND": "CAST(second({0}) AS INT)",
        "QUARTER": "quarter({0})",
        "WEEK": "weekofyear({0})",
        "ISODOW": "(weekday({0}) + 1)",
        "ISOYEAR": "CAST(extract(YEAROFWEEK FROM {0}) AS INT)",
        "EPOCH": "unix_timestamp({0})",
        "DECADE": "CAST(year({0}) DIV 10 AS INT)",
        "CENTURY": "CAST(ceil(year({0}) / 100) AS INT)",
        "MILLENNIUM": "CAST(ceil(year({0}) / 1000) AS INT)",
    }
    whole |= dict.fromkeys(("DOW", "DAYOFWEEK"), "(dayofweek({0}) - 1)")
    whole |= dict.fromkeys(("DOY", "DAYOFYEAR"), "dayofyear({0})")
    fraction = "CAST(date_format({0}, '%s') AS INT)"
    if isinstance(type, Time):
        fraction = f"CAST(date_format({ON_A_DAY}, '%s') AS INT)"
    whole |= dict.fromkeys(("MILLISECOND", "MILLISECONDS"), fraction % "SSS")
    whole |= dict.fromkeys(("MICROSECOND", "MICROSECONDS"), fraction % "SSSSSS")
    if type == DATE:
        whole |= dict.fromkeys(_OF_TIME, "CAST(NULL AS INT)")
    elif isinstance(type, Time):
        whole |= dict.fromkeys(_DAYS, "CAST(NULL AS INT)")
    return whole.get(field.upper())


RULES: Final[Mapping[str, Rule]] = {
    "dateadd": _dateadd,
    "timestampadd": _dateadd,
    "datediff": _datediff,
    "date_trunc": _date_trunc,
    "dayname": "date_format({0}, 'EEEE')",
    "monthname": "date_format({0}, 'MMMM')",
    "day_of_month": "day({0})",
    "day_of_week": "(weekday({0}) + 1)",
    "day_of_year": "dayofyear({0})",
    "formatdatetime": _format,
    "parsedatetime": _parse,
    "to_date": _parse,
    "is_date": _is_date,
    "week": _week,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
}
