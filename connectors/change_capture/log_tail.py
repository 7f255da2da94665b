"""The changes of one table that have been read and are not committed yet, for one stream."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from catalog.diagnostics.diagnostic import PenstockError
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.offset_source import write_offer
from connectors.change_capture.stored_snapshot import SourceFolder
from connectors.change_capture.table_shape import RowChange


@dataclass(eq=False)
class LogTail:
    """`identity`: of the stream, `source`: its folder, `offers`: the file of its offers to Spark.

    `seen`: up to where the log has been read. `reached`: the end of the last micro-batch that has begun, None before
    the first one of a snapshot; `committed`: of the last one that was committed. `first`: where the log begins;
    `begins_empty`: the first offset is that before the snapshot.

    Transactions up to `committed` are forgotten. A tail is used under the lock of its reader.
    """

    table: str
    identity: str
    source: SourceFolder
    offers: str
    first: LogPosition
    reached: LogPosition | None
    committed: LogPosition
    seen: LogPosition
    confirmed: LogPosition
    begins_empty: bool = False
    transactions: deque[tuple[LogPosition, Sequence[RowChange]]] = field(default_factory=deque)
    ahead: int = 0
    offered: LogPosition | None = None

    @property
    def of(self) -> str:
        return self.source.folder

    def offer(self, error: PenstockError | None = None) -> None:
        """Tell Spark's process how far a micro-batch can go; only where that has changed."""
        latest = self.latest
        if error is None and latest == self.offered:
            return
        self.offered = latest
        first = "" if self.begins_empty else str(self.first)
        said = None if error is None else str(error)
        write_offer(self.offers, first=first, latest=str(latest), of=self.of, error=said)

    def take(self, end: LogPosition, changes: Sequence[RowChange]) -> bool:
        """Add a transaction, unless it is known; whether there is something new to read."""
        if end <= self.seen:
            return False
        self.seen = end
        if not changes:
            return False
        self.transactions.append((end, changes))
        if self.reached is None or end > self.reached:
            self.ahead += len(changes)
        return True

    @property
    def latest(self) -> LogPosition:
        """The end of the micro-batch that can begin now; where there is nothing new, of the last one."""
        if self.reached is None:
            return self.first
        last = self.transactions[-1][0] if self.transactions else self.reached
        return max(last, self.reached)

    @property
    def safe(self) -> LogPosition:
        """Up to where no change of the table will be needed again."""
        return self.committed if self.transactions else max(self.seen, self.committed)

    def changes(self, start: LogPosition, end: LogPosition) -> list[RowChange]:
        """The changes after `start` up to `end`. Raises LookupError where they are forgotten."""
        if start < self.committed:
            raise LookupError(start)
        self.reached = end if self.reached is None else max(end, self.reached)
        self.ahead = sum(len(changes) for at, changes in self.transactions if at > self.reached)
        return [change for at, changes in self.transactions if start < at <= end for change in changes]

    def commit(self, end: LogPosition) -> None:
        self.committed = max(end, self.committed)
        self.reached = end if self.reached is None else max(end, self.reached)
        while self.transactions and self.transactions[0][0] <= self.committed:
            self.transactions.popleft()
        self.ahead = sum(len(changes) for at, changes in self.transactions if at > self.reached)
