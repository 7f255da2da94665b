"""What a sink is: the options it takes, what it can do, and the steps by which the engine writes to it.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from catalog.diagnostics import Diagnostics
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.table import CatalogTable
from connectors.support.connector import Connector
from connectors.support.option import Option, Options, Value
from connectors.support.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

S = TypeVar("S", bound=Staged)


@dataclass(frozen=True, slots=True)
class SinkCapabilities:
    """What a sink can do; a mode that is not here is a validation error (PEN4004), never a silent no-op.

    `is_staged`: nothing of a run is visible before its commit. A sink that is not says so in `explain`.
    `fills_columns`: a column that the rows lack is the target's to fill; else it is staged as NULL. `row_kind_modes`:
    the write modes that honour row kinds (`catalog.row_kind`): where `WriteTask.table.has_row_kind`, the staged rows
    have the hidden column. Rows with kinds in any other mode are a validation error (PEN4011).
    """

    schema_save_modes: tuple[SchemaSaveMode, ...]
    data_save_modes: tuple[DataSaveMode, ...]
    write_modes: tuple[WriteMode, ...] = (WriteMode.APPEND,)
    is_staged: bool = True
    fills_columns: bool = False
    row_kind_modes: tuple[WriteMode, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class WriteTask:
    """One write: what comes in, how it is to be saved, and for which run.

    `write_id` is unique in the job and stable between runs. `owner` is what a staging place must be marked with, so
    that other runs can tell whether this one lives, and `journal` where its journal is kept. `batch_id`: the
    micro-batch of a stream, committed at most once. Where `table.has_row_kind`, the rows end in the column
    `catalog.row_kind.ROW_KIND`.
    """

    options: Options
    table: CatalogTable
    schema_save_mode: SchemaSaveMode
    data_save_mode: DataSaveMode
    write_mode: WriteMode
    run_id: str
    write_id: str
    owner: Mapping[str, Value] = field(default_factory=dict)
    journal: str = ""
    batch_id: int | None = None

    @property
    def identity(self) -> str:
        """What is committed at most once: the write of this run, and of this batch of a stream."""
        batch = "" if self.batch_id is None else f".{self.batch_id}"
        return f"{self.run_id}.{self.write_id}{batch}"

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """The columns that identify a row: the option `primary_keys`, else the incoming table's primary key."""
        key = self.table.schema.primary_key
        return self.options.strings("primary_keys") or (key.columns if key else ())


class PendingCommit(ABC):
    """A commit that has been done but for its last step: nobody sees it, and the target cannot refuse it any more."""

    @abstractmethod
    def finish(self) -> None:
        """Make it visible."""

    @abstractmethod
    def cancel(self) -> None:
        """Undo it; raises nothing."""


class Sink(Connector, Generic[S]):
    """A connector that writes, in three steps; every step can be done again without harm.

    `staged_type` is the class that its steps hand on (`Sink[TableStaged]`), and by which the journal is read again.
    """

    sink_options: ClassVar[tuple[Option, ...]]
    sink_capabilities: ClassVar[SinkCapabilities]
    staged_type: ClassVar[type[Staged]]
    required_attributes: ClassVar[tuple[str, ...]] = ("sink_options", "sink_capabilities", "staged_type")

    @abstractmethod
    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        """Errors that can be seen without the target: options against the incoming schema."""

    def default_write_mode(self, options: Options) -> WriteMode:
        """The write mode where the job names none."""
        return self.sink_capabilities.write_modes[0]

    def target(self, options: Options) -> str | None:
        """The place that the rows go to, the same text however it is written; None where there is none."""
        return None

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        """What `explain` says of a commit with these actions: where it can be seen half done, what it costs."""
        return ()

    @abstractmethod
    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """What is at the target now: whether it exists, holds rows, and its schema."""

    @abstractmethod
    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> S:
        """Say where the rows will be staged, touching nothing: the journal keeps it first, so that whatever a killed
        `stage` leaves can be aborted."""

    @abstractmethod
    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: S) -> S:
        """Write the rows where nobody sees them; returns `prepared` with what `commit` needs beside it."""

    def written(self, staged: S) -> tuple[int, int | None] | None:
        """How many rows and bytes were staged, where the sink knows it; else Spark's own counters say so."""
        return None

    def keeps_rows(self, options: Options) -> bool:
        """Whether `staged_rows` can give back all columns of the rows, in their types."""
        return False

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: S) -> "DataFrame | None":
        """The staged rows, for rules that look at all of them before the commit; asked only where `keeps_rows`."""
        return None

    @abstractmethod
    def commit(self, spark: "SparkSession", staged: S) -> None:
        """Make the staged rows the target's; idempotent, also after a kill half-way, and removes the staging."""

    def staged_jars(self, staged: S) -> tuple[str, ...]:
        """Coordinates of the jars by which another process can end the write."""
        return self.maven

    def commit_group(self, staged: S) -> str | None:
        """Writes of one group are committed together by `commit_all`, in one transaction: the name of the database, for
        instance. None: this write is committed alone."""
        return None

    def begin_commit(self, spark: "SparkSession", group: Sequence[S]) -> PendingCommit | None:
        """Do what the target might refuse (a broken constraint), before the run decides to commit: a refused run is
        rolled back. After `finish`, `commit_all` is still called, and cleans up. None: `commit_all` does everything."""
        return None

    def commit_all(self, spark: "SparkSession", group: Sequence[S]) -> None:
        """Commit the writes of one group, in the order of the job; idempotent for each of them, as `commit` is.

        A group may hold fewer writes than the first time, where the run was killed between two of its journal entries.
        """
        for staged in group:
            self.commit(spark, staged)

    def maintain(self, spark: "SparkSession", staged: S) -> None:
        """Maintenance of the target once the run has ended, such as compaction. An error here becomes a warning, since
        the rows are committed; nothing repeats it where the process is killed before."""
        return None

    @abstractmethod
    def abort(self, spark: "SparkSession", staged: S) -> None:
        """Remove what was staged, the target as it was; idempotent. Called only where `commit` was not."""


AnySink: TypeAlias = Sink[Any]
"""A sink whose staged class is known to itself only."""
