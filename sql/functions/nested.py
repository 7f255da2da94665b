"""Result rules of functions over arrays, maps and structs."""

from sqlglot import exp

from catalog.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Field,
    Interval,
    Map,
    Struct,
    has_unknown,
)
from sql.casts import can_cast, forces_null
from sql.coercion import as_nullable, holds_map, tightest, widest, widest_of
from sql.functions.call import Call
from sql.operators import Mismatch, concatenated, is_orderable
from sql.own_names import own_name, unbracketed
from sql.typed import NOT_KNOWN, Typed

ELEMENTS = "spark_elements"
"""The key in a node's meta that says which elements of `array(…)` may be null."""


def array_of(call: Call, index: int) -> Array:
    """The argument as an array; of what is unknown where it is NULL."""
    type = call.type(index)
    return type if isinstance(type, Array) else Array(UNKNOWN)


def common(call: Call, types: list[DataType], what: str) -> DataType:
    """The type that holds all of them."""
    found = widest_of(types)
    if found is None:
        distinct = ", ".join(str(each) for each in dict.fromkeys(types))
        raise Mismatch(f"{what} must be of one type, these are {distinct}")
    return found


def becomes_null(args: list[Typed], target: DataType) -> bool:
    return any(arg.nullable or forces_null(arg.type, target) for arg in args)


def array(call: Call) -> DataType:
    element = common(call, [arg.type for arg in call.args], "elements of an array")
    return Array(element, becomes_null(list(call.args), element))


def array_append(call: Call) -> DataType:
    held, value = array_of(call, 0), call.args[-1]
    return Array(as_nullable(_fitting(held.element, value.type, len(call.args) - 1)), True)


def array_insert(call: Call) -> DataType:
    return array_append(call)


def _fitting(element: DataType, value: DataType, index: int) -> DataType:
    """The type of an array's elements and of a value beside them; strings are not promoted."""
    if UNKNOWN in (element, value):
        return UNKNOWN
    found = FLOAT if FLOAT in (element, value) and _is_integral(element, value) else tightest(element, value)
    if found is None:
        if has_unknown(element) or has_unknown(value):
            return UNKNOWN
        raise Mismatch(f"the array holds {element}, this is {value}", index)
    return found


def _is_integral(a: DataType, b: DataType) -> bool:
    """Whether one of the two is an integral type, which becomes a float beside one (only here, not elsewhere)."""
    return a in INTEGRAL_TYPES or b in INTEGRAL_TYPES


def array_contains(call: Call) -> Typed:
    held = array_of(call, 0)
    element, value = held.element, call.type(1)
    if UNKNOWN not in (element, value):
        found = _without_strings(element, value)
        if found is None:
            raise Mismatch(f"the array holds {element}, this is {value}", 1)
    return Typed(BOOLEAN, call.any_nullable or held.contains_null)


def _without_strings(a: DataType, b: DataType) -> DataType | None:
    return widest(a, b) if (a == STRING) == (b == STRING) else tightest(a, b)


def array_position(call: Call) -> DataType:
    found = _fitting(array_of(call, 0).element, call.type(1), 1)
    if found == VOID:
        raise Mismatch("the value that is looked for is NULL", 1)
    return BIGINT


def array_remove(call: Call) -> DataType:
    held = array_of(call, 0)
    return Array(_fitting(held.element, call.type(1), 1), held.contains_null)


def _two(call: Call) -> tuple[DataType, Array, Array]:
    a, b = array_of(call, 0), array_of(call, 1)
    return _fitting(a.element, b.element, 1), a, b


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


def array_compact(call: Call) -> DataType:
    return Array(array_of(call, 0).element, False)


def array_repeat(call: Call) -> DataType:
    return Array(call.type(0), call.args[0].nullable)


def arrays_zip(call: Call) -> DataType:
    fields: list[Field] = []
    for index, node in enumerate(call.nodes):
        fields.append(Field(own_name(node) or str(index), array_of(call, index).element))
    return Array(Struct(tuple(fields)), False)


