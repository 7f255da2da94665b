"""The difference of two schemas, and whether rows of one can be written into a table of the other.

Columns are matched by name, ignoring case. What can be stored is Spark's rule for store assignment under ANSI
(`Cast.canANSIStoreAssign`); what widens without loss is Delta's (its type widening feature).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from catalog.tables.table import Column, TableSchema
from catalog.types.datatypes import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
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
    Field,
    Map,
    Struct,
    Time,
    is_numeric,
)


class SchemaEvolution(str, Enum):
    """How a sink may change its target when the rows do not fit; `WIDEN` also adds columns."""

    FAIL = "fail"
    ADD_COLUMNS = "add_columns"
    WIDEN = "widen"


class StoreAssignment(str, Enum):
    """What a sink does with values of another type than the target's (`store_assignment.py`)."""

    LOSSLESS = "lossless"
    ANSI = "ansi"
    STRICT = "strict"


class ChangeKind(str, Enum):
    ADDED = "added"
    DROPPED = "dropped"
    RETYPED = "type changed"
    WIDENED = "type widened"
    NULLS_ALLOWED = "nulls allowed"
    NULLS_FORBIDDEN = "nulls forbidden"
    PRIMARY_KEY = "primary key changed"


_BREAKING: Final[Mapping[ChangeKind, bool]] = {
    # whether a reader of the old schema may fail on the new one
    ChangeKind.ADDED: False,
    ChangeKind.DROPPED: True,
    ChangeKind.RETYPED: True,
    ChangeKind.WIDENED: False,
    ChangeKind.NULLS_ALLOWED: True,
    ChangeKind.NULLS_FORBIDDEN: False,
    ChangeKind.PRIMARY_KEY: True,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `column` has dots into structs; `before` and `after` are texts, None if absent."""

    kind: ChangeKind
    column: str
    before: str | None
    after: str | None

    @property
    def is_breaking(self) -> bool:
        return _BREAKING[self.kind]

    def __str__(self) -> str:
        match self.kind:
            case ChangeKind.ADDED:
                return f"`{self.column}` added ({self.after})"
            case ChangeKind.DROPPED:
                return f"`{self.column}` dropped ({self.before})"
            case ChangeKind.PRIMARY_KEY:
                return f"primary key changed from ({self.before or 'none'}) to ({self.after or 'none'})"
            case ChangeKind.RETYPED | ChangeKind.WIDENED:
                return f"`{self.column}` {self.kind.value} from {self.before} to {self.after}"
            case ChangeKind.NULLS_ALLOWED | ChangeKind.NULLS_FORBIDDEN:
                return f"`{self.column}` {self.kind.value}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one column of the rows does not fit; `column` with dots into structs."""

    column: str
    reason: str

    def __str__(self) -> str:
        return f"`{self.column}`: {self.reason}"


def diff(before: TableSchema, after: TableSchema) -> tuple[Change, ...]:
    """The changes, in the order of the old columns, then of the new ones; none for equal schemas."""
    return (*_diff_fields("", _fields(before), _fields(after)), *_diff_keys(before, after))


def fits(
    incoming: TableSchema, target: TableSchema, evolution: SchemaEvolution | str = SchemaEvolution.FAIL
) -> tuple[Problem, ...]:
    """The reasons why rows of `incoming` cannot be written into `target`, matched by name; nothing if they can.

    A missing column is written as NULL or as its default. As in Spark, NULLs in a NOT NULL column are found while
    writing. Unknown types fit every type.
    """
    defaults = {column.name.lower() for column in target.columns if column.default is not None}
    return tuple(_misfits("", _fields(incoming), _fields(target), SchemaEvolution(evolution), frozenset(defaults)))


def can_store(source: DataType, target: DataType, *, by_name: bool = True) -> bool:
    """Whether Spark writes values of one type into a column of another; values out of range fail while writing.

    `by_name`: fields of structs have equal names, as in a table; else they are taken by position.
    """
    if source in (target, VOID) or UNKNOWN in (source, target):
        return True
    match source, target:
        case (Array(a), Array(b)):
            return (target.contains_null or not source.contains_null) and can_store(a, b, by_name=by_name)
        case (Map(a, x), Map(b, y)):
            nulls_fit = target.value_contains_null or not source.value_contains_null
            return nulls_fit and can_store(a, b, by_name=by_name) and can_store(x, y, by_name=by_name)
        case (Struct(a), Struct(b)):
            return len(a) == len(b) and all(_can_store_field(x, y, by_name) for x, y in zip(a, b, strict=True))
        case (Array() | Map() | Struct(), _) | (_, Array() | Map() | Struct()):
            return False
        case (_, _) if target == STRING:
            return True
        case (Time(), Time()):
            return True
    return (is_numeric(source) and is_numeric(target)) or (source in _DATETIME and target in _DATETIME)


def widens(before: DataType, after: DataType) -> bool:
    """Whether every value of the first type is one of the second, so that a column can be widened to it."""
    match before, after:
        case (Decimal(p, s), Decimal(q, t)):
            return (p, s) != (q, t) and t >= s and q - t >= p - s
        case (_, Decimal(q, t)):
            return before in _INTEGRAL_DIGITS and q - t >= _INTEGRAL_DIGITS[before]
        case (Time(p), Time(q)):
            return q > p
        case (Array(a), Array(b)):
            return widens(a, b)
        case (Map(a, x), Map(b, y)):
            return before != after and all(old == new or widens(old, new) for old, new in ((a, b), (x, y)))
    return after in _WIDER.get(before, ())


_DATETIME: Final = (DATE, TIMESTAMP, TIMESTAMP_NTZ)

_WIDER: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    TINYINT: (SMALLINT, INT, BIGINT, DOUBLE),
    SMALLINT: (INT, BIGINT, DOUBLE),
    INT: (BIGINT, DOUBLE),
    FLOAT: (DOUBLE,),
    DATE: (TIMESTAMP_NTZ,),
}

