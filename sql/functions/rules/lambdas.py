"""Result rules of functions that take lambda functions."""

from typing import Final

from catalog.types.datatypes import BOOLEAN, INT, UNKNOWN, VOID, Array, DataType, Map, has_unknown
from sql.functions.rules.argument_checks import array_of, map_of
from sql.functions.rules.call import Call, Rule
from sql.functions.rules.maps import check_key
from sql.types.coercion import is_equal_but_names, widest_unpromoted
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch


def transform(call: Call) -> DataType:
    held = array_of(call, 0)
    body = call.body(1, Typed(held.element, held.contains_null), Typed(INT, False))
    return Array(body.type, body.nullable)


def filter_(call: Call) -> DataType:
    held = array_of(call, 0)
    _condition(call, 1, Typed(held.element, held.contains_null), Typed(INT, False))
    return call.type(0)


def exists(call: Call) -> Typed:
    held = array_of(call, 0)
    body = _condition(call, 1, Typed(held.element, held.contains_null))
    return Typed(BOOLEAN, call.args[0].nullable or body.nullable)


def array_sort(call: Call) -> DataType:
    held = array_of(call, 0)
    item = Typed(held.element, held.contains_null)
    body = call.body(1, item, item)
    if body.type not in (INT, VOID, UNKNOWN):
        raise Mismatch(f"the function must give an int, this gives {body.type}", 1)
    return call.type(0)


def aggregate(call: Call) -> Typed:
    held = array_of(call, 0)
    sum_ = Typed(call.type(1))
    merged = call.body(2, sum_, Typed(held.element, held.contains_null))
    known = not (has_unknown(merged.type) or has_unknown(sum_.type))
    if known and str(merged.type) != str(sum_.type) and not is_equal_but_names(merged.type, sum_.type):
        raise Mismatch(f"the function gives {merged.type}, but the start value is {sum_.type}", 2)
    if len(call.args) < 4:
        return sum_
    last = call.body(3, sum_)
    return Typed(last.type, call.args[0].nullable or last.nullable)


def zip_with(call: Call) -> Typed:
    a, b = array_of(call, 0), array_of(call, 1)
    body = call.body(2, Typed(a.element), Typed(b.element))
    return Typed(Array(body.type, body.nullable), call.args[0].nullable or call.args[1].nullable)


def transform_keys(call: Call) -> DataType:
    held = map_of(call)
    body = call.body(1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    check_key(body.type, 1)
    return Map(body.type, held.value, held.value_contains_null)


def transform_values(call: Call) -> DataType:
    held = map_of(call)
    body = call.body(1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    return Map(held.key, body.type, body.nullable)


def map_filter(call: Call) -> DataType:
    held = map_of(call)
    _condition(call, 1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    return call.type(0)


def map_zip_with(call: Call) -> Typed:
    a, b = map_of(call), map_of(call, 1)
    key = widest_unpromoted(a.key, b.key)
    if key is None:
        raise Mismatch(f"the keys of both maps must be of one type, these are {a.key} and {b.key}")
    body = call.body(2, Typed(key, False), Typed(a.value), Typed(b.value))
    return Typed(Map(key, body.type, body.nullable), call.args[0].nullable or call.args[1].nullable)


def _condition(call: Call, index: int, *variables: Typed) -> Typed:
    body = call.body(index, *variables)
    if body.type not in (BOOLEAN, VOID, UNKNOWN):
        raise Mismatch(f"the function must give a boolean, this gives {body.type}", index)
    return body


RULES: Final[dict[str, Rule]] = {
    "filter": filter_,
    "transform": transform,
    "exists": exists,
    "array_sort": array_sort,
    "aggregate": aggregate,
    "zip_with": zip_with,
    "transform_keys": transform_keys,
    "transform_values": transform_values,
    "map_filter": map_filter,
    "map_zip_with": map_zip_with,
}
