"""Names of types, both ways: what Spark, Spark's DDL and Apache SeaTunnel call a type, and nested mappings as structs.

Reading is `typetext.py`'s; what is written here is read back as the same type (but for the nullability of elements,
which none of the texts can say, and of fields, which only DDL can).
"""

import re
from collections.abc import Mapping
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.types.datatypes import (
    BINARY,
    UNKNOWN,
    VOID,
    Array,
    Atomic,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    has_unknown,
)
from catalog.types.typetext import SizedType, TypeTextError, parse_sized_type, parse_type

__all__ = [
    "SizedType", "TypeTextError", "ddl_or_unknown", "parse_sized_type", "parse_type", "quote_name",
    "to_ddl", "to_seatunnel", "to_spark", "type_of_value",
]  # fmt: skip

SEATUNNEL_NAMES: Final[Mapping[DataType, str]] = {BINARY: "bytes", VOID: "null"}
"""Types with another name in SeaTunnel; those that it lacks (timestamp_ntz, intervals, variant) keep Spark's name."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def to_spark(type: DataType) -> str:
    """The type as Spark prints it: `decimal(10,2)`, `struct<a:int>`."""
    return str(type)


def to_ddl(type: DataType) -> str:
    """Text that Spark's DDL parser reads as this type; raises ValueError if some of it is unknown."""
    if has_unknown(type):
        raise ValueError(f"{type} cannot be written as DDL")
    return _ddl(type)


def ddl_or_unknown(type: DataType) -> str:
    """The type's DDL, or where some of it is known only when the job runs, Spark's text with `unknown` in it."""
    return str(type) if has_unknown(type) else _ddl(type)


def to_seatunnel(type: DataType) -> str:
    """The type as Apache SeaTunnel's schemas spell it; a struct as `{name: type}`."""
    match type:
        case Atomic() | Decimal() | Interval():
            return SEATUNNEL_NAMES.get(type, str(type))
        case Time():
            return "time" if type == Time() else str(type)
        case Array(element):
            return f"array<{to_seatunnel(element)}>"
        case Map(key, value):
            return f"map<{to_seatunnel(key)}, {to_seatunnel(value)}>"
        case Struct(fields):
            return "{" + ", ".join(f"{quote_name(field.name)}: {to_seatunnel(field.type)}" for field in fields) + "}"


def type_of_value(value: object) -> SizedType:
    """The type that a value of a `schema` block names: a text, or a nested mapping for a struct.

    Raises `TypeTextError`; its message starts with the path of the field if the error is nested.
    """
    match value:
        case str():
            return parse_sized_type(value)
        case Mapping():
            return SizedType(Struct(tuple(_field_of(str(name), written) for name, written in value.items())))
        case None:
            return SizedType(VOID)
    raise TypeTextError(f"expected a type or a block of fields, found {value!r}")


def quote_name(name: str) -> str:
    """A name, in backticks where it needs them."""
    return name if _PLAIN_NAME.match(name) else quote(name)


def _field_of(name: str, value: object) -> Field:
    try:
        return Field(name, type_of_value(value).type)
    except TypeTextError as error:
        raise TypeTextError(f"field `{name}`: {error.message}", error.offset, error.help) from error


def _ddl(type: DataType) -> str:
    match type:
        case Array(element):
            return f"array<{_ddl(element)}>"
        case Map(key, value):
            return f"map<{_ddl(key)},{_ddl(value)}>"
        case Struct(fields):
            return f"struct<{','.join(_ddl_field(field) for field in fields)}>"
        case _:
            assert type != UNKNOWN
            return str(type)


def _ddl_field(field: Field) -> str:
    comment = "" if field.comment is None else f" COMMENT {quote_text(field.comment)}"
    return f"{quote_name(field.name)}:{_ddl(field.type)}{'' if field.nullable else ' NOT NULL'}{comment}"
