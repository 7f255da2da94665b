"""Elements of arrays and maps, fields of structs, paths into variants."""

from dataclasses import replace

from sqlglot import exp

from catalog.tables.evolution import can_store
from catalog.types.datatypes import INTEGRAL_TYPES, UNKNOWN, VARIANT, VOID, Array, DataType, Map, Struct, has_unknown
from sql.expressions.walk import infer
from sql.functions.rules.elements import element_may_be_null
from sql.parsing.token_rewrites import is_path
from sql.types import coercion
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch
from sql.types.struct_fields import field_of, refusal


def infer_bracket(node: exp.Bracket, scope: Scope) -> Typed:
    held = infer(node.this, scope)
    if len(node.expressions) == 1 and is_path(scope.text, node.expressions[0].meta.get("start")):
        if held.type not in (VARIANT, UNKNOWN):
            raise Mismatch(f"a path takes a variant, this is {held.type}", 0)
        return Typed(VARIANT)
    keys = [infer(expression, scope) for expression in node.expressions]
    if held.type == UNKNOWN or len(keys) != 1:
        return NOT_KNOWN
    key = keys[0]
    if isinstance(key.value, str) and _is_of_fields(held.type):
        scope.printed.note_shape(node, "field")
        found = field_of(held, key.value)
        if found is None:
            code, message = refusal(str(held.type), held.type, key.value)
            scope.report(code, node.expressions[0], message)
        return found or NOT_KNOWN
    match held.type:
        case Array(element):
            if key.type not in (VOID, UNKNOWN, *INTEGRAL_TYPES):
                raise Mismatch(f"the position in an array is an integer, this is {key.type}")
            return Typed(element, element_may_be_null(held, key, first=0, raises=True))
        case Map(key_type, value):
            is_known = not has_unknown(key.type) and not has_unknown(key_type)
            if isinstance(key_type, (Array, Struct)):  # then it is cast as into a column of a table
                is_same = str(key.type).lower() == str(key_type).lower()  # which leave out what may be null
                is_found = is_same or can_store(key.type, key_type, by_name=False)
            else:
                is_cast = coercion.keeps_intervals(key_type, key.type) and not (key_type == VOID != key.type)
                is_found = is_cast and coercion.widest(key_type, key.type) is not None
            if is_known and not is_found:
                raise Mismatch(f"the keys of the map are {key_type}, this is {key.type}")
            return Typed(value)
        case Struct():
            return NOT_KNOWN
        case _ if held.type == VARIANT:
            return Typed(VARIANT)
        case _:
            raise Mismatch(f"{held.type} has no elements")


def _is_of_fields(type: DataType) -> bool:
    return isinstance(type, Struct) or (isinstance(type, Array) and isinstance(type.element, Struct))


def infer_dot(node: exp.Dot, scope: Scope) -> Typed:
    held = infer(node.this, scope)
    part = node.expression
    if not isinstance(part, exp.Identifier):
        infer(part, scope)
        return NOT_KNOWN
    if isinstance(part, exp.Identifier) and held.type != UNKNOWN:
        found = field_of(held, part.name)
        if found is None:
            code, message = refusal(str(held.type), held.type, part.name)
            scope.report(code, part, message)
        elif isinstance(held.type, Map):
            scope.printed.note_shape(part, "key")
        elements = held.elements
        if found and elements is not None and isinstance(held.type, Array) and isinstance(held.type.element, Struct):
            field = held.type.element.field(part.name)
            nulls = tuple(element or field is None or field.nullable for element in elements)
            return replace(found, elements=nulls)
        return found or NOT_KNOWN
    return NOT_KNOWN
