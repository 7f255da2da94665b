"""Two small tables of Penstock's in each database that it writes to.

penstock_commits   the writes that are committed: a commit inserts its row in its own transaction
penstock_staging   the writes in progress: staging tables, with the process and run that they belong to; also the
                   partitions that PostgreSQL's COPY has loaded, each committed with its rows
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from catalog.diagnostics.diagnostic import RunError
from connectors.commits.marks import MarkState, WriteMark, refuse_other_work, replaced
from connectors.commits.micro_batches import KEPT, MicroBatch
from connectors.jdbc.database import Database
from connectors.jdbc.describe import describe_table
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.writing.jdbc_staged import JdbcStaged

COMMITS: Final = "penstock_commits"
STAGING: Final = "penstock_staging"
_LOCK_TIMEOUT: Final = re.compile(r"due to lock timeout|Lock wait timeout exceeded")
"""What PostgreSQL and MariaDB say."""

OWN_TABLES: Final = (COMMITS, STAGING)

_LISTED: Final = 500
"""The most values of one list: Oracle takes 1,000."""
_WORK: Final = "work"
_INCARNATION: Final = "incarnation"
_ADDED: Final = (_WORK, _INCARNATION)
"""Columns that ledgers of earlier versions lack: what the write stands for, and which table it was written to."""


def ensure(database: Database) -> None:
    """Create the two tables if they are missing."""
    dialect = database.dialect
    text = dialect.id_type
    long = dialect.types["string"]
    columns = {
        COMMITS: f"identity {text} not null primary key, run_id {text} not null, committed_at {text} not null, "
        f"{_WORK} {text}, {_INCARNATION} {text}",
        STAGING: f"identity {text} not null primary key, run_id {text} not null, target {text} not null, staged {long}",
    }
    for name, listed in columns.items():
        table = describe_table(database, (name,))
        if name == COMMITS and table is not None:
            _add_columns(database, [column for column in _ADDED if table.column(column) is None])
        if table is None:
            try:
                database.execute(f"create table {dialect.quote(name)} ({_quoted(database, listed)})")
            except RunError:
                if describe_table(database, (name,)) is None:  # not created by another run at the same moment
                    raise


def _add_columns(database: Database, names: Sequence[str]) -> None:
    """Add what a ledger of an earlier version of Penstock lacks."""
    dialect = database.dialect
    for name in names:
        added = dialect.add_column.format(
            table=dialect.quote(COMMITS), column=f"{dialect.quote(name)} {dialect.id_type}"
        )
        try:
            database.execute(added)
        except RunError:
            found = describe_table(database, (COMMITS,))
            if found is None or found.column(name) is None:  # not added by another run at the same moment
                raise


def is_committed(database: Database, staged: JdbcStaged) -> bool:
    """Whether the ledger has the write. Raises PEN5221 where its row stands for other work."""
    return is_of_write(mark(database, staged.identity, staged.target), staged)


def is_of_write(found: WriteMark, staged: JdbcStaged) -> bool:
    """Whether the mark shows the write. Raises PEN5221 where it stands for other work."""
    if found.state is MarkState.ABSENT:
        return False
    refuse_other_work(staged.run_id, staged.target_name, found.work, staged.work)
    return True


def mark(database: Database, identity: str, target: tuple[str, ...], batch: MicroBatch | None = None) -> WriteMark:
    """What the ledger says of a write. Raises PEN5222 where its target was dropped and created anew since."""
    table = describe_table(database, (COMMITS,))
    if table is None:
        return WriteMark(MarkState.ABSENT)
    quote, text = database.dialect.quote, database.dialect.text
    columns = [name for name in _ADDED if table.column(name) is not None]
    listed = ", ".join(map(quote, ("identity", *columns)))
    rows = database.query(f"select {listed} from {quote(COMMITS)} where {quote('identity')} = {text(identity)}")
    for row in rows:
        work, then = (str(value or "") for value in (*row[1:], *([""] * (2 - len(columns)))))
        if then and then != incarnation(database, target) and describe_table(database, target) is not None:
            raise replaced(".".join(target), identity)
        return WriteMark(MarkState.FOUND, work)
    return WriteMark(MarkState.ABSENT) if batch is None else batch.mark_by(_of_stream(database, batch))


def _of_stream(database: Database, batch: MicroBatch) -> list[str]:
    """The writes in the ledger whose identities begin as those of the stream."""
    quote, text = database.dialect.quote, database.dialect.text
    pattern = text(f"{batch.stream}.%")
    rows = database.query(f"select {quote('identity')} from {quote(COMMITS)} where {quote('identity')} like {pattern}")
    return [str(row[0]) for row in rows]


def forget_earlier(database: Database, batch: MicroBatch) -> None:
    """Delete the row of the micro-batch that no process can ask for any more."""
    quote, text = database.dialect.quote, database.dialect.text
    earlier = text(batch.identity_of(batch.number - KEPT))
    database.execute(f"delete from {quote(COMMITS)} where {quote('identity')} = {earlier}")


def incarnation(database: Database, target: tuple[str, ...]) -> str | None:
    """What identifies the table as long as it is not dropped and created anew; None where the database has no such
    id."""
    query = database.dialect.incarnation
    return None if query is None else database.value(_of_table(database, query, target))


def _of_table(database: Database, query: str, target: tuple[str, ...]) -> str:
    return query.format(table=database.dialect.text(database.dialect.quote_path(target)))


def forget_commit(database: Database, staged: JdbcStaged) -> None:
    """Delete the row of a write whose target is gone."""
    quote, text = database.dialect.quote, database.dialect.text
    database.execute(f"delete from {quote(COMMITS)} where {quote('identity')} = {text(staged.identity)}")


def commit_statement(database: Database, staged: JdbcStaged, now: str) -> str:
    """Records the commit; fails where it is recorded already."""
    quote, text = database.dialect.quote, database.dialect.text
    values = ", ".join(map(text, (staged.identity, staged.run_id, now, staged.work)))
    columns = ", ".join(map(quote, ("identity", "run_id", "committed_at", _WORK)))
    if (query := database.dialect.incarnation) is not None:
        values, columns = (
            f"{values}, ({_of_table(database, query, staged.target)})",
            f"{columns}, {quote(_INCARNATION)}",
        )
    return f"insert into {quote(COMMITS)} ({columns}) values ({values})"


def register(database: Database, staged: JdbcStaged) -> None:
    """Record a write before anything is staged for it."""
    quote, text = database.dialect.quote, database.dialect.text
    forget(database, staged)
    values = ", ".join(map(text, (staged.entry, staged.run_id, staged.target_name, json.dumps(staged.to_json()))))
    columns = ", ".join(map(quote, ("identity", "run_id", "target", "staged")))
    database.execute(f"insert into {quote(STAGING)} ({columns}) values ({values})")


def lock(database: Database, group: Sequence[JdbcStaged]) -> None:
    """Lock the rows of these writes until the end of the transaction."""
    quote, text = database.dialect.quote, database.dialect.text
    run_id = quote("run_id")
    for start in range(0, len(group), _LISTED):
        entries = ", ".join(text(staged.entry) for staged in group[start : start + _LISTED])
        database.execute(f"update {quote(STAGING)} set {run_id} = {run_id} where {quote('identity')} in ({entries})")


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


def drop_staging(database: Database, staged: JdbcStaged, *, waits: bool = False) -> bool:
    """Drop the staging table, then delete the records of its partitions; False if another session uses the table, and
    is not to be waited for."""
    if describe_table(database, staged.staging) is not None and not _dropped(database, staged, waits=waits):
        return False
    quote, text = database.dialect.quote, database.dialect.text
    if describe_table(database, (STAGING,)) is not None:
        database.execute(f"delete from {quote(STAGING)} where {quote('target')} = {text(_loads_of(staged.staging))}")
    return True


def _dropped(database: Database, staged: JdbcStaged, *, waits: bool) -> bool:
    drop = f"drop table {database.dialect.quote_path(staged.staging)}"
    limit = None if waits else database.dialect.ddl_timeout
    try:
        if limit is None:
            database.execute(drop)
        else:
            with database.transaction():
                database.execute(limit)
                database.execute(drop)
    except RunError as error:
        if limit is None or not _LOCK_TIMEOUT.search(str(error)):
            raise
        return False
    return True


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
