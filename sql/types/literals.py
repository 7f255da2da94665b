"""Literals of Spark SQL: their types, and whether their text is one (`DATE '2020-13-45'` is none)."""

import re
import sys
from functools import lru_cache
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import (
    BIGINT,
    DATE,
    DAY_TIME_UNITS,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    YEAR_MONTH_UNITS,
    DataType,
    Decimal,
    Interval,
    Time,
)
from sql.parsing.typed_literals import is_date, is_time, read_timestamp
from sql.types import decimals, intervals
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch

BITS: Final[dict[str, tuple[DataType, int]]] = {
    "y": (TINYINT, 7), "s": (SMALLINT, 15), "": (INT, 31), "l": (BIGINT, 63),
}  # fmt: skip
_NUMBER: Final = re.compile(r"(?i)([0-9]+|[0-9]*\.[0-9]+|[0-9]+\.[0-9]*)(e[+-]?[0-9]+)?(bd|[lsydf])?")

INTERVAL_UNITS: Final = {
    "year": "year", "month": "month", "week": "day", "day": "day", "hour": "hour", "minute": "minute",
    "second": "second", "millisecond": "second", "microsecond": "second",
}  # fmt: skip
_AMOUNT: Final = re.compile(r"\s*[+-]?\s*([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*")
_UNIT_WORD: Final = re.compile(r"[A-Za-z]+")


@lru_cache(maxsize=1024)
def number(text: str, *, negative: bool = False) -> Typed:
    """A number as written, its suffix included; `negative` where a minus sign stands before it."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return NOT_KNOWN
    mantissa, exponent, suffix = found.group(1), found.group(2), (found.group(3) or "").lower()
    if suffix in ("d", "f") or (exponent and not suffix):
        type, greatest = (FLOAT, 3.4028234663852886e38) if suffix == "f" else (DOUBLE, sys.float_info.max)
        value = float(mantissa + (exponent or ""))
        if value > greatest:
            raise Mismatch(f"{text} does not fit into {type}")
        return Typed(type, False, True, value)
    if suffix == "bd" or "." in mantissa:
        return _decimal(mantissa + (exponent or ""), negative=negative)
    value = -int(mantissa) if negative else int(mantissa)
    return _whole(value, mantissa, suffix)


def _whole(value: int, text: str, suffix: str) -> Typed:
    for letter in (suffix,) if suffix else ("", "l"):
        type, bits = BITS[letter]
        if -(2**bits) <= value < 2**bits:
            return Typed(type, False, True, value)
    if suffix:
        raise Mismatch(f"{value} does not fit into {BITS[suffix][0]}")
    return _decimal(text, negative=value < 0)


def _decimal(text: str, *, negative: bool) -> Typed:
    type = decimals.of_literal(text)
    if type is None:
        raise Mismatch("a decimal literal has at most 38 digits")
    return Typed(type, False, True, f"-{text}" if negative else text)


def typed_literal(type: DataType, text: str) -> Typed:
    """`DATE '…'`, `TIMESTAMP '…'` and similar literals; `Mismatch` if the text is invalid."""
    if type == DATE:
        if not is_date(text):
            raise Mismatch(f"'{text}' is not a date")
    elif type in (TIMESTAMP, TIMESTAMP_NTZ):
        found = read_timestamp(text)
        if found is None or (type == TIMESTAMP_NTZ and found.clock is not None and not found.has_day):
            raise Mismatch(f"'{text}' is not a timestamp")
    elif isinstance(type, Time):
        if not is_time(text):
            raise Mismatch(f"'{text}' is not a time")
        return Typed(Time(6), False, True, text)
    return Typed(type, False, True, text)


def stands_alone(node: exp.Interval, text: str) -> bool:
    """Whether a literal without a unit is no interval in the query's text: sqlglot reads `INTERVAL 1 DAY + '…'` so."""
    start = (
        node.this.meta.get("start") if isinstance(node.this, exp.Literal) and node.args.get("unit") is None else None
    )
    return start is not None and not text[:start].rstrip().lower().endswith("interval")


def interval(node: exp.Interval) -> Typed:
    """`INTERVAL '1' DAY`, `INTERVAL '1-2' YEAR TO MONTH`, `INTERVAL '1 day 2 hours'`."""
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return _span(unit.this.name, unit.expression.name, node.this)
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    if unit is not None:
        name = _unit(unit.name)
        if isinstance(unit, exp.Var) and name is None:
            raise Mismatch(f"`{unit.name}` is not a unit of time")
        if isinstance(node.this, exp.Literal) and _AMOUNT.fullmatch(text) is None:
            raise Mismatch(f"'{text}' is not a number of {unit.name.lower()}")
        if "." in text and name != "second":
            raise Mismatch(f"{unit.name.lower()} takes a whole number, only seconds have fractions")
        return interval_of([name]) if name else NOT_KNOWN
    if isinstance(node.this, exp.Literal) and intervals.is_none(text):
        raise Mismatch(f"'{text}' is not an interval: write a number and its unit, as in INTERVAL '2' HOUR")
    units = [_unit(word) for word in _UNIT_WORD.findall(text)]
    if units[:1] == [None] and text.lower().split()[:1] == ["interval"]:
        units = units[1:]
    if not units:
        return NOT_KNOWN
    return NOT_KNOWN if None in units else interval_of([known for known in units if known])


def units_of(node: exp.Expr) -> list[str] | None:
    """The units of `INTERVAL 1 DAY 2 HOURS`, which sqlglot takes for a sum; None if it is something else."""
    if isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        name = _unit(unit.name) if isinstance(unit, exp.Var) else None
        return [name] if name else None
    if isinstance(node, exp.Add):
        right = units_of(node.expression)
        left = units_of(node.this) if right else None  # a long sum of anything else is not walked again for each term
        return left + right if left and right else None
    return None


def _unit(word: str) -> str | None:
    folded = word.lower()
    return INTERVAL_UNITS.get(folded) or INTERVAL_UNITS.get(folded.removesuffix("s"))


def interval_of(units: list[str]) -> Typed:
    for family in (YEAR_MONTH_UNITS, DAY_TIME_UNITS):
        if all(unit in family for unit in units):
            places = [family.index(unit) for unit in units]
            return Typed(Interval(family[min(places)], family[max(places)]), False, True)
    raise Mismatch("an interval of years or months can't hold days or hours")


def _span(start: str, end: str, value: exp.Expr) -> Typed:
    try:
        type = Interval(start.lower(), end.lower())
    except ValueError:
        raise Mismatch(f"there is no interval {start} to {end}") from None
    if isinstance(value, exp.Literal) and value.is_string and not intervals.is_span(value.name, type):
        raise Mismatch(f"'{value.name}' is not an interval {type.start} to {type.end}")
    return Typed(type, False, True)


def string(text: str) -> Typed:
    return Typed(STRING, False, True, text)


__all__ = [
    "Decimal",
    "interval",
    "interval_of",
    "number",
    "stands_alone",
    "string",
    "typed_literal",
    "units_of",
]