def flatten(call: Call) -> Typed:
    outer = array_of(call, 0)
    if outer.element == UNKNOWN:
        return NOT_KNOWN
    if not isinstance(outer.element, Array):
        raise Mismatch(f"`flatten` takes an array of arrays, this is {outer}", 0)
    return Typed(outer.element, call.args[0].nullable or outer.contains_null)


def sequence(call: Call) -> Typed:
    start, stop = call.type(0), call.type(1)
    step = call.type(2) if len(call.args) > 2 else None
    points = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
    if start in points or stop in points:
        found = tightest(start, stop)
        if found is None and STRING not in (start, stop):
            raise Mismatch(f"`sequence` does not take {start} and {stop} together")
        if found is None or (step is not None and not isinstance(step, Interval) and step not in (UNKNOWN, VOID)):
            return NOT_KNOWN
        return Typed(Array(found, False), becomes_null(list(call.args[:2]), found))
    types = [type for type in (start, stop, step) if type is not None]
    if STRING in types:
        return NOT_KNOWN
    odd = next((at for at, type in enumerate(types) if type not in (*INTEGRAL_TYPES, VOID)), None)
    if odd is not None:
        raise Mismatch(f"`sequence` does not take {types[odd]} here", odd)
    found = start
    for type in types:
        wider = tightest(found, type)
        if wider is None:
            raise Mismatch("`sequence` takes integers, dates or timestamps of one type")
        found = wider
    return Typed(Array(found, False), call.any_nullable)


def element(call: Call) -> DataType:
    held = call.type(0)
    return held.element if isinstance(held, Array) else UNKNOWN


def get(call: Call) -> Typed:
    held, key = call.args
    if not isinstance(held.type, Array):
        return NOT_KNOWN
    _check_position(key.type)
    known = ELEMENTS in unbracketed(call.nodes[0]).meta
    first = 0 if call.name == "get" else 1
    return Typed(
        held.type.element, not (known and key.foldable) or element_may_be_null(call.nodes[0], held, key, first=first)
    )


def try_element_at(call: Call) -> Typed:
    if not isinstance(call.type(0), Array):
        return element_at(call)
    _refuse_null_position(call.type(1))
    return get(call)


def words(call: Call) -> DataType:
    return Array(STRING, False)


def sentences(call: Call) -> DataType:
    return Array(Array(STRING, False), False)


def matched(call: Call) -> Typed:
    """`contains`, `startswith` and `endswith`, which may be null for binaries."""
    both = call.given[0].type == BINARY and call.given[1].type == BINARY
    return Typed(BOOLEAN, call.any_nullable or both)


def element_at(call: Call) -> Typed:
    held, key = call.args
    if isinstance(held.type, Map):
        if key.type != VOID:
            _fitting(held.type.key, key.type, 1)
        return Typed(held.type.value, True)
    if not isinstance(held.type, Array):
        return NOT_KNOWN
    _refuse_null_position(key.type)
    _check_position(key.type)
    return Typed(held.type.element, element_may_be_null(call.nodes[0], held, key, first=1, raises=True))


def _refuse_null_position(type: DataType) -> None:
    if type == VOID:
        raise Mismatch("the position is an int, this is void", 1)


def _check_position(type: DataType) -> None:
    if type not in (INT, VOID, UNKNOWN) and tightest(type, INT) != INT:
        raise Mismatch(f"the position is an int, this is {type}", 1)


def element_may_be_null(node: exp.Expr, held: Typed, key: Typed, *, first: int, raises: bool = False) -> bool:
    """A constant position may lie outside of an array whose length is not known, else only where nothing `raises`."""
    assert isinstance(held.type, Array)
    if not key.foldable or key.nullable:
        return held.nullable or held.type.contains_null
    elements = unbracketed(node).meta.get(ELEMENTS)
    if elements is None:
        return True
    index = key.value - first if isinstance(key.value, int) else -1
    return bool(elements[index]) if 0 <= index < len(elements) else not raises


def reverse(call: Call) -> Typed:
    target = call.type(0) if isinstance(call.type(0), Array) else STRING
    return Typed(target, becomes_null(list(call.args), target))


def concat(call: Call) -> Typed:
    return concatenated(list(call.args)) if call.args else Typed(STRING, False)


