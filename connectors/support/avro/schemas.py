"""Avro schemas as columns, and columns as an Avro schema: types as Spark's `from_avro` and `to_avro` have them."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from catalog.datatypes import (
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
    UNKNOWN,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.table import Column

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
"""The names that Avro allows."""

_PRIMITIVES: Final[Mapping[str, DataType]] = {
    "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE, "string": STRING,
    "bytes": BINARY, "enum": STRING, "fixed": BINARY,
}  # fmt: skip
_LOGICAL: Final[Mapping[str, DataType]] = {
    "date": DATE, "timestamp-millis": TIMESTAMP, "timestamp-micros": TIMESTAMP,
    "local-timestamp-millis": TIMESTAMP_NTZ, "local-timestamp-micros": TIMESTAMP_NTZ, "uuid": STRING,
}  # fmt: skip
_WRITTEN: Final[Mapping[DataType, Any]] = {
    BOOLEAN: "boolean", TINYINT: "int", SMALLINT: "int", INT: "int", BIGINT: "long", FLOAT: "float",
    DOUBLE: "double", STRING: "string", BINARY: "bytes",
    DATE: {"type": "int", "logicalType": "date"},
    TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros"},
    TIMESTAMP_NTZ: {"type": "long", "logicalType": "local-timestamp-micros"},
}  # fmt: skip


class AvroSchemaError(ValueError):
    """The text is no Avro schema of a record, or a type has no counterpart."""


def columns_of_avro(text: str) -> tuple[Column, ...]:
    """The columns of a record's schema; a type that only Spark knows is `unknown`. Raises `AvroSchemaError`."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise AvroSchemaError(f"the Avro schema is not JSON: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise AvroSchemaError("the Avro schema is not that of a record")
    reader = _Reader()
    struct, _ = reader.read(schema)
    assert isinstance(struct, Struct)
    return tuple(Column(field.name, field.type, nullable=field.nullable) for field in struct.fields)


def avro_of_columns(columns: Iterable[Column], name: str) -> str:
    """The schema of records with these columns, whose every part may be null: so it depends on nothing but names and
    types, and the schemas of two runs agree. Raises `AvroSchemaError`."""
    fields = Struct(tuple(Field(column.name, column.type, column.nullable) for column in columns))
    return json.dumps(_written(fields, name))


@dataclass(slots=True)
class _Reader:
    """Reads one schema; `named` are the types that it has named so far."""

    named: dict[str, DataType] = field(default_factory=dict)

    def read(self, schema: Any) -> tuple[DataType, bool]:
        """The type, and whether it may be null."""
        match schema:
            case str():
                return _PRIMITIVES.get(schema, self.named.get(schema.rpartition(".")[2], UNKNOWN)), False
            case list():
                return self.union(schema)
            case {"logicalType": "decimal", "precision": int(precision)}:
                return Decimal(precision, int(schema.get("scale", 0))), False
            case {"logicalType": str(logical)} if logical in _LOGICAL:
                return _LOGICAL[logical], False
            case {"logicalType": _}:
                return UNKNOWN, False
            case {"type": "record", "fields": list(fields)}:
                return self.record(str(schema.get("name", "")), fields), False
            case {"type": "array", "items": items}:
                return Array(*self.read(items)), False
            case {"type": "map", "values": values}:
                return Map(STRING, *self.read(values)), False
            case {"type": str(kind)}:
                type = _PRIMITIVES.get(kind, UNKNOWN)
                self.named[str(schema.get("name", ""))] = type
                return type, False
            case {"type": nested}:
                return self.read(nested)
        raise AvroSchemaError(f"the Avro schema has no type `{json.dumps(schema)[:80]}`")

    def record(self, name: str, fields: list[Any]) -> Struct:
        self.named[name] = UNKNOWN  # a record that contains itself
        read = []
        for entry in fields:
            if not isinstance(entry, dict) or "name" not in entry or "type" not in entry:
                raise AvroSchemaError(f"the Avro record `{name}` has a field without name or type")
            type, nullable = self.read(entry["type"])
            read.append(Field(str(entry["name"]), type, nullable))
        self.named[name] = Struct(tuple(read))
        return Struct(tuple(read))

    def union(self, branches: list[Any]) -> tuple[DataType, bool]:
        others = [branch for branch in branches if branch != "null"]
        nullable = len(others) < len(branches)
        if len(others) == 1:
            return self.read(others[0])[0], nullable
        if sorted(map(str, others)) == ["int", "long"]:
            return BIGINT, nullable
        if sorted(map(str, others)) == ["double", "float"]:
            return DOUBLE, nullable
        return UNKNOWN, nullable


def _written(type: DataType, name: str) -> Any:
    match type:
        case Decimal(precision, scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case Array(element):
            return {"type": "array", "items": ["null", _written(element, f"{name}_item")]}
        case Map(key, value) if key == STRING:
            return {"type": "map", "values": ["null", _written(value, f"{name}_value")]}
        case Struct(fields):
            if odd := next((field.name for field in fields if not NAME.match(field.name)), None):
                raise AvroSchemaError(f"Avro has no field `{odd}`: names are of letters, digits and `_`")
            listed = [_field(field, name) for field in fields]
            return {"type": "record", "name": name, "fields": listed}
    if type in _WRITTEN:
        return _WRITTEN[type]
    raise AvroSchemaError(f"Avro has no type for {type}")


def _field(column: Field, record: str) -> dict[str, Any]:
    type = ["null", _written(column.type, f"{record}_{column.name}")]
    return {"name": column.name, "type": type, "default": None}
