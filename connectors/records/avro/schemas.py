"""Avro schemas as columns, and columns as an Avro schema: types as Spark's `from_avro` and `to_avro` have them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from catalog.tables.table import Column
from catalog.types.avro_types import NAME, AvroSchemaError, type_of_avro
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
    Field,
    Map,
    Struct,
)

_WRITTEN: Final[Mapping[DataType, Any]] = {
    BOOLEAN: "boolean", TINYINT: "int", SMALLINT: "int", INT: "int", BIGINT: "long", FLOAT: "float",
    DOUBLE: "double", STRING: "string", BINARY: "bytes",
    DATE: {"type": "int", "logicalType": "date"},
    TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros"},
    TIMESTAMP_NTZ: {"type": "long", "logicalType": "local-timestamp-micros"},
}  # fmt: skip


def columns_of_avro(text: str) -> tuple[Column, ...]:
    """The columns of a record's schema. Raises `AvroSchemaError`."""
    type = type_of_avro(text)
    if not isinstance(type, Struct):
        raise AvroSchemaError("the Avro schema is not that of a record")
    return tuple(Column(field.name, field.type, nullable=field.nullable) for field in type.fields)


def avro_of_columns(columns: Iterable[Column], name: str) -> str:
    """The schema of records with these columns, whose every part may be null: so it depends on nothing but names and
    types, and the schemas of two runs agree. Raises `AvroSchemaError`."""
    fields = Struct(tuple(Field(column.name, column.type, column.nullable) for column in columns))
    return json.dumps(_written(fields, name))


def required_avro_of_columns(columns: Iterable[Column]) -> str:
    """The schema of Apache SeaTunnel's records without a registry, in which no part may be null. Raises
    `AvroSchemaError`. Source: SeaTunnelRowTypeToAvroSchemaConverter."""
    fields = Struct(tuple(Field(column.name, column.type) for column in columns))
    return json.dumps(_required(fields, "SeaTunnelRecord"))


def _required(type: DataType, name: str) -> Any:
    match type:
        case Array(element):
            return {"type": "array", "items": _required(element, name)}
        case Map(key, value) if key == STRING:
            return {"type": "map", "values": _required(value, name)}
        case Struct(fields):
            _refuse_names(fields)
            listed = [{"name": field.name, "type": _required(field.type, field.name)} for field in fields]
            return {"type": "record", "name": name, "fields": listed}
    if type in (TIMESTAMP, TIMESTAMP_NTZ):
        return {"type": "long", "logicalType": "local-timestamp-millis"}
    return _written(type, name)


def _refuse_names(fields: Iterable[Field]) -> None:
    if odd := next((field.name for field in fields if not NAME.match(field.name)), None):
        raise AvroSchemaError(f"Avro has no field `{odd}`: names are of letters, digits and `_`")


def _written(type: DataType, name: str) -> Any:
    match type:
        case Decimal(precision, scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case Array(element):
            return {"type": "array", "items": ["null", _written(element, f"{name}_item")]}
        case Map(key, value) if key == STRING:
            return {"type": "map", "values": ["null", _written(value, f"{name}_value")]}
        case Struct(fields):
            _refuse_names(fields)
            listed = [_field(field, name) for field in fields]
            return {"type": "record", "name": name, "fields": listed}
    if type in _WRITTEN:
        return _WRITTEN[type]
    raise AvroSchemaError(f"Avro has no type for {type}")


def _field(column: Field, record: str) -> dict[str, Any]:
    type = ["null", _written(column.type, f"{record}_{column.name}")]
    return {"name": column.name, "type": type, "default": None}
