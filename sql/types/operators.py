"""The result types of Spark's operators under ANSI: arithmetic, comparison, logic and bits.

Each function maps the types of the operands to the type of the result, or to `Mismatch` if Spark refuses them.
"""

from collections.abc import Callable
from decimal import Decimal as Number
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TINYINT,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    has_unknown,
    is_numeric,
)
from sql.types import decimals
from sql.types.casts import forces_null
from sql.types.coercion import as_decimal, is_equal_but_names_and_collations, promoted_string, tightest, widest
from sql.types.date_arithmetic import added_intervals, moved_dates
from sql.types.expression_type import NOT_KNOWN, Typed
from sql.types.mismatch import Mismatch
from sql.types.type_family import kind_of

DECIMAL_RESULTS: Final[dict[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": decimals.added,
    "-": decimals.added,
    "*": decimals.multiplied,
    "/": decimals.divided,
    "%": decimals.remainder,
}


def arithmetic(operator: str, left: Typed, right: Typed) -> Typed:
    """`+ - * / %` and `div`."""
    if is_numeric(left.type) and is_numeric(right.type):
        found = _numbers(operator, left, right)
    elif UNKNOWN in (left.type, right.type):
        return NOT_KNOWN
    else:
        found = (
            moved_dates(operator, left, right)
            or added_intervals(operator, left, right)
            or _promoted(operator, left, right)
        )
    if found is None:
        raise _unfit(operator, left, right)
    return found


def _unfit(operator: str, left: Typed, right: Typed) -> Mismatch:
    """Both sides are marked, or the only one that no operand of this kind can be."""
    strange = [at for at, side in enumerate((left, right)) if _is_strange(operator, side.type)]
    argument = strange[0] if len(strange) == 1 else None
    return Mismatch(f"`{operator}` does not take {left.type} and {right.type}", argument)


_COMPARISONS: Final = ("=", "!=", "<", "<=", ">", ">=", "<=>")


def _is_strange(operator: str, type: DataType) -> bool:
    if isinstance(type, Array | Map | Struct) or type == VARIANT:
        return True
    return operator not in _COMPARISONS and type in (BOOLEAN, BINARY)


def _promoted(operator: str, left: Typed, right: Typed) -> Typed | None:
    sides = _as_numbers(operator, left, right)
    return None if sides is None else _numbers(operator, *sides)


def _numbers(operator: str, left: Typed, right: Typed) -> Typed | None:
    nullable = left.nullable or right.nullable or operator in ("/", "%", "div")
    a, b = left.type, right.type
    if operator == "div":
        whole = all(side in INTEGRAL_TYPES or isinstance(side, Decimal) for side in (a, b))
        return Typed(BIGINT, True) if whole else None
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        other = b if isinstance(a, Decimal) else a
        if other in (DOUBLE, FLOAT):
            return Typed(DOUBLE, nullable)
        x, y = _decimal_side(left, right), _decimal_side(right, left)
        forced = forces_null(a, x) or forces_null(b, y)
        return Typed(DECIMAL_RESULTS[operator](x, y), nullable or forced)
    if operator == "/":
        return Typed(DOUBLE, True)
    common = tightest(a, b)
    return None if common is None else Typed(common, nullable)


def _as_numbers(operator: str, left: Typed, right: Typed) -> tuple[Typed, Typed] | None:
    """Both sides as numbers: a string is promoted next to a number, NULL becomes the other side's type."""
    if left.type == VOID and right.type == VOID:
        filler = BIGINT if operator == "div" else DOUBLE
        return Typed(filler), Typed(filler)
    if operator == "/" and left.type == VOID and isinstance(right.type, Decimal):
        return Typed(DOUBLE), Typed(DOUBLE)
    if left.type in (STRING, VOID):
        if not is_numeric(right.type):
            return None
        return _promote(left, right.type), right
    if right.type in (STRING, VOID):
        return (left, _promote(right, left.type)) if is_numeric(left.type) else None
    return None


def _promote(side: Typed, other: DataType) -> Typed:
    """A string or NULL next to a number."""
    return Typed(other, side.nullable) if side.type == VOID else Typed(promoted_string(other) or other)


def _decimal_side(side: Typed, other: Typed) -> Decimal:
    """A side as a decimal; a whole literal next to a decimal has just the digits that it needs."""
    if isinstance(side.type, Decimal):
        return side.type
    is_integral = side.type in INTEGRAL_TYPES and side.type != TINYINT  # Spark leaves `4Y` out
    if is_integral and isinstance(side.value, int) and isinstance(other.type, Decimal):
        return Decimal(max(len(str(abs(side.value))), 1), 0)
    return as_decimal(side.type)


def comparison(operator: str, left: Typed, right: Typed) -> Typed:
    """`= == <> != < <= > >=` and `<=>`."""
    null_safe = operator == "<=>"
    if UNKNOWN in (left.type, right.type):
        return Typed(BOOLEAN, not null_safe)
    common = comparable(left.type, right.type)
    if common is None or not is_orderable(common):
        raise _unfit(operator, left, right)
    if null_safe:
        return Typed(BOOLEAN, False)
    if is_void_beside_string(left, right):
        return Typed(BOOLEAN)  # of a string and the literal NULL, whatever the other value was
    if operator not in ("=", "!=") and (_is_decimal_literal(left) or _is_decimal_literal(right)):
        return Typed(BOOLEAN, left.nullable or right.nullable or STRING in (left.type, right.type))
    return Typed(BOOLEAN, _null_after(left, right, common) or _null_after(right, left, common))


def is_void_beside_string(left: Typed, right: Typed) -> bool:
    pair = (left.type, right.type)
    return VOID in pair and STRING in pair


def _is_decimal_literal(side: Typed) -> bool:
    return isinstance(side.type, Decimal) and side.value is not None


def decided_order(operator: str, left: Typed, right: Typed) -> bool | None:
    """What an integer's order to a decimal literal beyond `bigint` is, even that of NULL; None of other operands."""
    if operator not in ("<", "<=", ">", ">="):
        return None
    is_behind = _is_decimal_literal(right)
    literal, other = (right, left) if is_behind else (left, right)
    if other.type not in INTEGRAL_TYPES or not _is_decimal_literal(literal):
        return None
    number = Number(str(literal.value))
    if _LEAST <= number <= _MOST:
        return None
    return (number > _MOST) == (operator.startswith("<") == is_behind)


_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1


def _null_after(side: Typed, other: Typed, common: DataType) -> bool:
    """Whether a side may be null once it has the common type."""
    target = common
    if isinstance(common, Decimal) and isinstance(other.type, Decimal) and side.type in INTEGRAL_TYPES:
        target = _decimal_side(side, other)
    return side.nullable or forces_null(side.type, target)


def comparable(a: DataType, b: DataType) -> DataType | None:
    """The type in which two values are compared; the names of fields do not count where their types are equal."""
    if isinstance(a, Array | Map | Struct):  # within which no value may lose anything, as decimals of others could
        found = tightest(a, b) or (a if is_equal_but_names_and_collations(a, b) else None)
        return UNKNOWN if found is None and (has_unknown(a) or has_unknown(b)) else found
    return widest(a, b)


def is_orderable(type: DataType) -> bool:
    """Whether values of the type can be compared: not maps, variants, calendar intervals or what holds them."""
    match type:
        case Array(element):
            return is_orderable(element)
        case Struct(fields):
            return all(is_orderable(field.type) for field in fields)
        case Map():
            return False
        case _:
            return type not in (VARIANT, CALENDAR_INTERVAL)


def logical(operator: str, *sides: Typed) -> Typed:
    """`AND OR NOT` and whatever needs a condition of which a string may be cast."""
    for index, side in enumerate(sides):
        if side.type not in (BOOLEAN, STRING, VOID, UNKNOWN):
            raise Mismatch(f"`{operator}` takes boolean, this is {side.type}", index)
    types = [side.type for side in sides]
    if len(types) > 1 and STRING in types and not {BOOLEAN, UNKNOWN} & set(types):
        raise Mismatch(f"`{operator}` takes boolean, this is string", types.index(STRING))
    return Typed(BOOLEAN, any(side.nullable or side.type == STRING for side in sides))


def bitwise(operator: str, left: Typed, right: Typed) -> Typed:
    """`& | ^`."""
    if UNKNOWN in (left.type, right.type):
        return NOT_KNOWN
    types = {left.type, right.type} - {VOID}
    if not types:
        return Typed(INT)
    numbers = types - {STRING}
    if not numbers or not all(type in INTEGRAL_TYPES for type in numbers):
        raise _unfit(operator, left, right)
    if STRING in types:
        if VOID in (left.type, right.type):
            raise _unfit(operator, left, right)
        return Typed(BIGINT)
    common = max(numbers, key=INTEGRAL_TYPES.index)
    return Typed(common, left.nullable or right.nullable)


def negated(operator: str, side: Typed) -> Typed:
    """Unary `-` and `+`."""
    if side.type == UNKNOWN:
        return NOT_KNOWN
    if side.type in (STRING, VOID):
        return Typed(DOUBLE, side.nullable or side.type == STRING)
    if is_numeric(side.type) or kind_of(side.type) in ("ym", "dt", "interval"):
        return Typed(side.type, side.nullable, side.foldable)
    raise Mismatch(f"`{operator}` does not take {side.type}", 0)


def inverted(side: Typed) -> Typed:
    """`~`."""
    if side.type == UNKNOWN or side.type in INTEGRAL_TYPES:
        return Typed(side.type, side.nullable)
    if side.type == VOID:
        return Typed(INT)
    raise Mismatch(f"`~` takes integers, this is {side.type}", 0)


def concatenated(sides: list[Typed]) -> Typed:
    """`||` and `concat`: strings, or binaries, or arrays."""
    types = [side.type for side in sides]
    if UNKNOWN in types:
        return NOT_KNOWN
    arrays = [type for type in types if isinstance(type, Array)]
    if arrays:
        return _joined_arrays(sides, arrays)
    for index, type in enumerate(types):
        if isinstance(type, (Map, Struct)):
            raise Mismatch(f"`||` takes strings, binaries or arrays, this is {type}", index)
    known = [type for type in types if type != VOID]
    target = BINARY if known and all(type == BINARY for type in known) and len(known) == len(types) else STRING
    return Typed(target, any(side.nullable or forces_null(side.type, target) for side in sides))


def _joined_arrays(sides: list[Typed], arrays: list[Array]) -> Typed:
    common: DataType | None = arrays[0]
    others = [index for index, side in enumerate(sides) if not isinstance(side.type, Array)]
    if len(others) >= len(arrays) and not any(has_unknown(side.type) for side in sides):  # which are meant is not known
        raise Mismatch(f"arrays of different types can't be joined: {arrays[0]} and {sides[others[0]].type}")
    for index, side in enumerate(sides):
        if common is not None:
            common = widest(common, side.type) if isinstance(side.type, Array) else None
        if common is None:
            if has_unknown(side.type):
                return NOT_KNOWN
            raise Mismatch(f"arrays of different types can't be joined: {arrays[0]} and {side.type}", index)
    assert common is not None
    return Typed(common, any(side.nullable for side in sides))
