"""The columns of an Avro file, from the schema in its header, in the types that Spark reads.

The rules are those of Spark 4.1 (`SchemaConverters.toSqlType`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Final, TypeAlias

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
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.table import Column

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_MAGIC: Final = b"Obj\x01"
_SCALARS: Final[Mapping[str, DataType]] = {
    "null": VOID, "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE,
    "bytes": BINARY, "fixed": BINARY, "string": STRING, "enum": STRING,
}  # fmt: skip
_LOGICAL: Final[Mapping[tuple[str, str], DataType]] = {
    ("int", "date"): DATE,
    ("long", "timestamp-millis"): TIMESTAMP,
    ("long", "timestamp-micros"): TIMESTAMP,
    ("long", "local-timestamp-millis"): TIMESTAMP_NTZ,
    ("long", "local-timestamp-micros"): TIMESTAMP_NTZ,
}
_WIDER: Final[Mapping[frozenset[str], DataType]] = {
    frozenset(("int", "long")): BIGINT,
    frozenset(("float", "double")): DOUBLE,
}


def avro_columns(file: str) -> list[Column]:
    """The columns of the file's records; raises `ValueError` for what is no Avro file or has no type in Spark."""
    with open(file, "rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("it is not an Avro file")
        schema = json.loads(_metadata(opened)["avro.schema"])
    type = _Types({}, frozenset()).of(schema)
    if not isinstance(type, Struct):
        raise ValueError(f"it holds values of type {type}, not records")
    return [Column(field.name, field.type) for field in type.fields]


def _metadata(opened: IO[bytes]) -> dict[str, bytes]:
    """The map of the header: blocks of pairs, the last one empty."""
    found: dict[str, bytes] = {}
    while count := _long(opened):
        if count < 0:  # a negative count is followed by the block's size
            _long(opened)
        for _ in range(abs(count)):
            name = opened.read(_long(opened)).decode()
            found[name] = opened.read(_long(opened))
    return found


def _long(opened: IO[bytes]) -> int:
    """A number of variable length, zigzag-coded."""
    value = shift = 0
    while True:
        byte = opened.read(1)
        if not byte:
            raise ValueError("its header is cut off")
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)


class _Types:
    """Reads schemas; `named` are the types defined so far, `open` those whose definition is being read."""

    def __init__(self, named: dict[str, Json], open: frozenset[str]) -> None:
        self.named = named
        self.open = open

    def of(self, schema: Json) -> DataType:
        match schema:
            case str() if schema in _SCALARS:
                return _SCALARS[schema]
            case str():
                if schema in self.open or schema not in self.named:
                    raise ValueError(f"its type `{schema}` contains itself, or is not defined")
                return self.of(self.named[schema])
            case list():
                return self.union(schema)
            case dict():
                return self.block(schema)
        raise ValueError(f"`{schema}` is no Avro type")

    def block(self, schema: dict[str, Json]) -> DataType:
        kind = schema.get("type")
        if name := schema.get("name"):
            self.named[str(name)] = schema
            if namespace := schema.get("namespace"):
                self.named[f"{namespace}.{name}"] = schema
        match kind:
            case "record" | "error":
                inner = _Types(self.named, self.open | {str(schema.get("name"))})
                fields = schema.get("fields")
                assert isinstance(fields, list)
                return Struct(
                    tuple(Field(str(f["name"]), inner.of(f["type"])) for f in fields if isinstance(f, dict))
                )  # fmt: skip
            case "array":
                return Array(self.of(schema["items"]))
            case "map":
                return Map(STRING, self.of(schema["values"]))
            case "bytes" | "fixed" if schema.get("logicalType") == "decimal":
                return Decimal(int(str(schema["precision"])), int(str(schema.get("scale", 0))))
            case str() if kind in _SCALARS:
                return _LOGICAL.get((kind, str(schema.get("logicalType"))), _SCALARS[kind])
            case None:
                raise ValueError("a type of its schema has no `type`")
        return self.of(kind)

    def union(self, types: Sequence[Json]) -> DataType:
        """A union with null is the other type; int with long, and float with double, the wider one; others a struct
        of one field for each."""
        others = [type for type in types if type != "null"]
        if not others:
            return VOID
        if len(others) == 1:
            return self.of(others[0])
        names = frozenset(type for type in others if isinstance(type, str))
        if len(names) == len(others) and names in _WIDER:
            return _WIDER[names]
        return Struct(tuple(Field(f"member{index}", self.of(type)) for index, type in enumerate(others)))
