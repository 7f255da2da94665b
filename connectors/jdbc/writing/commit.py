"""Commit staged writes of one database in one transaction, or remove what they staged."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from catalog.tables.savemode import Action
from connectors.commits.commit_errors import rows_are_gone
from connectors.interface.run_context import RowChanges, RunContext
from connectors.interface.sink_abilities import PendingCommit
from connectors.jdbc.database import Database, connect, connected
from connectors.jdbc.describe import describe_table
from connectors.jdbc.writing import fence, ledger
from connectors.jdbc.writing.jdbc_staged import JdbcStaged
from connectors.jdbc.writing.statements import NOT_MATCHED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def commit_group(
    spark: "SparkSession",
    group: Sequence[JdbcStaged],
    run: RunContext | None = None,
    done: Callable[[], None] | None = None,
) -> None:
    """One transaction for all writes that are not committed yet; then `done` is called, and the staging tables are
    removed."""
    with connected(spark, group[0].connection) as database:
        ledger.ensure(database)  # also where an earlier version of Penstock staged the rows
        with fence.only_process(database, group, run):
            due = [staged for staged in group if not ledger.is_committed(database, staged)]
            for staged in due:
                _check_is_there(database, staged)
            for staged in due:
                for statement in (*staged.before, *_evolution(database, staged, in_transaction=False)):
                    fence.check_claim(run)
                    database.execute(statement)
            if due:
                fence.begin(database, due, run, _isolation_of(due))
                with database.ended_transaction():
                    _move_rows(database, _uncommitted(database, due), run)
            if done is not None:
                done()
            for staged in group:
                remove_staging(database, staged)


def begin_commit(
    spark: "SparkSession", group: Sequence[JdbcStaged], run: RunContext | None = None
) -> PendingCommit | None:
    """Run the transaction up to its COMMIT; None if the database's DDL would commit it early."""
    has_early_ddl = not group[0].connection.dialect.has_transactional_ddl
    if any(staged.before or (has_early_ddl and (staged.added or staged.widened)) for staged in group):
        return None
    database = connect(spark, group[0].connection)
    locked = ExitStack()
    try:
        locked.enter_context(fence.only_process(database, group, run))
        fence.begin(database, group, run, _isolation_of(group))
        _move_rows(database, _uncommitted(database, group), run)
    except BaseException:
        database.rollback()
        locked.close()
        database.close()
        raise
    return _OpenTransaction(database, locked)


class _OpenTransaction(PendingCommit):
    """`locked`: what keeps other processes out, to be closed after the transaction."""

    def __init__(self, database: Database, locked: ExitStack) -> None:
        self.database = database
        self.locked = locked

    def finish(self) -> None:
        try:
            self.database.commit()
            self.locked.close()
        finally:
            self.database.close()

    def cancel(self) -> None:
        self.database.rollback()
        self.locked.close()
        self.database.close()


def abort(spark: "SparkSession", staged: JdbcStaged, run: RunContext | None = None) -> None:
    """Drop the staging table, and forget the write, once no other process can commit it; idempotent."""
    with connected(spark, staged.connection) as database:
        fence.expel(database, staged, run)
        remove_staging(database, staged)


def _isolation_of(group: Sequence[JdbcStaged]) -> str | None:
    return next((staged.isolation for staged in group if staged.isolation), None)


def _uncommitted(database: Database, group: Sequence[JdbcStaged]) -> list[JdbcStaged]:
    return [staged for staged in group if not ledger.is_committed(database, staged)]


def remove_staging(database: Database, staged: JdbcStaged) -> None:
    """Drop the staging table, and forget the write; idempotent. A table that tasks of a process which was paused or cut
    off still load is left, with its entry: the next write to the target removes it."""
    if ledger.drop_staging(database, staged):
        ledger.forget(database, staged)


def _move_rows(database: Database, due: Sequence[JdbcStaged], run: RunContext | None = None) -> None:
    """Run all statements of the writes, and insert a row into the ledger for each. Constraints that the database would
    check at COMMIT are checked at the end: the run can still be rolled back then."""
    _limit_waiting(database, due)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    for staged in due:
        for statement in _evolution(database, staged, in_transaction=True):
            database.execute(statement)
        changed = [(statement, database.execute(statement)) for statement in staged.statements]
        if run is not None and _merges(staged.actions):
            _record_changes(run, staged.identity, changed)
        database.execute(ledger.commit_statement(database, staged, now))
        if (batch := staged.micro_batch) is not None:
            ledger.forget_earlier(database, batch)
    if due and (check := database.dialect.check_deferred) is not None:
        database.execute(check)


def _merges(actions: Sequence[str]) -> bool:
    """Whether all statements of a write are those of an upsert or of changes, in place of a user's own."""
    return bool({Action.UPSERT_ROWS.value, Action.APPLY_CHANGES.value} & set(actions)) and not (
        {Action.RUN_CUSTOM_SQL.value, Action.CREATE.value, Action.DROP_AND_CREATE.value} & set(actions)
    )


def _record_changes(run: RunContext, identity: str, changed: Sequence[tuple[str, int]]) -> None:
    """Count rows by what the statement does; not where a driver does not report them, or one statement does all."""
    counts = dict.fromkeys(_VERBS, 0)
    for text, count in changed:
        verb = verb_of(text)
        if verb is None or count < 0:
            return
        counts[verb] += count
    run.changes[identity] = RowChanges(*counts.values())


def verb_of(statement: str) -> str | None:
    """Whether a statement of a merge inserts, updates or deletes rows; None for another one."""
    if statement.startswith("merge"):
        return "insert" if f" {NOT_MATCHED} then insert " in statement else "update"
    return next((verb for verb in _VERBS if statement.startswith(verb)), None)


_VERBS: Final = ("insert", "update", "delete")


def _check_is_there(database: Database, staged: JdbcStaged) -> None:
    if describe_table(database, staged.staging) is None:
        raise rows_are_gone(staged.run_id, staged.target_name, f"the table {'.'.join(staged.staging)}")


def _evolution(database: Database, staged: JdbcStaged, in_transaction: bool) -> list[str]:
    """The changes of the target's columns: those that it lacks still, and wider types, which can be set again."""
    if database.dialect.has_transactional_ddl is not in_transaction:
        return []
    table = describe_table(database, staged.target) if staged.added else None
    added = (staged.added or {}).items()
    missing = [statement for name, statement in added if table is None or table.column(name) is None]
    return [*missing, *staged.widened]


def _limit_waiting(database: Database, due: Sequence[JdbcStaged]) -> None:
    """Fail if another transaction holds the target's locks for too long."""
    statement = database.dialect.lock_timeout
    if statement is not None and due:
        seconds = max(staged.lock_timeout_seconds for staged in due)
        database.execute(statement.format(seconds=seconds, milliseconds=seconds * 1000))
