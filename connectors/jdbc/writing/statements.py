"""Builds the SQL of a commit, which moves rows of a staging table `s` into the target `t`. Needs no database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from catalog.tables.row_kind import ROW_KIND, RowKind
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING, DataType
from connectors.jdbc.dialect import Dialect, Updates

MATCHED: Final = "when matched"
NOT_MATCHED: Final = "when not matched"
"""What a MERGE does, which is either."""


@dataclass(frozen=True, slots=True)
class TargetChange:
    """Rows of `staging` for `target`: `columns` of both, `values` as SQL over `s`, `keys` that identify a row.

    `compares`: whether all columns can be compared, so that an update passes over rows that are equal. `sequence`: the
    column by which a row of the target may be newer than that of the staging table, and then stays. `is_referenced`:
    foreign keys of other tables refer to the target. `types` and `texts`: of an INSERT of the user's, the types of the
    columns that it fills, and the columns that are staged as text. `has_index`: whether a new target gets its primary
    key.
    """

    dialect: Dialect
    target: tuple[str, ...]
    staging: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[str, ...]
    keys: tuple[str, ...] = ()
    compares: bool = True
    sequence: str | None = None
    is_referenced: bool = False
    types: tuple[str | None, ...] = ()
    texts: tuple[str, ...] = ()
    has_index: bool = True

    @property
    def table(self) -> str:
        return self.dialect.quote_path(self.target)

    @property
    def source(self) -> str:
        return self.dialect.quote_path(self.staging)

    @property
    def same_key(self) -> str:
        quote = self.dialect.quote
        return " and ".join(f"t.{quote(key)} = {self._value(key)}" for key in self.keys)

    @property
    def is_newer(self) -> str | None:
        """The condition that the staged row is not older than the target's."""
        if self.sequence is None:
            return None
        there = f"t.{self.dialect.quote(self.sequence)}"
        return f"({there} is null or {self._value(self.sequence)} >= {there})"

    @property
    def keeps_values(self) -> bool:
        """Whether the target stores the values of the staging table as they are."""
        return self.values == tuple(f"s.{self.dialect.quote(column)}" for column in self.columns)

    def _value(self, column: str) -> str:
        return self.values[self.columns.index(column)]


def insert(change: TargetChange, condition: str = "") -> str:
    listed = ", ".join(map(change.dialect.quote, change.columns))
    where = f" where {condition}" if condition else ""
    return f"insert into {change.table} ({listed}) select {', '.join(change.values)} from {change.source} s{where}"


def replace_all(change: TargetChange) -> str:
    """Delete all rows; a table that foreign keys refer to cannot be truncated."""
    if change.dialect.truncates_in_transaction and not change.is_referenced:
        return f"truncate table {change.table}"
    return f"delete from {change.table}"


def upsert(change: TargetChange, condition: str = "") -> tuple[str, ...]:
    """Update rows with an equal key, insert the others; needs no unique index on the key."""
    if change.dialect.updates is Updates.MERGE:
        return tuple(_merges(change, condition))
    others = f"not exists (select 1 from {change.table} t where {change.same_key})"
    inserted = insert(change, f"{condition} and {others}" if condition else others)
    updated = _update(change, condition)
    return (updated, inserted) if updated else (inserted,)


def apply_changes(change: TargetChange) -> tuple[str, ...]:
    """Delete the rows of kind `-D`, upsert the others."""
    kind = f"s.{change.dialect.quote(ROW_KIND)}"
    deleted = f"{kind} = '{RowKind.DELETE.value}'"
    return (delete(change, deleted), *upsert(change, f"{kind} <> '{RowKind.DELETE.value}'"))


def delete(change: TargetChange, condition: str) -> str:
    conditions = " and ".join(filter(None, (change.same_key, condition, change.is_newer)))
    found = f"exists (select 1 from {change.source} s where {conditions})"
    match change.dialect.updates:
        case Updates.UPDATE_FROM:
            return f"delete from {change.table} as t where {found}"
        case Updates.UPDATE_JOIN | Updates.UPDATE_ALIAS_FROM:
            return f"delete t from {change.table} t where {found}"
        case Updates.MERGE:
            return f"delete from {change.table} t where {found}"


def rename_staging(change: TargetChange) -> Iterator[str]:
    """Make the staging table the target; its primary key is built from the rows at once."""
    yield f"alter table {change.source} rename to {change.dialect.quote(change.target[-1])}"
    if change.keys and change.has_index:
        yield f"alter table {change.table} add {_primary_key(change.dialect, change.keys)}"


