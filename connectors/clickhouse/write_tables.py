"""Stages rows in a table next to the target, and makes them the target's.

    <table>__penstock_<digest>    the staged rows, of the target's structure; its comment names the write

A new table is the renamed staging table, and replaced rows are exchanged with it: both in one step. Added rows move
partition by partition: each is there at once, and a repeated commit moves those that are left.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Options
from catalog.tables.savemode import Action, WriteMode
from catalog.types.typenames import parse_type
from connectors.clickhouse.clickhouse_types import identifier, literal, written_type
from connectors.interface.row_sink import RowWrite

_MARK: Final = "penstock write {}"
_NEW: Final = (Action.CREATE, Action.DROP_AND_CREATE)


@dataclass(frozen=True, slots=True)
class Target:
    """The target, and the table of its staged rows."""

    database: str
    table: str
    staging: str

    @property
    def sql(self) -> str:
        return f"{identifier(self.database)}.{identifier(self.table)}"

    @property
    def staging_sql(self) -> str:
        return f"{identifier(self.database)}.{identifier(self.staging)}"


def target_of(options: Options, identity: str) -> Target:
    database, _, table = options.string("table").rpartition(".")
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    return Target(database or options.string("database"), table, f"{table}__penstock_{digest}")


def engine_of(client: Any, database: str, table: str) -> str | None:
    """The engine of a table; None where there is none."""
    where = f"database = {literal(database)} AND name = {literal(table)}"
    rows = client.query(f"SELECT engine FROM system.tables WHERE {where}").result_rows
    return str(rows[0][0]) if rows else None


def create_staging(client: Any, target: Target, write: RowWrite) -> None:
    """A new table takes NULL in all columns but those of its key."""
    mark = literal(_MARK.format(write.identity))
    if set(_NEW) & set(write.actions):
        keys = write.primary_keys
        definition = ", ".join(_column(name, text, keys) for name, text in write.types.items())
        order = f"({', '.join(map(identifier, keys))})" if keys else "tuple()"
        engine = f"({definition}) ENGINE = {write.options.string('engine')} ORDER BY {order}"
    else:
        engine = f"AS {target.sql}"
    client.command(f"CREATE TABLE IF NOT EXISTS {target.staging_sql} {engine} COMMENT {mark}")


def drop_staging(client: Any, target: Target) -> None:
    client.command(f"DROP TABLE IF EXISTS {target.staging_sql} SYNC")


def publish(client: Any, target: Target, write: RowWrite) -> None:
    """Make the staged rows the target's; a repeated call does the rest of what a killed one has not done."""
    if _is_published(client, target, write) or engine_of(client, target.database, target.staging) is None:
        return
    actions = set(write.actions)
    exists = engine_of(client, target.database, target.table) is not None
    if Action.CREATE in actions and not exists:
        client.command(f"RENAME TABLE {target.staging_sql} TO {target.sql}")
    elif {Action.DROP_AND_CREATE, Action.REPLACE_ROWS} & actions:
        client.command(f"EXCHANGE TABLES {target.staging_sql} AND {target.sql}")
    else:
        _add(client, target, write)


def _add(client: Any, target: Target, write: RowWrite) -> None:
    engine = engine_of(client, target.database, target.table) or ""
    if write.write_mode is WriteMode.UPSERT:
        keys = ", ".join(map(identifier, write.primary_keys))
        found = f"({keys}) IN (SELECT {keys} FROM {target.staging_sql})"
        client.command(f"DELETE FROM {target.sql} WHERE {found} SETTINGS mutations_sync = 2")
    if not engine.endswith("MergeTree") or engine.startswith("Replicated"):
        client.command(f"INSERT INTO {target.sql} SELECT * FROM {target.staging_sql}")
        return
    for partition in _partitions(client, target):
        moved = f"MOVE PARTITION ID {literal(partition)} TO TABLE {target.sql}"
        client.command(f"ALTER TABLE {target.staging_sql} {moved}")


def _partitions(client: Any, target: Target) -> Sequence[str]:
    where = f"database = {literal(target.database)} AND table = {literal(target.staging)} AND active"
    rows = client.query(f"SELECT DISTINCT partition_id FROM system.parts WHERE {where} ORDER BY 1").result_rows
    return [str(row[0]) for row in rows]


def _is_published(client: Any, target: Target, write: RowWrite) -> bool:
    """Whether the target is the renamed or exchanged staging table of this write."""
    where = f"database = {literal(target.database)} AND name = {literal(target.table)}"
    rows = client.query(f"SELECT comment FROM system.tables WHERE {where}").result_rows
    return bool(rows) and rows[0][0] == _MARK.format(write.identity)


def _column(name: str, text: str, keys: Sequence[str]) -> str:
    type = written_type(parse_type(text), nullable=name not in keys)
    if type is None:
        raise run_error("PEN5005", f"ClickHouse has no type for the column `{name}` of type {text}", None, "cast it")
    return f"{identifier(name)} {type}"
