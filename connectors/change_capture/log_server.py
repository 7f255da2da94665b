"""What a database is to the reader of its log: snapshots of tables, and transactions from a position on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.table_shape import RowChange, ShapeColumn, TableShape

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Transaction:
    """The changes of a transaction by their table (`schema.table`), and where it ends in the log; without changes, how
    far the log has been read."""

    end: LogPosition
    changes: Mapping[str, Sequence[RowChange]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class TableSnapshot:
    """The rows of a table as they are at a position of the log, as tables of Arrow."""

    at: LogPosition
    shape: TableShape
    parts: "Iterator[pa.Table]"


class OpenLog(ABC):
    """A connection that reads the log. Used by one thread; raises OSError where the connection is lost."""

    @abstractmethod
    def next(self, seconds: float) -> Transaction | None:
        """The next transaction; None where none has come within so many seconds."""

    @abstractmethod
    def confirm(self, position: LogPosition) -> None:
        """What ends up to this position need not be kept; also shows the server that the connection is alive."""

    @abstractmethod
    def close(self) -> None: ...


class LogServer(ABC):
    """A database server, or one database of it, as the options of a block describe it. `place`: in messages."""

    @property
    @abstractmethod
    def place(self) -> str: ...

    @abstractmethod
    def shapes(self, tables: Sequence[str]) -> Mapping[str, TableShape]:
        """The tables as they are now; without those that do not exist."""

    @abstractmethod
    def prepare(self, tables: Sequence[str], *, is_begun: bool) -> None:
        """Have the server keep the log of these tables from now on. `is_begun`: an earlier run has done it."""

    @abstractmethod
    def snapshot(self, table: str) -> AbstractContextManager[TableSnapshot]:
        """A consistent read of a table, valid in the block."""

    @abstractmethod
    def start(self, mode: str) -> LogPosition:
        """Where reading without a snapshot starts: `latest`, `earliest`, `specific` or `timestamp`."""

    @abstractmethod
    def now(self) -> LogPosition:
        """Where the log ends now."""

    @abstractmethod
    def refuse_lost(self, table: str, start: LogPosition, confirmed: LogPosition) -> None:
        """Raise PEN5494 where the server no longer has the changes of a table after `start`. `confirmed`: up to where
        this source has allowed the server to forget its log."""

    def remember(self, table: str, columns: Sequence[tuple[str, str]]) -> None:  # noqa: B027 (not all logs need it)
        """The columns of a table, with the database's types, when its stream began."""

    @abstractmethod
    def open(self, start: LogPosition, tables: Sequence[str]) -> OpenLog:
        """Read the log from a position on."""

    @abstractmethod
    def arrow(self, values: Sequence[Any], column: ShapeColumn) -> "pa.Array":
        """Values of the log as an array of the column's type. Raises ValueError for one that the type cannot hold."""
