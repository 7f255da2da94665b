"""The statements of a SQL job file as values with locations; `text` is the whole statement."""

from dataclasses import dataclass, field
from typing import TypeAlias

from catalog.diagnostics.source import PlacedText
from catalog.tables.violation import OnViolation


@dataclass(frozen=True, slots=True)
class Property:
    """`'key' = 'value'` of a WITH list; `is_text` where the value was a string literal, else a number or a word."""

    key: PlacedText
    value: PlacedText
    is_text: bool = True


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of CREATE TABLE; `type` is None for a view's column, `default` the literal as written."""

    name: PlacedText
    type: PlacedText | None = None
    nullable: bool = True
    default: PlacedText | None = None
    comment: PlacedText | None = None


@dataclass(frozen=True, slots=True)
class KeyDefinition:
    """PRIMARY KEY or UNIQUE over columns."""

    columns: tuple[PlacedText, ...]
    is_primary: bool
    name: PlacedText | None = None


@dataclass(frozen=True, slots=True)
class ExpectDefinition:
    """`CONSTRAINT name EXPECT (condition) ON VIOLATION FAIL | DROP | WARN | QUARANTINE INTO table`."""

    name: PlacedText
    condition: PlacedText
    on_violation: OnViolation = OnViolation.FAIL
    quarantine: PlacedText | None = None


@dataclass(frozen=True, slots=True)
class SetOption:
    """`SET 'key' = 'value'` or `SET key = value`."""

    key: PlacedText
    value: PlacedText
    text: PlacedText
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigBlock:
    """`/* config … */`; `body` is HOCON."""

    body: PlacedText
    text: PlacedText
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class CreateTable:
    """CREATE TABLE, with or without a query."""

    name: PlacedText
    text: PlacedText
    columns: tuple[ColumnDefinition, ...] = ()
    keys: tuple[KeyDefinition, ...] = ()
    expectations: tuple[ExpectDefinition, ...] = ()
    comment: PlacedText | None = None
    partitioned_by: tuple[PlacedText, ...] = ()
    properties: tuple[Property, ...] = ()
    query: PlacedText | None = None
    or_replace: bool = False
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class CreateView:
    """CREATE VIEW; `query` is None if the WITH list names a transform instead."""

    name: PlacedText
    text: PlacedText
    query: PlacedText | None
    columns: tuple[ColumnDefinition, ...] = ()
    expectations: tuple[ExpectDefinition, ...] = ()
    comment: PlacedText | None = None
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT INTO or OVERWRITE; `partition` are the columns of a PARTITION clause without values."""

    target: PlacedText
    text: PlacedText
    query: PlacedText
    columns: tuple[PlacedText, ...] = ()
    by_name: bool = False
    overwrite: bool = False
    partition: tuple[PlacedText, ...] = field(default=())
    comments: tuple[str, ...] = ()


Statement: TypeAlias = SetOption | ConfigBlock | CreateTable | CreateView | Insert
