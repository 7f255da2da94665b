"""Literals as Spark prints their values: numbers, binaries, intervals and points in time."""

import math
import re
import struct
from decimal import Decimal as Number

from sqlglot import exp

from catalog.types.datatypes import DataType as Type
from catalog.types.datatypes import Interval, Time
from sql.naming.dispatch import pretty
from sql.parsing.typed_literals import read_timestamp, shown_date
from sql.types import intervals
from sql.types.expression_type import Scope
from sql.types.literals import interval, interval_of, stands_alone, units_of
from sql.types.mismatch import Mismatch


def pretty_literal(node: exp.Literal, scope: Scope) -> str:
    if node.is_string:
        return next(iter(scope.printed.texts(node)), str(node.this))
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
    return text if "e" in body.lower() else str(int(body))


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
    if name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        moment = read_timestamp(text)
        shown = moment.shown(in_utc=name == "TIMESTAMP") if moment is not None else None
        return f"{name} '{text if shown is None else shown}'"
    shown = shown_date(text) if name == "DATE" else None
    return f"{name} '{text if shown is None else shown}'"


def _clock(text: str) -> str:
    found = re.fullmatch(r"(?i)(\d{1,2}):?(\d{1,2})?:?(\d{1,2})?(?:\.(\d+))?(?:\s*([AP]M))?", text.strip())
    if found is None:
        return text or "00:00:00"
    hour, minute, second = (int(group or 0) for group in found.groups()[:3])
    if half := found.group(5):
        hour = hour % 12 + (12 if half.upper() == "PM" else 0)
    fraction = (found.group(4) or "")[:6].rstrip("0")
    return f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{fraction}" if fraction else "")
