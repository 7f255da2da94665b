"""Checks of arguments for result rules: arrays and maps, and the common type of all."""

from catalog.types.datatypes import UNKNOWN, VOID, Array, DataType, Map, has_unknown
from sql.functions.rules.call import Call
from sql.types.casts import forces_null
from sql.types.coercion import keeps_intervals, tightest_in_collection, widest_of, widest_unpromoted
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch


def array_of(call: Call, index: int) -> Array:
    """The argument as an array; of what is unknown where it is NULL."""
    type = call.type(index)
    return type if isinstance(type, Array) else Array(UNKNOWN)


def map_of(call: Call, index: int = 0) -> Map:
    held = call.type(index)
    return held if isinstance(held, Map) else Map(UNKNOWN, UNKNOWN)


def common(call: Call, types: list[DataType], what: str) -> DataType:
    """The type that holds all of them."""
    found = widest_of(types)
    if found is None:
        distinct = ", ".join(str(type) for type in dict.fromkeys(types))
        raise Mismatch(f"{what} must be of one type, these are {distinct}")
    return found


def becomes_null(args: list[Typed], target: DataType) -> bool:
    return any(arg.nullable or forces_null(arg.type, target) for arg in args)


def fitting(element: DataType, value: DataType) -> DataType:
    """The type of an array's elements and of a value next to them; strings are not promoted."""
    found = _common_in_collection(element, value)
    if found is None:
        raise Mismatch(f"the array holds {element}, the value beside it is {value}")
    return found


def refuse_key(held: Map, key: DataType) -> None:
    """Raise Mismatch where the second argument cannot be a key of the map."""
    if key != VOID and _common_in_collection(held.key, key) is None:
        raise Mismatch(f"the keys of the map are {held.key}, this is {key}", 1)


def _common_in_collection(element: DataType, value: DataType) -> DataType | None:
    if UNKNOWN in (element, value):
        return UNKNOWN
    found = tightest_in_collection(element, value)
    return UNKNOWN if found is None and (has_unknown(element) or has_unknown(value)) else found


def are_comparable(element: DataType, value: DataType) -> bool:
    """Whether a value can be looked for among elements or keys; true where either is not known."""
    if UNKNOWN in (element, value):
        return True
    return keeps_intervals(element, value) and widest_unpromoted(element, value) is not None
