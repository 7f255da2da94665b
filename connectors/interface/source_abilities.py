"""What a source can do beyond reading one table: it also subclasses these, and the engine asks `isinstance`.

class Orders(Source, SupportsIncremental, SupportsStreaming): ...
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar

from catalog.diagnostics.diagnostic import Diagnostics, PenstockError
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from connectors.interface.incremental import NewRows, Since, incremental_of, new_rows
from connectors.interface.run_context import RunContext
from connectors.interface.source import ScanTask, Source
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

P = TypeVar("P", bound=Staged)


class SupportsTableSets(ABC):
    """One block may mean several tables that can be listed without Spark, such as the folders that match a pattern."""

    @abstractmethod
    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        """One block for each table, with `schema.table`; None if the block is one table. `tables` and `read` are called
        for each of them."""


class SupportsTablePatterns(ABC):
    """One block may mean all tables of a database or catalog whose path matches a pattern. Which these are,
    `penstock schema sync` asks and records; `validate` and `run` read the record."""

    @abstractmethod
    def table_pattern(self, options: Options) -> re.Pattern[str] | None:
        """The pattern; None if the block is one table."""

    @abstractmethod
    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        """The paths of the tables that match `table_pattern` now."""

    @abstractmethod
    def of_table(self, options: Options, path: str) -> Options:
        """The block as one of the tables that match `table_pattern`."""


class SupportsUntypedColumns(ABC):
    """The data may have columns without types, or columns that are not visible before the run."""

    @abstractmethod
    def is_untyped(self, options: Options) -> bool:
        """Whether its columns have no types unless `infer_schema` determines them from the rows."""

    @abstractmethod
    def has_unseen_columns(self, options: Options) -> bool:
        """Whether the rows may have columns that neither the options nor the data show before the run."""


class SupportsSizeEstimate(ABC):
    """The size of the input can be estimated without Spark: small jobs start with fewer tasks and a smaller JVM."""

    @abstractmethod
    def input_bytes(self, options: Options, table: CatalogTable) -> int | None:
        """About how many bytes a read of the table parses or makes; None where only Spark or a network could tell."""


@dataclass(frozen=True, slots=True)
class ConnectionLimit:
    """A limit that a job sets for the system at a `place` (`max_connections`): the `most` connections at once, and how
    many the read has partitions (None: it is not known before the run)."""

    place: str
    most: int
    wanted: int | None = None


class SupportsConnectionLimit(ABC):
    """A job may limit the connections to the system that is read."""

    @abstractmethod
    def connection_limit(self, options: Options) -> ConnectionLimit | None:
        """How many connections may be open at once; None where the job sets no limit."""


class SupportsIncremental(ABC):
    """Has the option `incremental` (`INCREMENTAL`): a run reads only what earlier runs have not read."""

    @abstractmethod
    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """As of `Source`."""

    def own_order(self, options: Options) -> Column | None:
        """The order in which rows arrive by themselves, for `incremental` without a column; None where there is none.
        It need not be a column of the rows: files have a modification time."""
        return None

    def repeats_within_lag(self, options: Options) -> bool:
        """Whether `lag` reads rows again. Not of files that arrive: it says how long their names are remembered."""
        return True

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        """What `read` gives of the rows that are new `since` then; by default those past the watermark of a column."""
        asked = incremental_of(task.options)
        assert asked is not None, "is called where the job asks for it"
        return new_rows(self.read(spark, task), asked, since)


class SupportsHeldPosition(ABC):
    """Shows whether its rows have changed: a continued run (`run --resume ID --continue`) does not read again what an
    earlier attempt has staged."""

    @abstractmethod
    def held_position(self, spark: "SparkSession", options: Options) -> str | None:
        """Where a read that begins now stands, such as the version of a table or the files of a directory: equal texts
        mean equal rows. None where that is not known."""


class SupportsStreaming(ABC):
    """A streaming job reads what is added, unless the option `stream` (`STREAM`) of the block is false."""

    @abstractmethod
    def stream_identity(self, options: Options) -> str:
        """What a checkpoint belongs to: a stream of another identity cannot go on from it."""

    @abstractmethod
    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """A streaming DataFrame of what arrives; `is_new`: no checkpoint says where to start."""

    def stream_obstacle(self, options: Options) -> str | None:
        """Why a block with these options cannot be read as a stream; None where it can."""
        return None

    def is_same_stream(self, before: str, now: str) -> bool:
        """Whether offsets of the stream with the identity `before` mean the same in that with the identity `now`."""
        return before == now

    def stream_incarnations(self, spark: "SparkSession", options: Options) -> Mapping[str, str]:
        """What identifies each topic that is read, by its name, as long as it is not deleted and made anew: offsets of
        a checkpoint mean nothing in another one. Empty where there are no such ids."""
        return {}

    def offsets_still_read(self, options: Options, offsets: str) -> str:
        """The offsets of a checkpoint without those of what the block no longer reads, as Spark has them (JSON)."""
        return offsets

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        """The rows of a micro-batch of `stream`, with the columns and types of `read`."""
        return batch

    def has_stable_batch_plan(self, options: Options) -> bool:
        """Whether `arrived` makes rows of the records of a micro-batch alone, by the same steps for each of them: then
        Spark plans them once."""
        return False

    def is_bounded(self, options: Options) -> bool:
        """Whether the block asks for a stream that ends once it has read what is there, whatever the job's trigger."""
        return False

    def stream_failure(self, options: Options) -> PenstockError | None:
        """Why the stream of a block has failed, where the source knows it better than Spark's exception."""
        return None

    def close_stream(self, options: Options) -> None:  # noqa: B027 (most sources hold nothing)
        """The stream of a block has ended: release what it holds."""

    def streamed_rows_obstacle(self, options: Options, table: CatalogTable) -> str | None:
        """Why `streamed_rows` cannot yield the rows of a block that can be read as a stream; None where it can."""
        return None

    def streamed_rows(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """A streaming DataFrame of rows, with the columns and types of `read`, for queries that keep state."""
        return self.arrived(spark, task, self.stream(spark, task, is_new=is_new))


class SupportsPartitionTimes(ABC):
    """Its stream is of partitions, each with event times of its own: a row is late by those of its partition."""

    @abstractmethod
    def timed_rows(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """`SupportsStreaming.streamed_rows`, each row with the name of its partition in `SOURCE_PARTITION`."""

    @abstractmethod
    def stream_partitions(self, offsets: str) -> tuple[str, ...]:
        """The names of the partitions in offsets of a checkpoint, as Spark has them (JSON)."""

    @abstractmethod
    def unread_partitions(self, spark: "SparkSession", options: Options, offsets: str) -> frozenset[str]:
        """The partitions that have records behind these offsets: they are not silent, they have not been read yet."""


SOURCE_PARTITION: Final = "__source_partition"
"""The hidden column of `SupportsPartitionTimes.timed_rows`."""


class SupportsNewColumns(ABC):
    """A stream may add columns that appear in what arrives to those of the block."""

    @abstractmethod
    def follows_schema(self, options: Options) -> bool:
        """Whether a block with these options does; the other methods are only called for one that does."""

    @abstractmethod
    def new_columns(self, task: ScanTask, batch: "DataFrame") -> tuple[Column, ...]:
        """The columns that a micro-batch of `stream` has in addition to those of the table; the same for the same
        micro-batch."""

    @abstractmethod
    def with_columns(self, options: Options, table: CatalogTable, columns: Sequence[Column]) -> Options:
        """The block as if it declared these columns, too."""


class SupportsAcknowledgement(ABC, Generic[P]):
    """Is notified of what was read once the sinks are committed, as a consumer group of Kafka.

    `position_type`: the class of its positions (`SupportsAcknowledgement[OrdersPosition]`), as which the journal is
    read.
    """

    position_type: ClassVar[type[Staged]]
    required_attributes: ClassVar[tuple[str, ...]] = ("position_type",)

    @abstractmethod
    def position(self, spark: "SparkSession", options: Options) -> P | None:
        """What a read that begins now covers, which `ScanTask.position` passes to `read`; None where a block with these
        options has no positions. The journal keeps it until `acknowledge` has been called, also by a later process."""

    @abstractmethod
    def acknowledge(self, spark: "SparkSession", position: P, run: RunContext) -> None:
        """Record at the source that this has been read; idempotent."""

    def stream_position(self, options: Options, offsets: str) -> P | None:
        """What `acknowledge` gets for a micro-batch that ends at these offsets, as Spark's checkpoint has them; None
        where nothing is acknowledged."""
        return None


def own_order_of(source: Source, options: Options) -> Column | None:
    """`SupportsIncremental.own_order`; None for a source that is not read incrementally."""
    return source.own_order(options) if isinstance(source, SupportsIncremental) else None


def table_pattern_of(source: Source, options: Options) -> re.Pattern[str] | None:
    """`SupportsTablePatterns.table_pattern`; None for a source that has no patterns."""
    return source.table_pattern(options) if isinstance(source, SupportsTablePatterns) else None


def is_untyped(source: Source, options: Options) -> bool:
    """Whether the columns of a block have no types unless they are determined from the rows."""
    return isinstance(source, SupportsUntypedColumns) and source.is_untyped(options)
