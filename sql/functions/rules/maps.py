"""Result rules of functions over maps."""

from typing import Final

from catalog.types.datatypes import BOOLEAN, STRING, UNKNOWN, VARIANT, Array, DataType, Field, Map, Struct
from sql.functions.rules.argument_checks import are_comparable, array_of, becomes_null, common
from sql.functions.rules.call import Call, Rule
from sql.types.coercion import holds_map
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch


def map_(call: Call) -> DataType:
    if len(call.args) % 2:
        raise Mismatch("`map` takes alternating keys and values")
    keys, values = list(call.args[::2]), list(call.args[1::2])
    key = common(call, [arg.type for arg in keys], "keys of a map")
    value = common(call, [arg.type for arg in values], "values of a map")
    check_key(key, 0)
    return Map(key, value, becomes_null(values, value))


def map_from_arrays(call: Call) -> DataType:
    values = array_of(call, 1)
    check_key(array_of(call, 0).element, 0)
    return Map(array_of(call, 0).element, values.element, values.contains_null)


def map_from_entries(call: Call) -> Typed:
    entries = array_of(call, 0)
    if entries.element == UNKNOWN:
        return NOT_KNOWN
    if not isinstance(entries.element, Struct) or len(entries.element.fields) != 2:
        raise Mismatch(f"`map_from_entries` takes an array of pairs, this is {entries}", 0)
    key, value = entries.element.fields
    return Typed(Map(key.type, value.type, value.nullable), call.args[0].nullable or entries.contains_null)


def map_concat(call: Call) -> DataType:
    if not call.args:
        return Map(STRING, STRING)
    found = common(call, [arg.type for arg in call.args], "maps")
    return found


def map_contains_key(call: Call) -> DataType:
    held = call.type(0)
    if isinstance(held, Map) and not are_comparable(held.key, call.type(1)):
        raise Mismatch(f"the keys of the map are {held.key}, this is {call.type(1)}", 1)
    return BOOLEAN


def map_entries(call: Call) -> DataType:
    held = call.type(0)
    if not isinstance(held, Map):
        return UNKNOWN
    fields = (Field("key", held.key, False), Field("value", held.value, held.value_contains_null))
    return Array(Struct(fields), False)


def map_keys(call: Call) -> DataType:
    held = call.type(0)
    return Array(held.key) if isinstance(held, Map) else UNKNOWN


def map_values(call: Call) -> DataType:
    held = call.type(0)
    return Array(held.value) if isinstance(held, Map) else UNKNOWN


def check_key(key: DataType, index: int) -> None:
    if holds_map(key) or key == VARIANT:
        raise Mismatch(f"{key} can't be the key of a map", index)


RULES: Final[dict[str, Rule]] = {
    "map": map_,
    "map_from_arrays": map_from_arrays,
    "map_from_entries": map_from_entries,
    "map_concat": map_concat,
    "map_contains_key": map_contains_key,
    "map_entries": map_entries,
    "map_keys": map_keys,
    "map_values": map_values,
}
