"""Result rules of functions over arrays."""

from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VOID,
    Array,
    DataType,
    Field,
    Interval,
    Struct,
    as_nullable,
)
from sql.functions.rules.argument_checks import are_comparable, array_of, becomes_null, common, fitting
from sql.functions.rules.call import Call, Rule
from sql.naming.field_names import own_name
from sql.types.coercion import tightest, widest_of
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import concatenated, is_orderable


def array(call: Call) -> DataType:
    element = common(call, [arg.type for arg in call.args], "elements of an array")
    return Array(element, becomes_null(list(call.args), element))


def array_append(call: Call) -> DataType:
    held, value = array_of(call, 0), call.args[-1]
    return Array(as_nullable(fitting(held.element, value.type)), True)


def array_insert(call: Call) -> DataType:
    return array_append(call)


def array_contains(call: Call) -> Typed:
    held = array_of(call, 0)
    if not are_comparable(held.element, call.type(1)):
        raise Mismatch(f"the array holds {held.element}, this is {call.type(1)}", 1)
    _check_searched(call)
    return Typed(BOOLEAN, call.any_nullable or held.contains_null)


def array_position(call: Call) -> DataType:
    found = fitting(array_of(call, 0).element, call.type(1))
    _check_searched(call)
    if found == VOID:
        raise Mismatch("the value to look for is NULL", 1)
    return BIGINT


def array_remove(call: Call) -> DataType:
    held = array_of(call, 0)
    found = fitting(held.element, call.type(1))
    _check_searched(call)
    return Array(found, held.contains_null)


def _check_searched(call: Call) -> None:
    """Refuse a value that is not comparable in an array of NULLs."""
    if not is_orderable(call.type(1)):
        raise Mismatch(f"`{call.name}` does not take {call.type(1)} here", 1)


def array_union(call: Call) -> DataType:
    element, a, b = _two(call)
    return Array(element, a.contains_null or b.contains_null)


def array_except(call: Call) -> DataType:
    element, a, _ = _two(call)
    return Array(element, a.contains_null)


def array_intersect(call: Call) -> DataType:
    element, a, b = _two(call)
    return Array(element, a.contains_null and b.contains_null)


def arrays_overlap(call: Call) -> Typed:
    _, a, b = _two(call)
    return Typed(BOOLEAN, call.any_nullable or a.contains_null or b.contains_null)


def _two(call: Call) -> tuple[DataType, Array, Array]:
    a, b = array_of(call, 0), array_of(call, 1)
    return fitting(a.element, b.element), a, b


def array_compact(call: Call) -> DataType:
    return Array(array_of(call, 0).element, False)


def array_repeat(call: Call) -> DataType:
    return Array(call.type(0), call.args[0].nullable)


def arrays_zip(call: Call) -> DataType:
    fields: list[Field] = []
    for index, node in enumerate(call.nodes):
        fields.append(Field(own_name(node, call.scope) or str(index), array_of(call, index).element))
    return Array(Struct(tuple(fields)), False)


def flatten(call: Call) -> Typed:
    outer = array_of(call, 0)
    if outer.element == UNKNOWN:
        return NOT_KNOWN
    if not isinstance(outer.element, Array):
        raise Mismatch(f"`flatten` takes an array of arrays, this is {outer}", 0)
    return Typed(outer.element, call.args[0].nullable or outer.contains_null)


def sequence(call: Call) -> Typed:
    """All arguments but intervals are cast to one type, also a step (`Sequence.castChildrenTo` of Spark)."""
    cast = [arg for arg in call.args if not _is_interval(arg.type)]
    found = widest_of(arg.type for arg in cast)
    step = call.type(2) if len(call.args) > 2 else None
    is_point, starts_and_stops = found in _POINTS, not (_is_interval(call.type(0)) or _is_interval(call.type(1)))
    if not starts_and_stops or found is None or not (is_point or found in INTEGRAL_TYPES):
        raise _unfit_sequence(call)
    if step is not None and _is_interval(step) is not is_point:
        raise _unfit_step(found, step)
    return Typed(Array(found, False), call.any_nullable or becomes_null(cast, found))


_POINTS: Final = (DATE, TIMESTAMP, TIMESTAMP_NTZ)


def _is_interval(type: DataType) -> bool:
    return isinstance(type, Interval) or type == CALENDAR_INTERVAL


def _unfit_step(point: DataType, step: DataType) -> Mismatch:
    if point in _POINTS:
        return Mismatch(f"`sequence` of {point} takes an interval as its step, this is {step}", 2)
    return Mismatch(f"`sequence` does not take {step} here", 2)


def _unfit_sequence(call: Call) -> Mismatch:
    types = [arg.type for arg in call.args]
    for at, type in enumerate(types):
        if type not in (*INTEGRAL_TYPES, *_POINTS, STRING, VOID) and (at < 2 or not _is_interval(type)):
            return Mismatch(f"`sequence` does not take {type} here", at)
    if not {*types[:2]} - {STRING, VOID}:
        return Mismatch(f"`sequence` takes integers, dates or timestamps, this is {types[0]}", 0)
    point = tightest(types[0], types[1])
    if point in _POINTS and len(types) > 2:
        return _unfit_step(point, types[2])
    return Mismatch(f"`sequence` does not take {types[0]} and {types[1]} together")


def reverse(call: Call) -> Typed:
    target = call.type(0) if isinstance(call.type(0), Array) else STRING
    return Typed(target, becomes_null(list(call.args), target))


def concat(call: Call) -> Typed:
    return concatenated(list(call.args)) if call.args else Typed(STRING, False)


RULES: Final[dict[str, Rule]] = {
    "array": array,
    "array_append": array_append,
    "array_insert": array_insert,
    "array_contains": array_contains,
    "array_position": array_position,
    "array_remove": array_remove,
    "array_union": array_union,
    "array_except": array_except,
    "array_intersect": array_intersect,
    "arrays_overlap": arrays_overlap,
    "array_compact": array_compact,
    "array_repeat": array_repeat,
    "arrays_zip": arrays_zip,
    "flatten": flatten,
    "sequence": sequence,
    "reverse": reverse,
    "concat": concat,
}
