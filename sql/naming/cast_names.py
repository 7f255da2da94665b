"""Casts and the types that they name."""

from sqlglot import exp

from catalog.types.datatypes import Array as ArrayType
from catalog.types.datatypes import DataType as Type
from catalog.types.datatypes import Decimal, Field, Struct
from catalog.types.datatypes import Map as MapType
from sql.naming.dispatch import pretty
from sql.naming.literal_text import number_name, suffixed_number, typed_literal
from sql.types.expression_type import Scope
from sql.types.type_names import to_type


def pretty_cast(node: exp.Expr, scope: Scope) -> str:
    suffixed = suffixed_number(node, scope)
    if suffixed is not None:
        return number_name(suffixed)
    target = to_type(node.args["to"])
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) and node.this.is_string and target is not None:
        return typed_literal(target, node.this.this)
    if isinstance(target, (ArrayType, MapType, Struct)) or scope.printed.shape(node) == "uncast":
        return pretty(node.this, scope)  # Spark forgets that such a cast was written
    name = "TRY_CAST" if node.args.get("safe") else "CAST"
    written = type_name(target) if target is not None else node.args["to"].sql("spark")
    return f"{name}({pretty(node.this, scope)} AS {written})"


def type_name(type: Type) -> str:
    """A type as Spark prints it in capitals: `ARRAY<INT>`, `STRUCT<a: INT, b: STRING NOT NULL>`."""
    match type:
        case ArrayType(element):
            return f"ARRAY<{type_name(element)}>"
        case MapType(key, value):
            return f"MAP<{type_name(key)}, {type_name(value)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(_field_name(field) for field in fields)}>"
        case Decimal() | _:
            return str(type).upper()


def _field_name(field: Field) -> str:
    return f"{field.name}: {type_name(field.type)}" + ("" if field.nullable else " NOT NULL")