_INTEGRAL_DIGITS: Final[Mapping[DataType, int]] = {TINYINT: 10, SMALLINT: 10, INT: 10, BIGINT: 20}
"""Digits before the point that a decimal needs to take an integer type (Delta's figures)."""


def _fields(schema: TableSchema) -> tuple[Field, ...]:
    return tuple(Field(column.name, column.type, column.nullable) for column in schema.columns)


def _by_name(fields: tuple[Field, ...]) -> dict[str, Field]:
    return {field.name.lower(): field for field in fields}


def _diff_fields(prefix: str, before: tuple[Field, ...], after: tuple[Field, ...]) -> Iterator[Change]:
    old, new = _by_name(before), _by_name(after)
    for name, field in old.items():
        path = prefix + field.name
        if name not in new:
            yield Change(ChangeKind.DROPPED, path, str(field.type), None)
            continue
        yield from _diff_types(path, field.type, new[name].type)
        if field.nullable != new[name].nullable:
            kind = ChangeKind.NULLS_ALLOWED if new[name].nullable else ChangeKind.NULLS_FORBIDDEN
            yield Change(kind, path, _nullability(field), _nullability(new[name]))
    for name, field in new.items():
        if name not in old:
            yield Change(ChangeKind.ADDED, prefix + field.name, None, str(field.type))


def _diff_types(path: str, before: DataType, after: DataType) -> Iterator[Change]:
    match before, after:
        case (Struct(a), Struct(b)):
            yield from _diff_fields(f"{path}.", a, b)
        case (Array(a), Array(b)) if str(before) != str(after):
            yield from _diff_types(f"{path}.element", a, b)
        case (Map(a, x), Map(b, y)) if str(before) != str(after):
            yield from _diff_types(f"{path}.key", a, b)
            yield from _diff_types(f"{path}.value", x, y)
        case _ if str(before) != str(after):
            kind = ChangeKind.WIDENED if widens(before, after) else ChangeKind.RETYPED
            yield Change(kind, path, str(before), str(after))


def _diff_keys(before: TableSchema, after: TableSchema) -> Iterator[Change]:
    old, new = (schema.primary_key.columns if schema.primary_key else () for schema in (before, after))
    if [name.lower() for name in old] != [name.lower() for name in new]:
        yield Change(ChangeKind.PRIMARY_KEY, ", ".join(old or new), ", ".join(old) or None, ", ".join(new) or None)


def _misfits(
    prefix: str,
    incoming: tuple[Field, ...],
    target: tuple[Field, ...],
    evolution: SchemaEvolution,
    defaults: frozenset[str] = frozenset(),
) -> Iterator[Problem]:
    given, there = _by_name(incoming), _by_name(target)
    for name, field in given.items():
        path = prefix + field.name
        if name in there:
            yield from _type_misfits(path, field.type, there[name].type, evolution)
        elif evolution is SchemaEvolution.FAIL:
            yield Problem(path, "the target has no such column")
    for name, field in there.items():
        if name not in given and not field.nullable and name not in defaults:
            yield Problem(prefix + field.name, "the rows lack this column, which is NOT NULL in the target")


def _type_misfits(path: str, source: DataType, target: DataType, evolution: SchemaEvolution) -> Iterator[Problem]:
    match source, target:
        case (Struct(a), Struct(b)):
            yield from _misfits(f"{path}.", a, b, evolution)
        case (Array(Struct() as a), Array(Struct() as b)):
            yield from _type_misfits(f"{path}.element", a, b, evolution)
        case _ if can_store(source, target):
            return
        case _ if evolution is SchemaEvolution.WIDEN and widens(target, source):
            return
        case _:
            yield Problem(path, f"{source} cannot be stored as {target}")


def _can_store_field(source: Field, target: Field, by_name: bool) -> bool:
    is_named_so = not by_name or source.name.lower() == target.name.lower()
    nulls_fit = target.nullable or not source.nullable
    return is_named_so and nulls_fit and can_store(source.type, target.type, by_name=by_name)


def _nullability(field: Field | Column) -> str:
    return "null" if field.nullable else "not null"
