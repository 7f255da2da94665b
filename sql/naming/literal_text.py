"""Literals as Spark prints their values: numbers, binaries, intervals and points in time."""

import math
import re
import struct
from datetime import datetime, timedelta, timezone
from decimal import Decimal as Number
from typing import Final

from sqlglot import exp

from catalog.datatypes import DataType as Type
from catalog.datatypes import Interval, Time
from sql.naming.dispatch import pretty
from sql.types import intervals
from sql.types.expression_type import Scope
from sql.types.literals import interval, interval_of, stands_alone, units_of, zone_of
from sql.types.operators import Mismatch


def pretty_literal(node: exp.Literal, scope: Scope) -> str:
    if node.is_string:
        return str(node.this)
    start, end = node.meta.get("start"), node.meta.get("end")
    return number_name(node.this if start is None or end is None else scope.text[start : end + 1])


def number_name(text: str) -> str:
    """A number literal as Java prints its value."""
    found = re.fullmatch(r"(?i)([0-9.]+(?:e[+-]?[0-9]+)?)(bd|[lsydf])?", text)
    if found is None:
        return text
    body, suffix = found.group(1), (found.group(2) or "").lower()
    if suffix == "f":
        return _java_double(_shortest_float(float(body)))
    if suffix == "d" or (not suffix and "e" in body.lower()):
        return _java_double(repr(float(body)))
    if suffix == "bd" or "." in body:
        number = Number(body)
        exponent = number.as_tuple().exponent
        return format(number, "f") if isinstance(exponent, int) and exponent > 0 else str(number)
    return str(int(body))


def _shortest_float(value: float) -> str:
    packed = struct.pack("f", value)
    return next(
        (text for size in range(1, 10) if struct.pack("f", float(text := f"{value:.{size}g}")) == packed), repr(value)
    )


def _java_double(text: str) -> str:
    value = float(text)
    if math.isinf(value):
        return "Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Number(text), "f")
        return plain if "." in plain else plain + ".0"
    digits = Number(text).normalize().as_tuple()
    first, rest = str(digits.digits[0]), "".join(map(str, digits.digits[1:])) or "0"
    assert isinstance(digits.exponent, int)
    return f"{'-' if digits.sign else ''}{first}.{rest}E{len(digits.digits) - 1 + digits.exponent}"


def suffixed_number(node: exp.Expr, scope: Scope) -> str | None:
    """The text of a number with a suffix, which sqlglot takes for a cast."""
    inner = node.this
    start, end = inner.meta.get("start"), inner.meta.get("end")
    if not isinstance(inner, exp.Literal):
        return None
    if start is None or end is None:
        is_decimal = inner.is_string and isinstance(node, exp.TryCast) and not node.args.get("safe")
        return f"{inner.this}BD" if is_decimal else None
    text = scope.text[start : end + 1]
    is_number = re.fullmatch(r"(?i)[0-9.]+(e[+-]?[0-9]+)?(bd|[lsydf])", text)
    return text if is_number else None


def pretty_binary_literal(node: exp.HexString, scope: Scope) -> str:
    digits = str(node.this).upper()
    return f"X'{'0' * (len(digits) % 2)}{digits}'"


def pretty_interval(node: exp.Interval, scope: Scope) -> str:
    if stands_alone(node, scope.text):
        return pretty(node.this, scope)
    try:
        type = interval(node).type
    except Mismatch:
        return node.sql("spark")
    unit = node.args.get("unit")
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    if isinstance(node.this, exp.Neg):
        text = "-" + node.this.this.name
    if not isinstance(type, Interval) or not text:
        return node.sql("spark")
    if isinstance(unit, exp.IntervalSpan):
        amount = intervals.of_span(text, type)
    else:
        amount = intervals.of_pairs(text if unit is None else f"{text} {unit.name}")
    return node.sql("spark") if amount is None else intervals.to_sql(amount, type)


def interval_sum(node: exp.Expr) -> str:
    parts = [
        f"{interval.this.name} {interval.args['unit'].name}" for interval in node.find_all(exp.Interval, bfs=False)
    ]
    units = units_of(node)
    amount = intervals.of_pairs(" ".join(parts))
    if amount is None or units is None:
        return node.sql("spark")
    try:
        type = interval_of(units).type
    except Mismatch:
        return node.sql("spark")
    return intervals.to_sql(amount, type) if isinstance(type, Interval) else node.sql("spark")


def typed_literal(type: Type, text: str) -> str:
    name = str(type).upper()
    if isinstance(type, Time):
        return f"TIME '{_clock(text)}'"
    found = re.fullmatch(r"\s*(\d{4})-?(\d{1,2})?-?(\d{1,2})?(?:[T ]+(.*))?\s*", text)
    if found is None or name not in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        return f"{name} '{text}'"
    if name == "TIMESTAMP_NTZ" and (zoned := _WITH_ZONE.fullmatch(text)):
        return typed_literal(type, zoned[1])
    if name == "TIMESTAMP" and (moved := _in_utc(text)) is not None:
        return f"TIMESTAMP '{moved}'"
    day = f"{found.group(1)}-{int(found.group(2) or 1):02d}-{int(found.group(3) or 1):02d}"
    return f"{name} '{day}'" if name == "DATE" else f"{name} '{day} {_clock(found.group(4) or '')}'"


_ZONED: Final = re.compile(
    r"\s*(\d{4}-\d{1,2}-\d{1,2})[T ](\d{1,2}:\d{1,2}(?::\d{1,2})?)(\.\d{1,6})?\s*(?:(Z|UTC)|([+-])(\d{1,2}):(\d{2}))\s*"
)


def _in_utc(text: str) -> str | None:
    """A timestamp with an offset as the session, which is in UTC, shows it; None if there is no offset."""
    found = _ZONED.fullmatch(text)
    if found is None:
        return _from_region(text)
    clock = found[2] if found[2].count(":") == 2 else f"{found[2]}:00"
    minutes = 0 if found[4] else int(found[6]) * 60 + int(found[7])
    try:
        moment = datetime.strptime(f"{found[1]} {clock}", "%Y-%m-%d %H:%M:%S")
        moment -= timedelta(minutes=-minutes if found[5] == "-" else minutes)
    except (ValueError, OverflowError):
        return None
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (found[3] or "").rstrip("0").rstrip(".")


_WITH_ZONE: Final = re.compile(r"(.*\d)\s*(?:Z|UTC|[A-Za-z]+/[A-Za-z_/]+|[+-]\d{1,2}:\d{2})\s*")
_IN_REGION: Final = re.compile(
    r"\s*(\d{4}-\d{1,2}-\d{1,2}[T ]\d{1,2}:\d{1,2}:\d{1,2})(\.\d{1,6})?\s*([A-Za-z]+/[A-Za-z_/]+)\s*"
)


def _from_region(text: str) -> str | None:
    found = _IN_REGION.fullmatch(text)
    zone = zone_of(found[3]) if found else None
    if found is None or zone is None:
        return None
    try:
        moment = datetime.strptime(found[1].replace("T", " "), "%Y-%m-%d %H:%M:%S").replace(tzinfo=zone)
        shown = f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError):
        return None
    return shown + (found[2] or "").rstrip("0").rstrip(".")


def _clock(text: str) -> str:
    found = re.fullmatch(r"(\d{1,2}):?(\d{1,2})?:?(\d{1,2})?(?:\.(\d+))?", text.strip())
    if found is None:
        return text or "00:00:00"
    hour, minute, second = (int(group or 0) for group in found.groups()[:3])
    fraction = (found.group(4) or "")[:6].rstrip("0")
    return f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{fraction}" if fraction else "")