def create_table(
    dialect: Dialect,
    target: tuple[str, ...],
    table: CatalogTable,
    keys: Sequence[str],
    *,
    if_missing: bool = False,
    is_keyed: bool = True,
) -> Iterator[str]:
    """The DDL of a new table: columns, NOT NULL, primary key and comments. Every column must have a type there.

    `is_keyed`: whether it gets the primary key; the key's columns are NOT NULL in any case.
    """
    folded = {key.lower() for key in keys}
    lines = [_column(dialect, column, column.name.lower() in folded) for column in table.columns]
    if keys and is_keyed:
        lines.append(_primary_key(dialect, keys))
    exists = "if not exists " if if_missing else ""
    yield f"create table {exists}{dialect.quote_path(target)} ({', '.join(lines)})"
    if dialect.name != "PostgreSQL":
        return
    name = dialect.quote_path(target)
    if table.comment:
        yield f"comment on table {name} is {dialect.text(table.comment)}"
    for column in table.columns:
        if column.comment:
            yield f"comment on column {name}.{dialect.quote(column.name)} is {dialect.text(column.comment)}"


def add_column(dialect: Dialect, target: tuple[str, ...], column: Column) -> str:
    added = _column(dialect, column, False, nullable=True)
    return dialect.add_column.format(table=dialect.quote_path(target), column=added)


def set_type(dialect: Dialect, target: tuple[str, ...], there: Column, type: DataType, is_key: bool) -> str | None:
    """The DDL that gives a column another type; None where there is none that keeps the rest of the column."""
    native = dialect.column_type(type, None, is_key)
    if dialect.set_type is None or native is None or (dialect.quotes == "``" and there.default is not None):
        return None
    if dialect.quotes == "``":  # MODIFY states the whole column
        native += "" if there.nullable else " not null"
        native += f" comment {dialect.text(there.comment)}" if there.comment else ""
    return dialect.set_type.format(table=dialect.quote_path(target), name=dialect.quote(there.name), type=native)


def _column(dialect: Dialect, column: Column, is_key: bool, nullable: bool | None = None) -> str:
    length = column.length if column.type == STRING else None
    type = dialect.column_type(column.type, length, is_key)
    is_nullable = column.nullable if nullable is None else nullable
    comment = f" comment {dialect.text(column.comment)}" if column.comment and dialect.quotes == "``" else ""
    return f"{dialect.quote(column.name)} {type}{'' if is_nullable and not is_key else ' not null'}{comment}"


def _primary_key(dialect: Dialect, keys: Sequence[str]) -> str:
    return f"primary key ({', '.join(map(dialect.quote, keys))})"


def _update(change: TargetChange, condition: str) -> str | None:
    quote = change.dialect.quote
    values = {
        column: value for column, value in zip(change.columns, change.values, strict=True) if column not in change.keys
    }
    if not values:
        return None
    conditions = [change.same_key, *filter(None, (condition, change.is_newer))]
    if change.compares:
        differs = (change.dialect.distinct.format(f"t.{quote(name)}", value) for name, value in values.items())
        conditions.append(f"({' or '.join(differs)})")
    where = " and ".join(conditions)
    plain = ", ".join(f"{quote(name)} = {value}" for name, value in values.items())
    aliased = ", ".join(f"t.{quote(name)} = {value}" for name, value in values.items())
    if change.dialect.updates is Updates.UPDATE_FROM:
        return f"update {change.table} as t set {plain} from {change.source} s where {where}"
    if change.dialect.updates is Updates.UPDATE_JOIN:
        return f"update {change.table} t join {change.source} s on {where} set {aliased}"
    return f"update t set {plain} from {change.table} t join {change.source} s on {where}"


def _merges(change: TargetChange, condition: str) -> Iterator[str]:
    """A MERGE that updates, and one that inserts: a single one would not say how many rows it did which to."""
    quote = change.dialect.quote
    pairs = list(zip(change.columns, change.values, strict=True))
    updates = ", ".join(f"t.{quote(name)} = {value}" for name, value in pairs if name not in change.keys)
    newer, is_last = change.is_newer, change.dialect.merges_with_where
    source = f"(select * from {change.source} s where {condition})" if condition else change.source
    merge = f"merge into {change.table} t using {source} s on ({change.same_key})"
    if updates:
        before = f" and {newer}" if newer and not is_last else ""
        after = f" where {newer}" if newer and is_last else ""
        yield f"{merge} {MATCHED}{before} then update set {updates}{after}"
    listed, values = ", ".join(quote(name) for name, _ in pairs), ", ".join(value for _, value in pairs)
    yield f"{merge} {NOT_MATCHED} then insert ({listed}) values ({values})"
