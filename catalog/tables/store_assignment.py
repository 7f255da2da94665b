"""What a sink does where the type of its target differs from that of the rows: `store_assignment`.

`lossless`, the default: whatever Spark can store is stored, and a value that the target's type would change fails the
run. `ansi` and `strict` are Spark's policies of these names (`spark.sql.storeAssignmentPolicy`): the first rounds and
cuts values, the second refuses every type that is not wider (`Cast.canUpCast`).
"""

from collections.abc import Mapping
from typing import Final

from catalog.tables.evolution import SchemaEvolution, widens
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BIGINT,
    BINARY,
    DATE,
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
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
    is_numeric,
)


def shown_type(column: Column) -> str:
    """The type with the digits of its seconds, where they are fewer than Spark's six."""
    digits = seconds_digits(column)
    return str(column.type) if digits is None else f"{column.type}({digits})"


def stored_column(column: Column, given: DataType, evolution: SchemaEvolution) -> Column:
    """The target's column as the rows are stored in it, which `schema_evolution = widen` may widen."""
    if evolution is SchemaEvolution.WIDEN and widens(column.type, given):
        return Column(column.name, given, column.nullable, column.default)
    return column


def seconds_digits(column: Column) -> int | None:
    """The digits behind the point that a column of timestamps has, if these are fewer than Spark's six."""
    is_timestamp = column.type in (TIMESTAMP, TIMESTAMP_NTZ)
    return column.scale if is_timestamp and column.scale is not None and column.scale < 6 else None


def may_change(source: DataType, target: Column) -> bool:
    """Whether storing a value in the column can change it; False for types that no cast is needed for."""
    is_cut = seconds_digits(target) is not None and source in (TIMESTAMP, TIMESTAMP_NTZ)
    return is_cut or not preserves(source, target.type)


def preserves(source: DataType, target: DataType) -> bool:
    """Whether every value of the one type is equal to one of the other, and cast back is what it was."""
    if source in (target, VOID) or UNKNOWN in (source, target):
        return True
    match source, target:
        case (Array(a), Array(b)):
            return preserves(a, b)
        case (Map(a, x), Map(b, y)):
            return preserves(a, b) and preserves(x, y)
        case (Struct(a), Struct(b)):
            return all(preserves(x.type, y.type) for x, y in zip(a, b, strict=False))
        case (_, _) if target == STRING:
            return source not in (TIMESTAMP, BINARY)  # an hour that is repeated in autumn; bytes that are no UTF-8
        case (_, _) if source == STRING:  # others are refused by the cast, if they do not fit
            return not isinstance(target, Decimal) and target != DATE
        case (Time(p), Time(q)):
            return q >= p
        case (Decimal(p, s), Decimal(q, t)):
            return t >= s and q - t >= p - s
        case (Decimal(p, s), _):
            return (s == 0 and p <= _DIGITS_HELD.get(target, 0)) or p <= _FLOATING_DIGITS.get(target, 0)
        case (_, Decimal(q, t)):
            return source in _DIGITS_NEEDED and q - t >= _DIGITS_NEEDED[source]
    return target in _PRESERVING.get(source, ())


def can_up_cast(source: DataType, target: DataType) -> bool:
    """Whether Spark's policy `strict` stores values of the one type in the other (`Cast.canUpCast`)."""
    if source in (target, VOID) or UNKNOWN in (source, target):
        return True
    match source, target:
        case (Array(a), Array(b)):
            return can_up_cast(a, b)
        case (Map(a, x), Map(b, y)):
            return can_up_cast(a, b) and can_up_cast(x, y)
        case (Struct(a), Struct(b)):
            return len(a) == len(b) and all(can_up_cast(x.type, y.type) for x, y in zip(a, b, strict=True))
        case (Array() | Map() | Struct(), _) | (_, Array() | Map() | Struct()):
            return False
        case (_, _) if target == STRING:
            return True
        case (Decimal(p, s), Decimal(q, t)):
            return t >= s and q - t >= p - s
        case (Decimal(p, s), _):
            return target in INTEGRAL_TYPES and s == 0 and p < _DIGITS_NEEDED[target]
        case (_, Decimal(q, t)):
            return source in _DIGITS_NEEDED and q - t >= _DIGITS_NEEDED[source]
        case (Time(p), Time(q)):
            return q >= p
    if is_numeric(source) and is_numeric(target):
        return _WIDTHS.index(source) <= _WIDTHS.index(target)
    return (source, target) in _DATES_UP


_DIGITS_NEEDED: Final[Mapping[DataType, int]] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
"""Digits before the point that hold every value of an integer type (Spark's `DecimalType.forType`)."""
_DIGITS_HELD: Final[Mapping[DataType, int]] = {TINYINT: 2, SMALLINT: 4, INT: 9, BIGINT: 18}
"""Digits of integers that an integer type holds, whatever they are."""
_FLOATING_DIGITS: Final[Mapping[DataType, int]] = {FLOAT: 6, DOUBLE: 15}
"""Digits of decimals that come back from floating point as they were."""
_PRESERVING: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    TINYINT: (SMALLINT, INT, BIGINT, FLOAT, DOUBLE),
    SMALLINT: (INT, BIGINT, FLOAT, DOUBLE),
    INT: (BIGINT, DOUBLE),
    FLOAT: (DOUBLE,),
    DATE: (TIMESTAMP, TIMESTAMP_NTZ),
}
_WIDTHS: Final = (TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE)
_DATES_UP: Final = (
    (DATE, TIMESTAMP), (DATE, TIMESTAMP_NTZ), (TIMESTAMP, TIMESTAMP_NTZ), (TIMESTAMP_NTZ, TIMESTAMP),
)  # fmt: skip
