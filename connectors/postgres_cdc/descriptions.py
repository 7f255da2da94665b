"""Tables as PostgreSQL's catalog describes them: their columns with types of Spark, and what identifies a row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.types.datatypes import DataType
from connectors.change_capture.table_shape import ShapeColumn, TableShape
from connectors.jdbc.describe import native_type
from connectors.jdbc.known_dialects import POSTGRESQL
from connectors.postgres_cdc.pgoutput import LoggedRelation

_COLUMNS: Final = """
select n.nspname, c.relname, c.relreplident, a.attname, a.atttypid, a.atttypmod, a.attnotnull,
       obj_description(c.oid, 'pg_class'),
       coalesce((select array_position(i.indkey::int2[], a.attnum) from pg_index i
                 where i.indrelid = c.oid and i.indisprimary), -1),
       coalesce((select array_position(i.indkey::int2[], a.attnum) from pg_index i
                 where i.indrelid = c.oid and i.indisreplident), -1)
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  and (n.nspname || '.' || c.relname) = any(%s)
order by n.nspname, c.relname, a.attnum
"""
_TYPES: Final = "select oid, typname, typtype, typbasetype, typtypmod from pg_type where oid = any(%s)"
_NUMERIC: Final = ("numeric", "_numeric")


@dataclass(frozen=True, slots=True)
class TableDescription:
    """`identity`: what the log has of a row before a change: `d`, its primary key, `i`, an index, `f`, all of it, `n`,
    nothing. `identity_names`: the columns of the key or index."""

    shape: TableShape
    identity: str
    primary_key: tuple[str, ...]
    identity_names: tuple[str, ...]


class NativeTypes:
    """The types of PostgreSQL by their numbers, as they are asked for."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.known: dict[int, tuple[str, str, int, int]] = {}

    def learn(self, oids: Iterable[int]) -> None:
        missing = [oid for oid in set(oids) if oid not in self.known]
        while missing:
            rows = self.connection.execute(_TYPES, (missing,)).fetchall()
            self.known |= {oid: (name, kind, base, modifier) for oid, name, kind, base, modifier in rows}
            missing = [base for _, _, kind, base, _ in rows if kind == "d" and base not in self.known]

    def column(self, name: str, oid: int, modifier: int, *, is_nullable: bool = True) -> ShapeColumn:
        native, type = self.of(oid, modifier)
        return ShapeColumn(name, type, native, is_nullable)

    def of(self, oid: int, modifier: int) -> tuple[str, DataType]:
        """The name of a type and the type of Spark that holds its values; text where there is none."""
        name, kind, base, own = self.known.get(oid, ("unknown", "b", 0, -1))
        if kind == "d":
            return self.of(base, own if modifier < 0 else modifier)
        size, digits = _size(name, modifier)
        shown = f"{name}({size},{digits})" if name in _NUMERIC and size is not None else name
        return shown, native_type(POSTGRESQL, name, size, digits)


def describe(
    connection: Any, types: NativeTypes, tables: Sequence[str], keys: Mapping[str, tuple[str, ...]]
) -> dict[str, TableDescription]:
    """The tables that exist. `keys`: what identifies the rows of a table where the job says so."""
    rows = connection.execute(_COLUMNS, (list(tables),)).fetchall()
    types.learn(row[4] for row in rows)
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(f"{row[0]}.{row[1]}", []).append(row)
    return {table: _description(table, listed, types, keys.get(table, ())) for table, listed in found.items()}


def _description(table: str, rows: list[Any], types: NativeTypes, given: tuple[str, ...]) -> TableDescription:
    schema, name, identity, *_ = rows[0]
    columns = tuple(types.column(row[3], row[4], row[5], is_nullable=not row[6]) for row in rows)
    primary_key = _ordered(rows, 8)
    identity_names = primary_key if identity == "d" else _ordered(rows, 9) if identity == "i" else ()
    keys = given or (identity_names if identity == "i" else primary_key)
    shape = TableShape((schema, name), columns, _indexes(columns, keys, table), rows[0][7])
    return TableDescription(shape, identity, primary_key, identity_names)


def relation_shape(relation: LoggedRelation, types: NativeTypes, keys: Sequence[str]) -> TableShape:
    """The columns of a relation of the log; `keys`: what identifies its rows. Raises PEN5492 where it lacks a key."""
    types.learn(column.type for column in relation.columns)
    columns = tuple(types.column(column.name, column.type, column.modifier) for column in relation.columns)
    name = (relation.schema, relation.table)
    return TableShape(name, columns, _indexes(columns, keys, relation.text))


def _indexes(columns: Sequence[ShapeColumn], keys: Sequence[str], table: str) -> tuple[int, ...]:
    names = [column.name for column in columns]
    missing = [key for key in keys if key not in names]
    if missing:
        message = f"`{table}` has no column `{missing[0]}`, which identifies its rows"
        raise run_error("PEN5492", message, None, "was it dropped or renamed? Take a new snapshot of the table")
    return tuple(names.index(key) for key in keys)


def _ordered(rows: list[Any], place: int) -> tuple[str, ...]:
    """The names of the columns of an index, in its order."""
    return tuple(row[3] for row in sorted((row for row in rows if row[place] >= 0), key=lambda row: row[place]))


def _size(name: str, modifier: int) -> tuple[int | None, int | None]:
    if name == "bit":
        return max(modifier, 1), None
    if modifier < 4 or name not in _NUMERIC:
        return None, None
    scale = (modifier - 4) & 0x7FF
    return (modifier - 4) >> 16 & 0xFFFF, scale - 0x800 if scale & 0x400 else scale
