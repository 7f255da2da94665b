"""The common type of two types: Spark's coercion under ANSI (`AnsiTypeCoercion`)."""

from collections.abc import Callable, Iterable
from typing import Final

from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAY_TIME_UNITS,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    VARIANT,
    VOID,
    YEAR_MONTH_UNITS,
    Array,
    Atomic,
    DataType,
    Decimal,
    Field,
    Interval,
    Map,
    Struct,
    Time,
    has_unknown,
    is_numeric,
    with_strings,
)
from sql.types import decimals
from sql.types.casts import forces_null

NUMERIC_ORDER: Final = (TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE)

DATETIME_PAIRS: Final = {
    frozenset((DATE, TIMESTAMP)): TIMESTAMP,
    frozenset((DATE, TIMESTAMP_NTZ)): TIMESTAMP_NTZ,
    frozenset((TIMESTAMP, TIMESTAMP_NTZ)): TIMESTAMP,
}

STRING_PROMOTIONS: Final[dict[DataType, DataType]] = {
    **dict.fromkeys(INTEGRAL_TYPES, BIGINT),
    **{same: same for same in (BOOLEAN, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, VARIANT)},
    FLOAT: DOUBLE,
    DOUBLE: DOUBLE,
}
"""What a string becomes where the other operand has this type."""

Widener = Callable[[DataType, DataType], DataType | None]


def widest(a: DataType, b: DataType) -> DataType | None:
    """The type of a column that holds both, strings promoted; unknown where either is; None: there is none."""
    if a == b:
        return a
    if UNKNOWN in (a, b):
        return UNKNOWN
    found = tightest(a, b) or _promoted(a, b) or _decimal(a, b) or _nested(a, b, widest)
    return UNKNOWN if found is None and (has_unknown(a) or has_unknown(b)) else found


def widest_unpromoted(a: DataType, b: DataType) -> DataType | None:
    """`widest` where no string is promoted, as in inline tables."""
    if a == b:
        return a
    if UNKNOWN in (a, b):
        return UNKNOWN
    found = tightest(a, b) or _decimal(a, b) or _nested(a, b, widest_unpromoted)
    return UNKNOWN if found is None and (has_unknown(a) or has_unknown(b)) else found


def is_equal_but_names(a: DataType, b: DataType) -> bool:
    """Whether types differ in nothing but names of fields and nullability within."""
    match a, b:
        case Array(), Array():
            return is_equal_but_names(a.element, b.element)
        case Map(), Map():
            return is_equal_but_names(a.key, b.key) and is_equal_but_names(a.value, b.value)
        case Struct(), Struct():
            pairs = zip(a.fields, b.fields, strict=False)
            return len(a.fields) == len(b.fields) and all(is_equal_but_names(x.type, y.type) for x, y in pairs)
        case _:
            return a == b and str(a) == str(b)  # which tells collations apart


def is_equal_but_names_and_collations(a: DataType, b: DataType) -> bool:
    """`is_equal_but_names`, whatever the collations: Spark makes them one before it compares."""
    return is_equal_but_names(with_strings(a, _plain), with_strings(b, _plain))


def _plain(_: Atomic) -> Atomic:
    return STRING


def union_like(left: DataType, right: DataType) -> DataType:
    """The left type, nullable within where either is: for types that are equal but for names (`unionLikeMerge`)."""
    match left, right:
        case Array(), Array():
            return Array(union_like(left.element, right.element), left.contains_null or right.contains_null)
        case Map(), Map():
            contains_null = left.value_contains_null or right.value_contains_null
            return Map(union_like(left.key, right.key), union_like(left.value, right.value), contains_null)
        case Struct(), Struct():
            pairs = zip(left.fields, right.fields, strict=True)
            fields = (Field(a.name, union_like(a.type, b.type), a.nullable or b.nullable) for a, b in pairs)
            return Struct(tuple(fields))
        case _:
            return left


def holds(type: DataType, wanted: Callable[[DataType], bool]) -> bool:
    """Whether the type, or one within its arrays and structs, is as wanted."""
    match type:
        case Array(element):
            return holds(element, wanted)
        case Struct(fields):
            return any(holds(field.type, wanted) for field in fields)
        case _:
            return wanted(type)


def holds_map(type: DataType) -> bool:
    return holds(type, lambda part: isinstance(part, Map))


def widest_of(types: Iterable[DataType]) -> DataType | None:
    """`widest` over several types, from the left; `void` for none."""

    found: DataType | None = VOID
    for type in types:
        found = None if found is None else widest(found, type)
    return found


