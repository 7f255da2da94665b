"""Two small tables of Penstock's in each database that it writes to.

penstock_commits   the writes that are committed: a commit inserts its row in its own transaction
penstock_staging   the writes in progress: staging tables, with the process and run that they belong to; also the
                   partitions that PostgreSQL's COPY has loaded, each committed with its rows
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from catalog.diagnostics.diagnostic import RunError
from connectors.jdbc.database import Database
from connectors.jdbc.describe import describe_table
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.writing.jdbc_staged import JdbcStaged

COMMITS: Final = "penstock_commits"
STAGING: Final = "penstock_staging"
OWN_TABLES: Final = (COMMITS, STAGING)


def ensure(database: Database) -> None:
    """Create the two tables if they are missing."""
    dialect = database.dialect
    text = dialect.id_type
    long = dialect.types["string"]
    columns = {
        COMMITS: f"identity {text} not null primary key, run_id {text} not null, committed_at {text} not null",
        STAGING: f"identity {text} not null primary key, run_id {text} not null, target {text} not null, staged {long}",
    }
    for name, listed in columns.items():
        if describe_table(database, (name,)) is None:
            try:
                database.execute(f"create table {dialect.quote(name)} ({_quoted(database, listed)})")
            except RunError:
                if describe_table(database, (name,)) is None:  # not created by another run at the same moment
                    raise


def is_committed(database: Database, staged: JdbcStaged) -> bool:
    if describe_table(database, (COMMITS,)) is None:
        return False
    quote, text = database.dialect.quote, database.dialect.text
    query = f"select count(*) from {quote(COMMITS)} where {quote('identity')} = {text(staged.identity)}"
    return database.value(query) != "0"


def commit_statement(database: Database, staged: JdbcStaged, now: str) -> str:
    """Records the commit; fails where it is recorded already."""
    quote, text = database.dialect.quote, database.dialect.text
    values = ", ".join(map(text, (staged.identity, staged.run_id, now)))
    columns = ", ".join(map(quote, ("identity", "run_id", "committed_at")))
    return f"insert into {quote(COMMITS)} ({columns}) values ({values})"


def register(database: Database, staged: JdbcStaged) -> None:
    """Record a write before anything is staged for it."""
    quote, text = database.dialect.quote, database.dialect.text
    forget(database, staged)
    values = ", ".join(map(text, (staged.entry, staged.run_id, staged.target_name, json.dumps(staged.to_json()))))
    columns = ", ".join(map(quote, ("identity", "run_id", "target", "staged")))
    database.execute(f"insert into {quote(STAGING)} ({columns}) values ({values})")


def forget(database: Database, staged: JdbcStaged) -> None:
    quote, text = database.dialect.quote, database.dialect.text
    if describe_table(database, (STAGING,)) is not None:
        database.execute(f"delete from {quote(STAGING)} where {quote('identity')} = {text(staged.entry)}")


def others(database: Database, staged: JdbcStaged) -> Iterator[JdbcStaged]:
    """The writes to the same target that are in progress or were killed: of other runs, and of earlier attempts of
    this one."""
    quote, text = database.dialect.quote, database.dialect.text
    query = (
        f"select {quote('staged')} from {quote(STAGING)} where {quote('target')} = {text(staged.target_name)} "
        f"and {quote('identity')} <> {text(staged.entry)}"
    )
    for row in database.query(query):
        with suppress(RunError):  # of another version of Penstock, which must end it
            other = JdbcStaged.from_json(json.loads(str(row[0])))
            if (other.run_id, other.journal) != (staged.run_id, staged.journal):
                yield other


def drop_staging(database: Database, staged: JdbcStaged) -> None:
    """Drop the staging table, then delete the records of its partitions."""
    if describe_table(database, staged.staging) is not None:
        database.execute(f"drop table {database.dialect.quote_path(staged.staging)}")
    quote, text = database.dialect.quote, database.dialect.text
    if describe_table(database, (STAGING,)) is not None:
        database.execute(f"delete from {quote(STAGING)} where {quote('target')} = {text(_loads_of(staged.staging))}")


def partition_statement(dialect: Dialect, staging: tuple[str, ...], partition: str) -> str:
    """Records that a partition is in the staging table, in the transaction that loads it; yields no row where it is
    there already, and waits for another task that is loading it. In PostgreSQL's SQL."""
    quote, text = dialect.quote, dialect.text
    values = ", ".join(map(text, (f"{_loads_of(staging)} {partition}", staging[-1], _loads_of(staging))))
    columns = ", ".join(map(quote, ("identity", "run_id", "target")))
    return (
        f"insert into {quote(STAGING)} ({columns}) values ({values}) on conflict do nothing "
        f"returning {quote('identity')}"
    )


def _loads_of(staging: tuple[str, ...]) -> str:
    """The key of loaded partitions in place of a target: no table name has this many parts."""
    return f"{staging[-1]}.loaded.by.partition"


def _quoted(database: Database, columns: str) -> str:
    """`name type, …` with each name quoted."""
    named = (column.split(" ", 1) for column in columns.split(", "))
    return ", ".join(f"{database.dialect.quote(name)} {rest}" for name, rest in named)
