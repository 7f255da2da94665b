"""Interval literals as Spark prints them: `INTERVAL 90 MINUTES` is `INTERVAL '90' MINUTE`."""

import re
from decimal import Decimal as Number
from typing import Final

from catalog.types.datatypes import DAY_TIME_UNITS, Interval

MICROS: Final = {
    "week": 604_800_000_000, "day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
    "millisecond": 1_000, "microsecond": 1,
}  # fmt: skip
MONTHS: Final = {"year": 12, "month": 1}
_AMOUNT: Final = r"[+-]?\s*(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_PAIR: Final = re.compile(rf"({_AMOUNT})\s*([A-Za-z]+)")
_PAIR_APART: Final = re.compile(rf"{_AMOUNT}\s+[A-Za-z]+")
_YEAR_MONTH: Final = re.compile(r"\s*([+-])?(\d+)-(\d+)\s*", re.ASCII)
_DAY_TIME: Final = re.compile(r"\s*([+-])?(?:(\d+)\s+)?((?:\d+:)*\d+(?:\.\d*)?)\s*", re.ASCII)


def of_pairs(text: str) -> int | None:
    """Months or microseconds of `1 day 2 hours`; None if the text is none."""
    total = Number(0)
    for value, word in _PAIR.findall(text):
        unit = word.lower().removesuffix("s")
        size = MICROS.get(unit) or MONTHS.get(unit)
        if size is None:
            return None
        total += Number("".join(value.split())) * size
    return int(total)


def is_none(text: str) -> bool:
    """Whether a string is no interval such as `1 day 2 hours`, `interval` before it or not."""
    body = text.strip().lower().removeprefix("interval").strip()
    return _PAIR_APART.sub("", body).strip() != "" or not body or of_pairs(body) is None


def has_months(text: str) -> bool:
    return any(word.lower().removesuffix("s") in MONTHS for _, word in _PAIR.findall(text))


def micros_of(text: str | None) -> int | None:
    """Microseconds of a text without months and years; None if it is none."""
    return None if text is None or is_none(text) or has_months(text) else of_pairs(text)


def of_span(text: str, type: Interval) -> int | None:
    """Months or microseconds of `1-2` or `1 02:03:04.5`, read by the units of the interval."""
    if type.is_year_month:
        found = _YEAR_MONTH.fullmatch(text)
        if found is None:
            return None
        months = int(found.group(2)) * 12 + int(found.group(3))
        return -months if found.group(1) == "-" else months
    found = _DAY_TIME.fullmatch(text)
    if found is None:
        return None
    numbers = ([found.group(2)] if found.group(2) else []) + found.group(3).split(":")
    units = DAY_TIME_UNITS[DAY_TIME_UNITS.index(type.start) :]
    total = sum(int(Number(value) * MICROS[unit]) for value, unit in zip(numbers, units, strict=False))
    return -total if found.group(1) == "-" else total


_SPANS: Final = {
    ("year", "month"): r"\d+-(\d+)",
    ("day", "hour"): r"\d+ (\d{1,2})",
    ("day", "minute"): r"\d+ (\d{1,2}):(\d{1,2})",
    ("day", "second"): r"\d+ (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d{1,9})?",
    ("hour", "minute"): r"\d+:(\d{1,2})",
    ("hour", "second"): r"\d+:(\d{1,2}):(\d{1,2})(?:\.\d{1,9})?",
    ("minute", "second"): r"\d+:(\d{1,2})(?:\.\d{1,9})?",
}
_MOST: Final = {"month": 11, "hour": 23, "minute": 59, "second": 59}


def is_span(text: str, type: Interval) -> bool:
    """Whether a text is `1-2` for YEAR TO MONTH, `1 02:03` for DAY TO MINUTE, …, each part within its bounds."""
    pattern = _SPANS.get((type.start, type.end))
    found = re.fullmatch(rf"\s*[+-]?{pattern}\s*", text, re.ASCII) if pattern is not None else None
    if found is None:
        return pattern is None
    units = DAY_TIME_UNITS[DAY_TIME_UNITS.index(type.start) + 1 :] if type.start in DAY_TIME_UNITS else ("month",)
    return all(int(value) <= _MOST[unit] for unit, value in zip(units, found.groups(), strict=False))


def to_sql(amount: int, type: Interval) -> str:
    """`INTERVAL '1 02' DAY TO HOUR`."""
    sign = "-" if amount < 0 else ""
    body = _years(abs(amount), type) if type.is_year_month else _days(abs(amount), type)
    units = type.start.upper() if type.start == type.end else f"{type.start.upper()} TO {type.end.upper()}"
    return f"INTERVAL '{sign}{body}' {units}"


def _years(months: int, type: Interval) -> str:
    if type.start == type.end:
        return str(months // MONTHS[type.start])
    return f"{months // 12}-{months % 12}"


def _days(micros: int, type: Interval) -> str:
    first, last = DAY_TIME_UNITS.index(type.start), DAY_TIME_UNITS.index(type.end)
    text = ""
    for index in range(first, last + 1):
        unit = DAY_TIME_UNITS[index]
        amount, micros = divmod(micros, MICROS[unit])
        separator = "" if index == first else " " if index == 1 else ":"
        text += separator + (str(amount) if unit == "day" else f"{amount:02d}")
    if type.end == "second" and micros:
        text += f".{micros:06d}".rstrip("0")
    return text
