"""Result rules of functions that take an element out of an array or a map."""

from typing import Final

from catalog.types.datatypes import INT, UNKNOWN, VOID, Array, DataType, Map
from sql.functions.rules.argument_checks import refuse_key
from sql.functions.rules.call import Call, Rule
from sql.types.coercion import tightest
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch


def element(call: Call) -> DataType:
    held = call.type(0)
    return held.element if isinstance(held, Array) else UNKNOWN


def get(call: Call) -> Typed:
    held, key = call.args
    if not isinstance(held.type, Array):
        return NOT_KNOWN
    _check_position(key.type)
    known = held.elements is not None and not key.nullable
    first = 0 if call.name == "get" else 1
    return Typed(held.type.element, not (known and key.foldable) or element_may_be_null(held, key, first=first))


def element_at(call: Call) -> Typed:
    held, key = call.args
    if isinstance(held.type, Map):
        refuse_key(held.type, key.type)
        return Typed(held.type.value, True)
    if not isinstance(held.type, Array):
        return NOT_KNOWN
    _refuse_null_position(key.type)
    _check_position(key.type)
    return Typed(held.type.element, element_may_be_null(held, key, first=1, raises=True))


def try_element_at(call: Call) -> Typed:
    if not isinstance(call.type(0), Array):
        return element_at(call)
    _refuse_null_position(call.type(1))
    return get(call)


def _refuse_null_position(type: DataType) -> None:
    if type == VOID:
        raise Mismatch("the position is an int, this is void", 1)


def _check_position(type: DataType) -> None:
    if type not in (INT, VOID, UNKNOWN) and tightest(type, INT) != INT:
        raise Mismatch(f"the position is an int, this is {type}", 1)


def element_may_be_null(held: Typed, key: Typed, *, first: int, raises: bool = False) -> bool:
    """A constant position may lie outside of an array whose length is not known, else only where nothing `raises`."""
    assert isinstance(held.type, Array)
    if not key.foldable or key.nullable:
        return held.nullable or held.type.contains_null
    if held.elements is None:
        return True
    index = key.value - first if isinstance(key.value, int) else -1
    return held.elements[index] if 0 <= index < len(held.elements) else not raises


RULES: Final[dict[str, Rule]] = {
    "element": element,
    "get": get,
    "element_at": element_at,
    "try_element_at": try_element_at,
}
