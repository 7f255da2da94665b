"""Types in casts as sqlglot parses them, and types in schema strings as functions take them."""

import re
from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from catalog.types.collations import full_name
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
    VARIANT,
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
    with_collation,
)
from catalog.types.typetext import TypeTextError, check_spark_type, parse_type
from sql.types.json_schema import parse_json_schema

_D: Final = exp.DType
ATOMIC: Final[dict[object, DataType]] = {
    _D.BOOLEAN: BOOLEAN, _D.TINYINT: TINYINT, _D.SMALLINT: SMALLINT, _D.INT: INT, _D.BIGINT: BIGINT,
    _D.FLOAT: FLOAT, _D.DOUBLE: DOUBLE, _D.TEXT: STRING, _D.CHAR: STRING, _D.VARCHAR: STRING, _D.BINARY: BINARY,
    _D.DATE: DATE, _D.TIMESTAMP: TIMESTAMP, _D.TIMESTAMPTZ: TIMESTAMP, _D.TIMESTAMPLTZ: TIMESTAMP,
    _D.TIMESTAMPNTZ: TIMESTAMP_NTZ, _D.VARIANT: VARIANT, _D.NULL: VOID,
}  # fmt: skip


def to_type(node: exp.Expr) -> DataType | None:
    """The type that a node names; None if it is none that is known here."""
    if isinstance(node, exp.Interval):
        return _interval(node)
    if not isinstance(node, exp.DataType):
        return None
    if (collation := node.args.get("collate")) is not None:
        return collated_string(collation)
    if isinstance(node.this, exp.Interval):
        return _interval(node.this)
    kind = node.this
    if kind in ATOMIC:
        return ATOMIC[kind]
    if kind == _D.DECIMAL:
        return _decimal(node)
    if kind == _D.TIME:
        sizes = _sizes(node)
        return Time(sizes[0]) if sizes and sizes[0] <= 6 else (None if sizes else Time())
    if kind == _D.INTERVAL:
        return CALENDAR_INTERVAL
    inner = [to_type(expression) for expression in node.expressions] if kind in (_D.ARRAY, _D.MAP) else []
    if kind == _D.ARRAY and len(inner) == 1 and inner[0] is not None:
        return Array(inner[0])
    if kind == _D.MAP and len(inner) == 2 and inner[0] is not None and inner[1] is not None:
        return Map(inner[0], inner[1])
    if kind == _D.STRUCT:
        return _struct(node)
    return None


def collated_string(name: exp.Expr) -> Atomic | None:
    """The string type of the collation that a node names, in one part or in three; None: there is none."""
    parts = name.parts if isinstance(name, exp.Column) else [name]
    found = full_name(".".join(part.name for part in parts))
    return None if found is None else with_collation(found)


def parse_schema(text: str) -> DataType | None:
    """The type that a schema string names: a type, columns (`a int, b string`), which are a struct, or Spark's JSON."""
    if (described := parse_json_schema(text)) is not None:
        return described
    for attempt in (text, f"struct<{text}>"):
        try:
            return parse_type(attempt)
        except TypeTextError:
            continue
    return None


_FIELD: Final = re.compile(r"\s*\w+\s*:")
_NOT_READ: Final = ("geometry", "geography", "generated", "default")
"""Words of schemas that are not supported here, and not reported."""


def schema_error(text: str) -> str | None:
    """The error of a schema string, as a type and as columns; None if it is valid, or not known."""
    if any(word in text.lower() for word in _NOT_READ) or parse_json_schema(text) is not None:
        return None
    try:
        if _FIELD.match(text):
            raise TypeTextError("columns are written `name type`, without a colon")
        check_spark_type(f"struct<{text}>" if text.strip() else "")
    except TypeTextError as error:
        try:
            check_spark_type(text)
        except TypeTextError:
            return error.message
    return None


def _sizes(node: exp.DataType) -> list[int]:
    return [int(expression.name) for expression in node.expressions if expression.name.isdigit()]


def _decimal(node: exp.DataType) -> Decimal | None:
    sizes = _sizes(node)
    try:
        return Decimal(*sizes)
    except (ValueError, TypeError):
        return None


def _interval(node: exp.Interval) -> DataType | None:
    unit = node.args.get("unit")
    if unit is None:
        return CALENDAR_INTERVAL
    start = unit.this if isinstance(unit, exp.IntervalSpan) else unit
    end = unit.expression if isinstance(unit, exp.IntervalSpan) else unit
    try:
        return Interval(start.name.lower(), end.name.lower())
    except ValueError:
        return None


def _struct(node: exp.DataType) -> Struct | None:
    fields: list[Field] = []
    for expression in node.expressions:
        kinds = [constraint.args.get("kind") for constraint in expression.args.get("constraints") or ()]
        type = _field_type(expression, kinds)
        if type is None:
            return None
        fields.append(
            Field(expression.name, type, not any(isinstance(kind, exp.NotNullColumnConstraint) for kind in kinds))
        )
    return Struct(tuple(fields))


def _field_type(node: exp.Expr, constraints: Sequence[object]) -> DataType | None:
    if not isinstance(node, exp.ColumnDef) or not node.args.get("kind"):
        return None
    collations = [kind.this for kind in constraints if isinstance(kind, exp.CollateColumnConstraint)]
    return collated_string(collations[0]) if collations else to_type(node.args["kind"])
