"""The types of an index's mapping as those of columns, and back."""

from collections.abc import Mapping
from typing import Any, Final

from catalog.tables.table import Column
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
    VARIANT,
    Array,
    Atomic,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)

Properties = Mapping[str, Any]

_FIELDS: Final[Mapping[str, DataType]] = {
    "boolean": BOOLEAN,
    "byte": TINYINT,
    "short": SMALLINT,
    "integer": INT,
    "long": BIGINT,
    "unsigned_long": Decimal(20, 0),
    "half_float": FLOAT,
    "float": FLOAT,
    "double": DOUBLE,
    "scaled_float": DOUBLE,
    "date": TIMESTAMP,
    "date_nanos": TIMESTAMP,
    "binary": BINARY,
}
"""Fields of other types are texts: those of `keyword` and `text`, and objects as JSON."""

_COLUMNS: Final[Mapping[DataType, str]] = {
    BOOLEAN: "boolean",
    TINYINT: "byte",
    SMALLINT: "short",
    INT: "integer",
    BIGINT: "long",
    FLOAT: "float",
    DOUBLE: "double",
    DATE: "date",
    TIMESTAMP: "date",
    TIMESTAMP_NTZ: "date",
    BINARY: "binary",
}
_TEXT: Final = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
"""As a cluster itself maps a text that it sees first."""


def columns_of_mapping(properties: Properties) -> list[Column]:
    """The fields as columns, in the mapping's order."""
    return [Column(name, _type(field)) for name, field in properties.items() if field.get("type") != "alias"]


def mapping_of(columns: Mapping[str, DataType]) -> dict[str, Any]:
    """The mapping of a new index. A decimal is a `double` to searches; the document itself has all its digits."""
    return {"properties": {name: _field(type) for name, type in columns.items() if type != VARIANT}}


def _type(field: Properties) -> DataType:
    properties = field.get("properties")
    if isinstance(properties, Mapping):
        struct = Struct(tuple(Field(column.name, column.type) for column in columns_of_mapping(properties)))
        return Array(struct) if field.get("type") == "nested" else struct
    return _FIELDS.get(str(field.get("type")), STRING)


def _field(type: DataType) -> dict[str, Any]:
    match type:
        case Array(element):
            return _field(element)  # an index has no type for arrays: every field may hold several values
        case Struct(fields):
            return mapping_of({field.name: field.type for field in fields})
        case Map():
            return {"type": "object"}
        case Decimal():
            return {"type": "double"}
        case Atomic() if type in _COLUMNS:
            return {"type": _COLUMNS[type]}
    return dict(_TEXT)
