"""A SQLite file with one table, `data`, the types of its columns, and the writes that it has committed."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from connectors.interface import BINARY, BOOLEAN, DOUBLE, FLOAT, INTEGRAL_TYPES, STRING, Column, parse_type

AS_THEY_ARE = {BOOLEAN, DOUBLE, FLOAT, STRING, BINARY, *INTEGRAL_TYPES}
"""The types whose values SQLite stores; values of other types are stored as text."""


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection without open transaction: each statement is its own, unless one begins with BEGIN."""
    database = sqlite3.connect(path, isolation_level=None, timeout=60)
    try:
        yield database
    finally:
        database.close()


def columns_in(database: sqlite3.Connection) -> tuple[Column, ...]:
    return tuple(Column(name, parse_type(kind)) for name, kind in database.execute("select * from columns"))


def table_in(path: str) -> tuple[Column, ...] | None:
    """The columns of the table in a file; None if there is no such file."""
    if not os.path.exists(path):
        return None
    with opened(path) as database:
        return columns_in(database)


def create_table(database: sqlite3.Connection, columns: Sequence[tuple[str, str]]) -> None:
    database.execute("drop table if exists data")
    database.execute("drop table if exists columns")
    database.execute(f"create table data ({', '.join(quoted(name) for name, _ in columns)})")
    database.execute("create table columns (name, type)")
    database.executemany("insert into columns values (?, ?)", columns)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
