"""Values of a job file as Spark SQL of a column's type: `"2024/01/02"` of a date column is `DATE '2024-01-02'`.

Values are converted as in Apache SeaTunnel's JSON format (`JsonToRowConverters`): bytes are base64 text, dates and
timestamps match one of its patterns, a struct is a block of its fields or a list of them in order.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from catalog.options import Value
from catalog.quoting import quote_text
from catalog.types.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import to_ddl

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DATE: Final = re.compile(r"(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?")
_CLOCK: Final = re.compile(r"(\d{1,2}):?(\d{2})(?::?(\d{2})(?:\.(\d{1,9}))?)?")
_ZONE: Final = re.compile(r"(Z|[+-]\d{2}:?\d{2})(\[[^\]]+\])?\Z")
_NOW: Final[Mapping[DataType, tuple[str, str]]] = {
    DATE: ("CURRENT_DATE", "current_date()"),
    TIMESTAMP: ("CURRENT_TIMESTAMP", "current_timestamp()"),
    TIMESTAMP_NTZ: ("CURRENT_TIMESTAMP", "localtimestamp()"),
}


class LiteralError(ValueError):
    """The value does not fit the type; the message is the end of a sentence that begins with the value."""


def literal(value: Value, type: DataType) -> str:
    """Spark SQL for the value, of exactly that type; raises `LiteralError`."""
    if value is None or type == VOID:
        if value is not None:
            raise LiteralError("is not NULL, as all values of the type `null` are")
        return f"cast(null as {to_ddl(type)})"
    match type:
        case Array(element):
            items = [literal(item, element) for item in _list(value, type)]
            return f"cast(array({', '.join(items)}) as {to_ddl(type)})"
        case Map(key, of):
            if not isinstance(value, Mapping):
                raise LiteralError(f"is not a block of keys and values, as {type} needs")
            pairs = [f"{literal(name, key)}, {literal(item, of)}" for name, item in value.items()]
            return f"cast(map({', '.join(pairs)}) as {to_ddl(type)})"
        case Struct():
            return f"cast({_struct(value, type)} as {to_ddl(type)})"
        case _:
            return _scalar(value, type)


def as_in_seatunnel(value: Value, type: DataType) -> Value:
    """The value as SeaTunnel's JSON format reads it: a text for a map is a map without entries."""
    return {} if isinstance(type, Map) and isinstance(value, str) else value


def _list(value: Value, type: DataType) -> Sequence[Value]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, Sequence):
        raise LiteralError(f"is not a list, as {type} needs")
    return value


def _struct(value: Value, type: Struct) -> str:
    if isinstance(value, Mapping):
        unknown = [name for name in value if type.field(name) is None]
        if unknown:
            raise LiteralError(f"has the field `{unknown[0]}`, which {type} does not have")
        by_name = {name.lower(): item for name, item in value.items()}
        values = [by_name.get(field.name.lower()) for field in type.fields]
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == len(type.fields):
        values = list(value)
    else:
        raise LiteralError(f"is not a block or list of the {len(type.fields)} fields of {type}")
    parts = (
        f"{quote_text(field.name)}, {literal(item, field.type)}"
        for field, item in zip(type.fields, values, strict=True)
    )
    return f"named_struct({', '.join(parts)})" if type.fields else "named_struct()"


def _scalar(value: Value, type: DataType) -> str:
    text = _text(value)
    ddl = to_ddl(type)
    if type == STRING:
        return quote_text(text)
    bare = text.strip()
    if type in _NOW and bare.upper() == _NOW[type][0]:
        return _NOW[type][1]
    if type == BOOLEAN:
        return "true" if bare.lower() in ("true", "1") else "false"
    if type in INTEGRAL_TYPES:
        return f"cast({_integer(bare, str(type))} as {ddl})"
    if type in (FLOAT, DOUBLE) or isinstance(type, Decimal):
        return f"cast('{_number(bare, ddl, type)}' as {ddl})"
    if type == BINARY:
        return f"unbase64('{_base64(bare)}')"
    if type == DATE:
        return f"cast('{_date(bare)}' as date)"
    if isinstance(type, Time):
        return (
            f"cast('{_clock(bare)}' as {ddl})" if bare.upper() != "CURRENT_TIME" else f"cast(current_time() as {ddl})"
        )
    if type in (TIMESTAMP, TIMESTAMP_NTZ):
        return f"cast('{_timestamp(bare)}' as {ddl})"
    if type == VARIANT:
        return f"parse_json({quote_text(text if isinstance(value, str) else json.dumps(value))})"
    return f"cast({quote_text(bare)} as {ddl})"


def _text(value: Value) -> str:
    """The value as text; lists and blocks as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping | Sequence):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)


def _integer(text: str, type: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise LiteralError(f"is not a {type}")
    number = int(text) if re.fullmatch(r"[+-]?\d+", text) else int(float(text))
    if not -(2 ** (_BITS[type] - 1)) <= number < 2 ** (_BITS[type] - 1):
        raise LiteralError(f"is out of the range of {type}")
    return number


def _number(text: str, ddl: str, type: DataType) -> str:
    if _NUMBER.fullmatch(text) or (type in (FLOAT, DOUBLE) and text.lower() in ("nan", "infinity", "-infinity")):
        return text
    raise LiteralError(f"is not a {ddl}")


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except ValueError as cause:
        raise LiteralError("is not base64, in which bytes are written") from cause
    return text


def _date(text: str) -> str:
    match = _DATE.fullmatch(text)
    if match is None:
        raise LiteralError("is not a date as `2024-01-31`")
    year, month, day = (int(part) for part in match.groups())
    try:
        return f"{datetime(year, month, day):%Y-%m-%d}".rjust(10, "0")
    except ValueError as cause:
        raise LiteralError("is not a day of the calendar") from cause


def _clock(text: str) -> str:
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise LiteralError("is not a time as `12:30:00`")
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        raise LiteralError("is not a time of a day")
    fraction = (match[4] or "")[:6]
    return f"{hour:02}:{minute:02}:{second:02}" + (f".{fraction}" if fraction else "")


def _timestamp(text: str) -> str:
    zone = _ZONE.search(text) if len(text) > 14 else None
    bare = text[: zone.start()] if zone else text
    day, _, clock = bare.replace("T", " ").partition(" ")
    if not clock and re.fullmatch(r"\d{12,14}", day):
        day, clock = day[:8], day[8:]
    try:
        found = _date(day) + (f" {_clock(clock.strip())}" if clock.strip() else " 00:00:00")
    except LiteralError as cause:
        raise LiteralError("is not a timestamp as `2024-01-31 12:30:00`") from cause
    return found + (zone[1] if zone else "")