def map_(call: Call) -> DataType:
    if len(call.args) % 2:
        raise Mismatch("`map` takes keys and values by turns")
    keys, values = list(call.args[::2]), list(call.args[1::2])
    key = common(call, [each.type for each in keys], "keys of a map")
    value = common(call, [each.type for each in values], "values of a map")
    _check_key(key, 0)
    return Map(key, value, becomes_null(values, value))


def _check_key(key: DataType, index: int) -> None:
    if holds_map(key) or key == VARIANT:
        raise Mismatch(f"{key} can't be the key of a map", index)


def map_from_arrays(call: Call) -> DataType:
    values = array_of(call, 1)
    _check_key(array_of(call, 0).element, 0)
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


def map_contains_key(call: Call) -> DataType:
    held = call.type(0)
    if isinstance(held, Map):
        _fitting(held.key, call.type(1), 1)
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


def named_struct(call: Call) -> DataType:
    if len(call.args) % 2:
        raise Mismatch("`named_struct` takes names and values by turns")
    fields: list[Field] = []
    for index in range(0, len(call.args), 2):
        name, value = call.text(index), call.args[index + 1]
        if name is None:
            if call.given[index].type in (STRING, UNKNOWN):
                return UNKNOWN
            raise Mismatch("a field's name is a constant string", index)
        fields.append(Field(name, value.type, value.nullable))
    return Struct(tuple(fields))


def struct(call: Call) -> DataType:
    fields = (
        Field(_field_name(node, index), arg.type, arg.nullable)
        for index, (node, arg) in enumerate(zip(call.nodes, call.args, strict=True), 1)
    )
    return Struct(tuple(fields))


def _field_name(node: exp.Expr, index: int) -> str:
    if isinstance(node, (exp.Alias, exp.PropertyEQ)):
        return node.alias or node.this.name
    return own_name(node) or f"col{index}"


def comparable_pair(call: Call) -> DataType:
    """Both arguments are compared as by `=`."""
    a, b = call.type(0), call.type(1)
    found = widest(a, b)
    if found is None or not is_orderable(found):
        raise Mismatch(f"{a} and {b} can't be compared", 1)
    return BOOLEAN


# lambdas


def transform(call: Call) -> DataType:
    held = array_of(call, 0)
    body = call.body(1, Typed(held.element, held.contains_null), Typed(INT, False))
    return Array(body.type, body.nullable)


def _condition(call: Call, index: int, *variables: Typed) -> Typed:
    body = call.body(index, *variables)
    if body.type not in (BOOLEAN, VOID, UNKNOWN):
        raise Mismatch(f"the function must give a boolean, this gives {body.type}", index)
    return body


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
    if known and str(merged.type) != str(sum_.type):
        raise Mismatch(f"the function gives {merged.type}, but the start value is {sum_.type}", 2)
    if len(call.args) < 4:
        return sum_
    last = call.body(3, sum_)
    return Typed(last.type, call.args[0].nullable or last.nullable)


def zip_with(call: Call) -> Typed:
    a, b = array_of(call, 0), array_of(call, 1)
    body = call.body(2, Typed(a.element), Typed(b.element))
    return Typed(Array(body.type, body.nullable), call.args[0].nullable or call.args[1].nullable)


def _map(call: Call, index: int = 0) -> Map:
    held = call.type(index)
    return held if isinstance(held, Map) else Map(UNKNOWN, UNKNOWN)


def transform_keys(call: Call) -> DataType:
    held = _map(call)
    body = call.body(1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    _check_key(body.type, 1)
    return Map(body.type, held.value, held.value_contains_null)


def transform_values(call: Call) -> DataType:
    held = _map(call)
    body = call.body(1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    return Map(held.key, body.type, body.nullable)


def map_filter(call: Call) -> DataType:
    held = _map(call)
    _condition(call, 1, Typed(held.key, False), Typed(held.value, held.value_contains_null))
    return call.type(0)


def map_zip_with(call: Call) -> Typed:
    a, b = _map(call), _map(call, 1)
    key = _fitting(a.key, b.key, 1)
    body = call.body(2, Typed(key, False), Typed(a.value), Typed(b.value))
    return Typed(Map(key, body.type, body.nullable), call.args[0].nullable or call.args[1].nullable)
