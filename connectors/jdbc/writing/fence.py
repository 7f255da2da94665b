"""One process at a time commits or removes the writes of a run in one database, and only the one that has its claim.

PostgreSQL, MySQL, MariaDB    a named lock of the session or transaction; a process that was paused or cut off holds it
                              as long as its session lasts, so the next one has the server end that session
all but PostgreSQL            the run's rows in `penstock_staging`, locked by the transaction

A process that wakes up finds its session ended, or gets the lock when all is done, and then has no claim.
"""

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.commits.run_folder import run_folder_of
from connectors.interface.run_context import RunContext
from connectors.jdbc.database import Database
from connectors.jdbc.dialect import RunLock
from connectors.jdbc.writing import ledger
from connectors.jdbc.writing.jdbc_staged import JdbcStaged

_PAUSE_SECONDS: Final = 0.05
_HELD: Final = ("1", "t", "true")
"""What drivers return for a lock that was acquired."""


@contextmanager
def only_process(database: Database, group: Sequence[JdbcStaged], run: RunContext | None) -> Iterator[None]:
    """Keep other processes out of these writes of one run, also while statements commit by themselves; for a database
    that locks in a transaction, `begin` does. Raises PEN5401 if another process has taken the run over."""
    lock = database.dialect.run_lock
    if lock is None or lock.is_of_transaction or not _wait(database, lock, group, run):
        yield
        return
    check_claim(run)
    try:
        yield
    finally:
        _release(database, lock, group)


def begin(database: Database, group: Sequence[JdbcStaged], run: RunContext | None, isolation: str | None) -> None:
    """Begin a transaction that locks these writes of one run. Raises PEN5401 if another process has taken it over, and
    PEN5264 if one still holds the lock."""
    lock = database.dialect.run_lock
    try:
        is_locked = lock is not None and lock.is_of_transaction and _wait(database, lock, group, run, isolation)
        if not is_locked:
            database.begin(isolation)
            ledger.lock(database, group)
        check_claim(run)
    except BaseException:
        database.rollback()
        raise


def expel(database: Database, staged: JdbcStaged, run: RunContext | None) -> None:
    """End the session of a process that has lost the run while it commits: from here on it cannot. A process that has
    lost the run itself only waits for the one that has taken over."""
    lock = database.dialect.run_lock
    if lock is None or not _wait(database, lock, [staged], run, is_owner=False):
        return
    if lock.is_of_transaction:
        database.rollback()
    else:
        _release(database, lock, [staged])


def check_claim(run: RunContext | None) -> None:
    if run is not None:
        run.check_claim()


def _wait(
    database: Database,
    lock: RunLock,
    group: Sequence[JdbcStaged],
    run: RunContext | None,
    isolation: str | None = None,
    *,
    is_owner: bool = True,
) -> bool:
    """Acquire the lock; a session that holds it is of a process that has lost the run, and is ended. `is_owner`: only
    the owner of the run may have the lock (PEN5401). False where the server has no such locks, as some clusters."""
    name = database.dialect.text(_name_of(group))
    key = _key_of(group)
    until = time.monotonic() + max(staged.lock_timeout_seconds for staged in group)
    while True:
        if lock.is_of_transaction:
            database.begin(isolation)
        try:
            is_held = str(database.value(lock.acquire.format(name=name, key=key))).lower() in _HELD
        except RunError as error:
            database.rollback()
            if any(said.code != "PEN5013" for said in error.diagnostics):
                raise
            return False
        if is_held:
            return True
        if lock.is_of_transaction:
            database.rollback()
        if time.monotonic() > until:
            raise _held(group)
        if is_owner:
            check_claim(run)
        if _owns(run):  # else the session is of the process that has taken over
            _end_holder(database, lock, name, key)
        time.sleep(_PAUSE_SECONDS)


def _owns(run: RunContext | None) -> bool:
    try:
        check_claim(run)
    except RunError:
        return False
    return True


def _release(database: Database, lock: RunLock, group: Sequence[JdbcStaged]) -> None:
    with suppress(RunError):  # the end of the session releases it as well
        database.query(lock.release.format(name=database.dialect.text(_name_of(group))))


def _end_holder(database: Database, lock: RunLock, name: str, key: int) -> None:
    with suppress(RunError):  # it has ended meanwhile, or is another user's: then it is waited for
        for (session,) in database.query(lock.holder.format(name=name, key=key)):
            if session is not None:
                database.query(lock.end.format(session=session))


def _held(group: Sequence[JdbcStaged]) -> RunError:
    run_id, targets = group[0].run_id, ", ".join(f"`{staged.target_name}`" for staged in group)
    message = f"a session of another process holds the commit of run `{run_id}` to {targets}, and could not be ended"
    help = f"end that process or its session, then `penstock run --resume {run_id}`"
    return run_error("PEN5264", message, None, help)


def _name_of(group: Sequence[JdbcStaged]) -> str:
    return f"penstock {_digest(group)[:40]}"


def _key_of(group: Sequence[JdbcStaged]) -> int:
    """A positive number of 63 bits."""
    return int(_digest(group)[:16], 16) >> 1


def _digest(group: Sequence[JdbcStaged]) -> str:
    """The run and its database: all writes of a run to one database are committed together."""
    first = group[0]
    run = run_folder_of(first.journal) or first.run_id
    return hashlib.sha256(f"{run} {first.url} {first.user or ''}".encode()).hexdigest()
