"""The types of ClickHouse as those of columns and back, and the expressions by which a query yields them in Arrow."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
)

_WRAPPED: Final = re.compile(r"(Nullable|LowCardinality)\((.*)\)\Z", re.DOTALL)
_DECIMAL: Final = re.compile(r"Decimal\((\d+),\s*(\d+)\)\Z")
_ARRAY: Final = re.compile(r"Array\((.*)\)\Z", re.DOTALL)
_MAP: Final = re.compile(r"Map\((?:String|LowCardinality\(String\)),\s*(.*)\)\Z", re.DOTALL)
_MOST_DIGITS: Final = 38

_SIMPLE: Final[Mapping[str, tuple[DataType, str]]] = {
    "Bool": (BOOLEAN, "{}"),
    "Int8": (TINYINT, "{}"),
    "Int16": (SMALLINT, "{}"),
    "Int32": (INT, "{}"),
    "Int64": (BIGINT, "{}"),
    "UInt8": (SMALLINT, "toInt16({})"),
    "UInt16": (INT, "toInt32({})"),
    "UInt32": (BIGINT, "toInt64({})"),
    "UInt64": (Decimal(20, 0), "toDecimal128({}, 0)"),
    "Float32": (FLOAT, "{}"),
    "Float64": (DOUBLE, "{}"),
    "String": (STRING, "{}"),
    "Date": (DATE, "toDate32({})"),
    "Date32": (DATE, "{}"),
}
"""Of each type, that of the column, and the expression that has it in Arrow."""


@dataclass(frozen=True, slots=True)
class ReadType:
    """`type`: that of the column; `sql`: an expression, `{}` for the column, whose Arrow type can be cast to it."""

    type: DataType
    sql: str
    nullable: bool = False


def read_type(text: str) -> ReadType:
    """How a column of that type is read; types that Spark has not are read as texts."""
    nullable = False
    while found := _WRAPPED.match(text):
        nullable, text = nullable or found[1] == "Nullable", found[2]
    if text in _SIMPLE:
        type, sql = _SIMPLE[text]
        return ReadType(type, sql, nullable)
    if text == "DateTime" or text.startswith("DateTime("):
        return ReadType(TIMESTAMP, "toDateTime64({}, 0, 'UTC')", nullable)
    if text.startswith("DateTime64("):
        return ReadType(TIMESTAMP, "toDateTime64({}, 6, 'UTC')", nullable)
    if (found := _DECIMAL.match(text)) and int(found[1]) <= _MOST_DIGITS:
        return ReadType(Decimal(int(found[1]), int(found[2])), "{}", nullable)
    if found := _ARRAY.match(text):
        element = read_type(found[1])
        return ReadType(Array(element.type), f"arrayMap(x -> {element.sql.format('x')}, {{}})")
    if found := _MAP.match(text):
        value = read_type(found[1])
        return ReadType(Map(STRING, value.type), f"mapApply((k, v) -> (k, {value.sql.format('v')}), {{}})")
    if text.startswith(("Tuple(", "Nested(", "Map(", "JSON", "Variant(", "Dynamic")):
        return ReadType(STRING, "toJSONString({})", nullable)
    return ReadType(STRING, "toString({})", nullable)


_WRITTEN: Final[Mapping[DataType, str]] = {
    BOOLEAN: "Bool",
    TINYINT: "Int8",
    SMALLINT: "Int16",
    INT: "Int32",
    BIGINT: "Int64",
    FLOAT: "Float32",
    DOUBLE: "Float64",
    STRING: "String",
    BINARY: "String",
    DATE: "Date32",
    TIMESTAMP: "DateTime64(6, 'UTC')",
    TIMESTAMP_NTZ: "DateTime64(6, 'UTC')",
}


def written_type(type: DataType, *, nullable: bool) -> str | None:
    """The type of a new table's column; None where ClickHouse has none for it."""
    match type:
        case Decimal(precision, scale):
            text: str | None = f"Decimal({precision}, {scale})"
        case Array(element):
            inner = written_type(element, nullable=True)
            return None if inner is None else f"Array({inner})"
        case Map(key, value):
            of_key, of_value = written_type(key, nullable=False), written_type(value, nullable=True)
            return None if of_key is None or of_value is None else f"Map({of_key}, {of_value})"
        case Struct(fields):
            parts = [(field.name, written_type(field.type, nullable=True)) for field in fields]
            named = ", ".join(f"{identifier(name)} {part}" for name, part in parts)
            return None if any(part is None for _, part in parts) else f"Tuple({named})"
        case _:
            text = _WRITTEN.get(type)
    return None if text is None else f"Nullable({text})" if nullable else text


def identifier(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