def tightest(a: DataType, b: DataType) -> DataType | None:
    """The type that both become without loss; strings are not promoted."""
    if a == b:
        return a
    if VOID in (a, b):
        return b if a == VOID else a
    if isinstance(a, Decimal) != isinstance(b, Decimal):
        number, other = (a, b) if isinstance(a, Decimal) else (b, a)
        assert isinstance(number, Decimal)
        digits = decimals.DIGITS.get(other) if other in INTEGRAL_TYPES else None
        return number if digits is not None and decimals.is_wider(number, digits) else None
    if a in NUMERIC_ORDER and b in NUMERIC_ORDER:
        return _wider_number(a, b)
    if isinstance(a, Interval) and isinstance(b, Interval):
        return _wider_interval(a, b)
    if isinstance(a, Time) and isinstance(b, Time):
        return None  # Spark does not widen one to the other
    if isinstance(a, Atomic) and isinstance(b, Atomic):
        return DATETIME_PAIRS.get(frozenset((a, b)))
    return _nested(a, b, tightest)


def tightest_in_collection(a: DataType, b: DataType) -> DataType | None:
    """`tightest` of an array's elements and a value next to them, which Spark finds as if ANSI were off.

    A float with an integer stays a float. The casts to the type are those of ANSI: none from one interval to another.
    """
    if not keeps_intervals(a, b):
        return None
    if FLOAT in (a, b) and (a in INTEGRAL_TYPES or b in INTEGRAL_TYPES):
        return FLOAT
    return _nested(a, b, tightest_in_collection) or tightest(a, b)


def keeps_intervals(a: DataType, b: DataType) -> bool:
    """Whether no interval in one type has other units than that in the other, at any depth."""
    match a, b:
        case Array(), Array():
            return keeps_intervals(a.element, b.element)
        case Map(), Map():
            return keeps_intervals(a.key, b.key) and keeps_intervals(a.value, b.value)
        case Struct(), Struct():
            pairs = zip(a.fields, b.fields, strict=False)
            return all(keeps_intervals(left.type, right.type) for left, right in pairs)
        case _:
            return a == b or not (isinstance(a, Interval) and isinstance(b, Interval))


def _wider_number(a: DataType, b: DataType) -> DataType:
    if (a == FLOAT) != (b == FLOAT):
        return DOUBLE
    return max(a, b, key=NUMERIC_ORDER.index)


def _wider_interval(a: Interval, b: Interval) -> Interval | None:
    if a.is_year_month != b.is_year_month:
        return None
    units = YEAR_MONTH_UNITS if a.is_year_month else DAY_TIME_UNITS
    return Interval(min(a.start, b.start, key=units.index), max(a.end, b.end, key=units.index))


def _promoted(a: DataType, b: DataType) -> DataType | None:
    if STRING not in (a, b):
        return None
    return promoted_string(b if a == STRING else a)


def promoted_string(other: DataType) -> DataType | None:
    """What a string becomes next to the other type; None if it can't."""
    if isinstance(other, Decimal):
        return DOUBLE
    return other if isinstance(other, Time) else STRING_PROMOTIONS.get(other)


def _decimal(a: DataType, b: DataType) -> DataType | None:
    if not (isinstance(a, Decimal) or isinstance(b, Decimal)) or not (is_numeric(a) and is_numeric(b)):
        return None
    if a in (FLOAT, DOUBLE) or b in (FLOAT, DOUBLE):
        return DOUBLE
    return decimals.wider(as_decimal(a), as_decimal(b))


def as_decimal(type: DataType) -> Decimal:
    """The decimal of an integral type; a decimal itself."""
    return type if isinstance(type, Decimal) else decimals.DIGITS[type]


def _nested(a: DataType, b: DataType, widen: Widener) -> DataType | None:
    if isinstance(a, Array) and isinstance(b, Array):
        element = widen(a.element, b.element)
        if element is None:
            return None
        may_be_null = a.contains_null or b.contains_null or _forces(a.element, b.element, element)
        return Array(element, may_be_null)
    if isinstance(a, Map) and isinstance(b, Map):
        key, value = widen(a.key, b.key), widen(a.value, b.value)
        if key is None or value is None or _forces(a.key, b.key, key):
            return None
        may_be_null = a.value_contains_null or b.value_contains_null or _forces(a.value, b.value, value)
        return Map(key, value, may_be_null)
    if isinstance(a, Struct) and isinstance(b, Struct):
        return _wider_struct(a, b, widen)
    return None


def _wider_struct(a: Struct, b: Struct, widen: Widener) -> Struct | None:
    if len(a.fields) != len(b.fields):
        return None
    fields: list[Field] = []
    for left, right in zip(a.fields, b.fields, strict=True):
        if left.name.lower() != right.name.lower():
            return None
        type = widen(left.type, right.type)
        if type is None:
            return None
        nullable = left.nullable or right.nullable or _forces(left.type, right.type, type)
        fields.append(Field(left.name, type, nullable))
    return Struct(tuple(fields))


def _forces(a: DataType, b: DataType, to: DataType) -> bool:
    return forces_null(a, to) or forces_null(b, to)
