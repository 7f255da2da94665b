"""Result rules of functions over JSON, CSV and variants, whose type a schema may name."""

import json
from typing import Final

from sqlglot import exp

from catalog.datatypes import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    STRING,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Field,
    Map,
    Struct,
)
from sql.functions.rules.call import Call, Rule
from sql.grammar.call_names import call_name
from sql.types.casts import can_cast
from sql.types.operators import Mismatch
from sql.types.type_names import parse_schema, schema_error


def to_variant_object(call: Call) -> DataType:
    if not _fits_variant(call.type(0)):
        raise Mismatch(f"{call.type(0)} can't become a variant", 0)
    return VARIANT


def _fits_variant(type: DataType) -> bool:
    match type:
        case Array(element):
            return _fits_variant(element)
        case Map(key, value):
            return key in (STRING, UNKNOWN) and _fits_variant(value)
        case Struct(fields):
            return all(_fits_variant(field.type) for field in fields)
        case _:
            return type != VOID and can_cast(type, VARIANT)


def from_json(call: Call) -> DataType:
    found = _schema(call, 1)
    if found != UNKNOWN and not isinstance(found, (Struct, Array, Map)) and found != VARIANT:
        raise Mismatch(f"the schema of JSON is a struct, an array, a map or a variant, this is {found}", 1)
    return found


def variant_get(call: Call) -> DataType:
    if len(call.args) < 3:
        return VARIANT
    return _schema(call, 2)


def _schema(call: Call, index: int) -> DataType:
    """The type that a literal argument names; unknown where it is no literal."""
    text = call.text(index)
    if text is None:
        return _sampled(call.nodes[index])
    error = schema_error(text)
    if error is not None:
        raise Mismatch(f"'{text}' is not a schema: {error}", index)
    return parse_schema(text) or UNKNOWN


def _sampled(node: exp.Expr) -> DataType:
    """The type of `schema_of_json('…')` over a literal; unknown of anything else."""
    if not isinstance(node, exp.Anonymous) or call_name(node).lower() != "schema_of_json" or len(node.expressions) != 1:
        return UNKNOWN
    sample = node.expressions[0]
    if not isinstance(sample, exp.Literal) or not sample.is_string:
        return UNKNOWN
    try:
        return _type_of(json.loads(sample.name))
    except (ValueError, RecursionError):
        return UNKNOWN


def _type_of(value: object) -> DataType:
    match value:
        case bool():
            return BOOLEAN
        case int():
            return BIGINT if -(2**63) <= value < 2**63 else UNKNOWN
        case float():
            return DOUBLE
        case dict():
            return Struct(tuple(Field(str(name), _type_of(value[name])) for name in sorted(value)))
        case list():
            types = {_type_of(item) for item in value if item is not None}
            return Array(types.pop() if len(types) == 1 else UNKNOWN if types else STRING)
        case _:
            return STRING


RULES: Final[dict[str, Rule]] = {
    "from_json": from_json,
    "from_csv": from_json,
    "variant_get": variant_get,
    "to_variant_object": to_variant_object,
}
