"""The columns of generators and table functions."""

from sqlglot import exp

from catalog.types.datatypes import BIGINT, BOOLEAN, INT, STRING, UNKNOWN, VARIANT, VOID, Array, DataType, Map, Struct
from sql.functions.rules.call import Call
from sql.naming.field_names import unbracketed
from sql.types.coercion import is_equal_but_names
from sql.types.expression_type import NamedTyped, Typed
from sql.types.mismatch import Mismatch


def generated(call: Call) -> tuple[NamedTyped, ...] | None:
    """The columns that a generator or table function gives; None if they are not known."""
    name = call.name.removesuffix("_outer")
    columns = _columns(name, call)
    if columns is not None and call.name.endswith("_outer"):
        return tuple(NamedTyped(column.name, Typed(column.typed.type)) for column in columns)
    return columns


def _columns(name: str, call: Call) -> tuple[NamedTyped, ...] | None:
    match name:
        case "explode":
            return _exploded(call)
        case "posexplode":
            inner = _exploded(call)
            return None if inner is None else (NamedTyped("pos", Typed(INT, False)), *inner)
        case "inline":
            return _inline(call)
        case "stack":
            return _stack(call)
        case "json_tuple":
            return tuple(NamedTyped(f"c{index}", Typed(call.type(0))) for index in range(len(call.args) - 1))
        case "range":
            for index, arg in enumerate(call.given[:4]):
                if arg.type == STRING and isinstance(arg.value, str) and not arg.value.strip().lstrip("+-").isdigit():
                    raise Mismatch(f"'{arg.value}' is no bigint", index, "PEN3013")
            if len(call.given) > 2 and call.given[2].value == 0:
                raise Mismatch("the step of `range` is not 0", 2)
            return (NamedTyped("id", Typed(BIGINT, False)),)
        case "variant_explode":
            pos, key = NamedTyped("pos", Typed(INT, False)), NamedTyped("key", Typed(STRING))
            return pos, key, NamedTyped("value", Typed(VARIANT, False))
        case "collations":
            names = ("CATALOG", "SCHEMA", "NAME", "LANGUAGE", "COUNTRY", "ACCENT_SENSITIVITY", "CASE_SENSITIVITY")
            nullable = ("LANGUAGE", "COUNTRY", "ICU_VERSION")
            columns = (*names, "PAD_ATTRIBUTE", "ICU_VERSION")
            return tuple(NamedTyped(column, Typed(STRING, column in nullable)) for column in columns)
        case "sql_keywords":
            return (NamedTyped("keyword", Typed(STRING, False)), NamedTyped("reserved", Typed(BOOLEAN, False)))
        case _:
            return None


def _exploded(call: Call) -> tuple[NamedTyped, ...] | None:
    match call.type(0):
        case Array(element, contains_null):
            return (NamedTyped("col", Typed(element, contains_null)),)
        case Map(key, value, value_contains_null):
            return NamedTyped("key", Typed(key, False)), NamedTyped("value", Typed(value, value_contains_null))
        case _:
            return None


def _inline(call: Call) -> tuple[NamedTyped, ...] | None:
    held = call.type(0)
    if not isinstance(held, Array) or held.element == UNKNOWN:
        return None
    if not isinstance(held.element, Struct):
        raise Mismatch(f"`{call.name}` takes an array of structs, this is {held}", 0)
    return tuple(
        NamedTyped(field.name, Typed(field.type, field.nullable or held.contains_null)) for field in held.element.fields
    )


def _stack(call: Call) -> tuple[NamedTyped, ...] | None:
    rows = call.given[0].value
    if not isinstance(rows, int) or rows < 1:
        return None
    width = -(-len(call.args[1:]) // rows)
    return tuple(NamedTyped(f"col{at}", Typed(_stacked(call, at, width))) for at in range(width))


def _stacked(call: Call, at: int, width: int) -> DataType:
    """The type of a column of `stack`: that of its first cell, which all others have; only the word NULL takes it."""
    types = [arg.type for arg in call.args[1 + at :: width]]
    if UNKNOWN in types:
        return UNKNOWN
    found = next((type for type in types if type != VOID), VOID)
    for type, node in zip(types, call.nodes[1 + at :: width], strict=True):
        is_null = isinstance(unbracketed(node), exp.Null)
        if not is_null and (type != found or not is_equal_but_names(type, found)):
            raise Mismatch(f"column {at + 1} of `stack` holds values of different types")
    return found
