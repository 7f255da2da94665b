"""Reads the log of one server in a thread of the driver, for all streams of a job that read its tables.

Each transaction is decoded once and handed to the tails of its tables. Reading pauses where a table has more changes
than a micro-batch takes. What every tail has committed is confirmed to the server, after each has recorded it:

<folder of the stream's source>/read.json     up to where the server may forget its log
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread
from time import monotonic
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, RunError, TransientError
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import LogServer, OpenLog, Transaction
from connectors.change_capture.log_tail import LogTail
from connectors.change_capture.table_shape import RowChange

_CONFIRM_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 0.2
_OFFER_SECONDS: Final = 0.02
_ATTEMPTS: Final = 5
_GRACE_SECONDS: Final = 30.0
"""How long nothing is confirmed after a table has been added, where the tables that are to come are not known."""


class LogReader:
    """`expected`: the tables that share the log's reader; nothing is confirmed before all of them read it."""

    def __init__(self, server: LogServer, expected: Iterable[str], *, most_ahead: int) -> None:
        self.server = server
        self.expected = frozenset(expected)
        self.most_ahead = most_ahead
        self.tails: dict[str, LogTail] = {}
        self.changed = Condition()
        self.closing = Event()
        self.reopens = False
        self.error: PenstockError | None = None
        self.thread: Thread | None = None
        self._added = 0.0
        self._held = 0
        self._left: dict[str, LogPosition] = {}

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Confirm nothing in the block: a table is about to be added, whose changes the server must keep."""
        with self.changed:
            self._held += 1
        try:
            yield
        finally:
            with self.changed:
                self._held -= 1

    def add(self, tail: LogTail) -> None:
        """Read the changes of one more table, from the position that its tail has seen."""
        with self.changed:
            self.tails[tail.table] = tail
            self._left.pop(tail.table, None)
            self.reopens = True
            self._added = monotonic()
            tail.offer()
            self.changed.notify_all()
            if self.thread is None:
                self.thread = Thread(target=self._run, name=f"log of {self.server.place}", daemon=True)
                self.thread.start()

    def remove(self, table: str) -> bool:
        """Read a table no longer; whether it was the last one, so that the reader has ended."""
        with self.changed:
            is_last = self.tails.keys() <= {table}
            if not is_last:
                self._leave(self.tails.pop(table))
        if is_last:
            self.close()
        return is_last

    def _leave(self, tail: LogTail) -> None:
        """Have the server keep the changes of a table that is read no longer."""
        if tail.safe > tail.confirmed:
            tail.source.confirm(tail.safe)
            tail.confirmed = tail.safe
        self._left[tail.table] = tail.confirmed

    def close(self) -> None:
        self.closing.set()
        with self.changed:
            self.changed.notify_all()
        if self.thread is not None:
            self.thread.join()
        self.tails = {}

    def changes(self, tail: LogTail, start: LogPosition, end: LogPosition) -> list[RowChange]:
        """The changes of a micro-batch, once the log has been read so far. Raises the error of the reader, LookupError
        where the changes are forgotten."""
        with self.changed:
            self.changed.notify_all()
            if tail.seen < end:
                tail.reached = end if tail.reached is None else max(end, tail.reached)
            while tail.seen < end:
                self.changed.wait(_IDLE_SECONDS)
                if self.error is not None:
                    raise self.error
                if self.closing.is_set():
                    raise InterruptedError(f"the log of {self.server.place} is closed")
            found = tail.changes(start, end)
            tail.offer()
            self.changed.notify_all()
            return found

    def commit(self, tail: LogTail, end: LogPosition) -> None:
        with self.changed:
            tail.commit(end)
            tail.offer()
            self.changed.notify_all()

    def wait_until(self, tail: LogTail, end: LogPosition) -> None:
        """Wait until the log has been read up to a position. Raises the error of the reader."""
        with self.changed:
            while tail.seen < end and self.error is None and not self.closing.is_set():
                self.changed.wait(_IDLE_SECONDS)
            tail.offer(self.error)  # Spark asks once, and at once
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        failures = 0
        while not self.closing.is_set():
            before = self._positions()
            try:
                self._read()
            except (OSError, TransientError) as error:
                failures = 1 if self._positions() != before else failures + 1
                if failures >= _ATTEMPTS:
                    self._fail(error if isinstance(error, TransientError) else self._lost(error))
                    return
                self.closing.wait(min(0.5 * 2**failures, 10))
            except PenstockError as error:
                self._fail(error)
                return
            except Exception as error:  # noqa: BLE001 (of a driver, or of a log that cannot be read)
                message = f"the log of `{self.server.place}` cannot be read: {type(error).__name__}: {error}"
                failed = RunError([Diagnostic("PEN5490", message)])
                failed.__cause__ = error
                self._fail(failed)
                return

    def _lost(self, error: OSError) -> TransientError:
        message = f"the connection to the database was lost: {error} (`{self.server.place}`)"
        return TransientError([Diagnostic("PEN5012", message, None, "check that the server is running")])

    def _positions(self) -> list[LogPosition]:
        with self.changed:
            return [tail.seen for tail in self.tails.values()]

    def _fail(self, error: PenstockError) -> None:
        with self.changed:
            self.error = error
            for tail in self.tails.values():
                tail.offer(error)
            self.changed.notify_all()

    def _read(self) -> None:
        """Read until the reader is closed, or has to begin at an earlier position for another table."""
        with self.changed:
            self.reopens = False
            tails = tuple(self.tails.values())
            start = min(tail.seen for tail in tails)
        log = self.server.open(start, sorted(tail.table for tail in tails))
        try:
            self._follow(log, tails)
        finally:
            log.close()

    def _follow(self, log: OpenLog, tails: Iterable[LogTail]) -> None:
        confirmed_at = offered_at = monotonic()
        dirty: set[str] = set()
        while not self.closing.is_set() and not self.reopens:
            with self.changed:
                is_full = any(tail.ahead >= self.most_ahead for tail in self.tails.values())
            if not is_full:
                transaction = log.next(_OFFER_SECONDS if dirty else _IDLE_SECONDS)
                if transaction is not None:
                    dirty |= self._taken(transaction, tails)
            now = monotonic()
            if dirty and (is_full or transaction is None or now - offered_at >= _OFFER_SECONDS):
                self._offer(dirty)
                dirty, offered_at = set(), now
            if is_full:
                with self.changed:
                    self.changed.wait(_IDLE_SECONDS)
            if now - confirmed_at >= _CONFIRM_SECONDS:
                self._confirm(log)
                confirmed_at = now
        self._confirm(log)

    def _taken(self, transaction: Transaction, tails: Iterable[LogTail]) -> set[str]:
        """Hand a transaction to the tails that the log was opened for: of a table that was added since, the log was
        read neither from its position nor with its changes."""
        with self.changed:
            found = {
                tail.table
                for tail in tails
                if self.tails.get(tail.table) is tail
                and tail.take(transaction.end, transaction.changes.get(tail.table, ()))
            }
            self.changed.notify_all()
            return found

    def _offer(self, tables: Iterable[str]) -> None:
        with self.changed:
            for table in tables:
                if table in self.tails:
                    self.tails[table].offer()

    def _confirm(self, log: OpenLog) -> None:
        with self.changed:
            safe = {tail: tail.safe for tail in self.tails.values()}
            is_known = bool(self.expected) or monotonic() - self._added > _GRACE_SECONDS
            is_whole = is_known and self.expected <= self.tails.keys() | self._left.keys() and not self._held
            left = tuple(self._left.values())
        for tail, position in safe.items():
            if position > tail.confirmed:
                tail.source.confirm(position)
                tail.confirmed = position
        if is_whole and safe:
            log.confirm(min((*safe.values(), *left)))
