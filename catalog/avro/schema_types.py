"""The types that Avro schemas name, as Spark's `from_avro` has them."""

import json
from collections.abc import Mapping
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
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)

_PRIMITIVES: Final[Mapping[str, DataType]] = {
    "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE, "string": STRING,
    "bytes": BINARY, "enum": STRING, "fixed": BINARY,
}  # fmt: skip
_LOGICAL: Final[Mapping[str, DataType]] = {
    "date": DATE, "timestamp-millis": TIMESTAMP, "timestamp-micros": TIMESTAMP,
    "local-timestamp-millis": TIMESTAMP_NTZ, "local-timestamp-micros": TIMESTAMP_NTZ, "uuid": STRING,
}  # fmt: skip


class AvroSchemaError(ValueError):
    """The text is no Avro schema of a record, or a type has no counterpart."""


def type_of_avro(text: str) -> DataType:
    """The type that a schema names; `unknown` within where only Spark knows it. Raises `AvroSchemaError`."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise AvroSchemaError(f"the Avro schema is not JSON: {error}") from error
    return _Reader().read(schema)[0]


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
