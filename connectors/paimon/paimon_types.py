"""Paimon's types, as its schema files spell them, and their equals in Spark."""

import re
from collections.abc import Iterator
from typing import Any, Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    parts,
)

_NOT_NULL: Final = " NOT NULL"
_NAMES: Final[dict[DataType, str]] = {
    BOOLEAN: "BOOLEAN",
    TINYINT: "TINYINT",
    SMALLINT: "SMALLINT",
    INT: "INT",
    BIGINT: "BIGINT",
    FLOAT: "FLOAT",
    DOUBLE: "DOUBLE",
    STRING: "STRING",
    BINARY: "BYTES",
    DATE: "DATE",
    TIMESTAMP: "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    TIMESTAMP_NTZ: "TIMESTAMP(6)",
}
_SPARK: Final[dict[str, DataType]] = {
    **{name: type for type, name in _NAMES.items() if type != TIMESTAMP},
    "TIMESTAMP": TIMESTAMP_NTZ,
    "INTEGER": INT,
    "CHAR": STRING,
    "VARCHAR": STRING,
    "BINARY": BINARY,
    "VARBINARY": BINARY,
    "BLOB": BINARY,
    "TIMESTAMP_LTZ": TIMESTAMP,
}
"""Types by their names without parameters."""
_TIMESTAMP: Final = re.compile(r"TIMESTAMP(?:_LTZ)?\((\d)\)")
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+)(?:,\s*(\d+))?\)")


def can_hold(type: DataType) -> bool:
    """Whether a column of that type, its parts included, can be written."""
    refused = (CALENDAR_INTERVAL, VOID, VARIANT)
    return not any(part in refused or isinstance(part, Interval | Time) for part in parts(type))


def to_paimon(type: DataType, ids: Iterator[int], *, nullable: bool = True) -> Any:
    """The type as a schema file has it; the fields of structs get the next ids."""
    suffix = "" if nullable else _NOT_NULL
    match type:
        case Decimal():
            return f"DECIMAL({type.precision}, {type.scale}){suffix}"
        case Array():
            return {"type": f"ARRAY{suffix}", "element": to_paimon(type.element, ids)}
        case Map():
            key = to_paimon(type.key, ids, nullable=False)
            return {"type": f"MAP{suffix}", "key": key, "value": to_paimon(type.value, ids)}
        case Struct():
            fields = [
                {"id": next(ids), "name": field.name, "type": to_paimon(field.type, ids)} for field in type.fields
            ]
            return {"type": f"ROW{suffix}", "fields": fields}
    return f"{_NAMES[type]}{suffix}"


def is_nullable(type: Any) -> bool:
    text = type["type"] if isinstance(type, dict) else type
    return not str(text).upper().endswith(_NOT_NULL)


def of_paimon(type: Any) -> DataType:
    """The type as Spark reads it; unknown where Spark has none or it cannot be read."""
    match type:
        case {"type": str(name), "element": element} if name.startswith(("ARRAY", "VECTOR")):
            return Array(of_paimon(element), is_nullable(element))
        case {"type": str(name), "element": element} if name.startswith("MULTISET"):
            return Map(of_paimon(element), INT, False)
        case {"type": str(name), "key": key, "value": value} if name.startswith("MAP"):
            return Map(of_paimon(key), of_paimon(value), is_nullable(value))
        case {"type": str(name), "fields": fields} if name.startswith("ROW"):
            return Struct(
                tuple(Field(field["name"], of_paimon(field["type"]), is_nullable(field["type"])) for field in fields)
            )
        case str():
            return _atomic(type.upper().removesuffix(_NOT_NULL).strip())
    return UNKNOWN


def seconds_digits(type: Any) -> int | None:
    """The digits of the seconds of a type of timestamps, where it names them."""
    found = _TIMESTAMP.match(type) if isinstance(type, str) else None
    return int(found[1]) if found else None


def _atomic(name: str) -> DataType:
    if name == "DECIMAL":
        return Decimal(10, 0)
    if found := _DECIMAL.fullmatch(name):
        return Decimal(int(found[1]), int(found[2] or 0))
    if name.startswith("TIMESTAMP") and name.endswith("WITH LOCAL TIME ZONE"):
        return TIMESTAMP
    return _SPARK.get(name.partition("(")[0], UNKNOWN)
