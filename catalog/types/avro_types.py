"""The types that Avro schemas name, as Spark reads them from files and by `from_avro`.

After `SchemaConverters.toSqlType` of Spark 4.1, and the parser of Avro 1.12; a test asks Spark for each kind.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MAX_PRECISION,
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
from catalog.types.typetext import TypeTextError, parse_type

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
"""The names that Avro allows."""

_PRIMITIVES: Final[Mapping[str, DataType]] = {
    "null": VOID, "boolean": BOOLEAN, "int": INT, "long": BIGINT, "float": FLOAT, "double": DOUBLE, "bytes": BINARY,
    "string": STRING,
}  # fmt: skip
_LOGICAL: Final[Mapping[tuple[str, str], DataType]] = {
    ("int", "date"): DATE,
    ("long", "timestamp-millis"): TIMESTAMP,
    ("long", "timestamp-micros"): TIMESTAMP,
    ("long", "local-timestamp-millis"): TIMESTAMP_NTZ,
    ("long", "local-timestamp-micros"): TIMESTAMP_NTZ,
}
_WIDER: Final = {frozenset(("int", "long")): BIGINT, frozenset(("float", "double")): DOUBLE}
_NAMED: Final = ("record", "error", "enum", "fixed")
_SPARK_TYPE: Final = "spark.sql.catalyst.type"


class AvroSchemaError(ValueError):
    """The text is no Avro schema, or a type of it has no counterpart in Spark."""


def type_of_avro(text: str, *, of_file: bool = False) -> DataType:
    """The type that a schema names. Raises `AvroSchemaError`.

    `of_file`: the schema is in the header of a file, where names need not be Avro's.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise AvroSchemaError(f"the Avro schema is not JSON: {error}") from error
    return _Reader(checks_names=not of_file).read(schema, "")[0]


@dataclass(slots=True)
class _Reader:
    """Reads one schema; `named` are the types that it has named so far, None while one is being read."""

    checks_names: bool
    named: dict[str, DataType | None] = field(default_factory=dict)

    def read(self, schema: Any, space: str) -> tuple[DataType, bool]:
        """The type in a namespace, and whether it may be null."""
        match schema:
            case "null":
                return VOID, True
            case str():
                return _PRIMITIVES[schema] if schema in _PRIMITIVES else self.known(schema, space), False
            case list():
                return self.union(schema, space)
            case {"type": "null"}:
                return VOID, True
            case {"type": "array", "items": items}:
                return Array(*self.read(items, space)), False
            case {"type": "map", "values": values}:
                return Map(STRING, *self.read(values, space)), False
            case {"type": "record" | "error", "fields": list(fields)}:
                return self.record(schema, fields, space), False
            case {"type": "enum", "symbols": list()}:
                return self.define(schema, STRING, space), False
            case {"type": "fixed", "size": int(size)} if not isinstance(size, bool):
                return self.define(schema, _decimal(schema, _digits(size)) or BINARY, space), False
            case {"type": str(kind)} if kind in _PRIMITIVES:
                return _primitive(kind, schema), False
        raise AvroSchemaError(f"the Avro schema has no type `{json.dumps(schema)[:80]}`")

    def known(self, name: str, space: str) -> DataType:
        """A type that was named before, in the namespace or by its full name."""
        full = next((known for known in (_full(name, space), name) if known in self.named), None)
        if full is None:
            raise AvroSchemaError(f"the Avro schema does not define its type `{name}`")
        type = self.named[full]
        if type is None:
            raise AvroSchemaError(f"the Avro type `{name}` contains itself, which Spark does not read")
        return type

    def define(self, schema: Mapping[str, Any], type: DataType | None, space: str) -> DataType:
        name = self.name_of(schema, "type")
        self.named[_full(name, str(schema.get("namespace") or space))] = type
        return VOID if type is None else type

    def name_of(self, schema: Any, what: str) -> str:
        name = schema.get("name") if isinstance(schema, dict) else None
        if not isinstance(name, str) or not name:
            raise AvroSchemaError(f"the Avro schema has a {what} without a name")
        if self.checks_names and not all(NAME.match(part) for part in name.split(".")):
            raise AvroSchemaError(f"`{name}` is no name in Avro: names are of letters, digits and `_`")
        return name

    def record(self, schema: Mapping[str, Any], fields: list[Any], space: str) -> Struct:
        self.define(schema, None, space)
        own = _full(str(schema["name"]), str(schema.get("namespace") or space)).rpartition(".")[0]
        read: dict[str, Field] = {}
        for entry in fields:
            name = self.name_of(entry, "field")
            if "type" not in entry:
                raise AvroSchemaError(f"the Avro field `{name}` has no type")
            if name in read:
                raise AvroSchemaError(f"the Avro schema has the field `{name}` twice in one record")
            read[name] = Field(name, *self.read(entry["type"], own))
        struct = Struct(tuple(read.values()))
        self.define(schema, struct, space)
        return struct

    def union(self, branches: list[Any], space: str) -> tuple[DataType, bool]:
        """One type next to null is that type; int with long, and float with double, the wider one; others are a struct
        of one field for each."""
        if any(isinstance(branch, list) for branch in branches):
            raise AvroSchemaError("the Avro schema has a union within a union")
        kinds = [str(branch.get("type")) if isinstance(branch, dict) else str(branch) for branch in branches]
        if again := next((kind for kind in kinds if kinds.count(kind) > 1 and kind not in _NAMED), None):
            raise AvroSchemaError(f"the Avro schema has `{again}` twice in one union")
        types = [self.read(branch, space)[0] for branch in branches]
        others = [type for type, kind in zip(types, kinds, strict=True) if kind != "null"]
        nullable = len(others) < len(types)
        if len(others) == 1:
            return others[0], nullable
        wider = _WIDER.get(frozenset(kind for kind in kinds if kind != "null"))
        if wider is not None:
            return wider, nullable
        return Struct(tuple(Field(f"member{index}", type) for index, type in enumerate(others))), nullable


def _primitive(kind: str, schema: Mapping[str, Any]) -> DataType:
    if kind == "bytes":
        return _decimal(schema) or BINARY
    logical = _LOGICAL.get((kind, str(schema.get("logicalType"))))
    written = schema.get(_SPARK_TYPE)
    if logical is not None or written is None or kind not in ("int", "long"):
        return logical or _PRIMITIVES[kind]
    try:
        return parse_type(str(written))
    except TypeTextError as error:
        raise AvroSchemaError(f"`{_SPARK_TYPE}` of the Avro schema is no type: {error}") from error


def _decimal(schema: Mapping[str, Any], digits: int | None = None) -> Decimal | None:
    """The logical type decimal; None where it is another one or its numbers are not valid, so that it is ignored."""
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if schema.get("logicalType") != "decimal" or not (isinstance(precision, int) and isinstance(scale, int)):
        return None
    if not 0 <= scale <= precision or precision < 1 or (digits is not None and precision > digits):
        return None
    if precision > MAX_PRECISION:
        raise AvroSchemaError(
            f"a decimal of the Avro schema has {precision} digits, and Spark's at most {MAX_PRECISION}"
        )
    return Decimal(precision, scale)


def _digits(size: int) -> int:
    """How many digits a decimal of this many bytes can have."""
    return len(str(2 ** (8 * size - 1) - 1)) - 1 if 0 < size <= 1024 else 0


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"
