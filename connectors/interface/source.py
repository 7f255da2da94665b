"""The interface of sources: options, capabilities, and how the engine reads them.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column, TablePath
from connectors.interface.base import Connector
from connectors.interface.incremental import NewRows, Since, incremental_of, new_rows
from connectors.interface.run_context import RunContext
from connectors.shared.select_sql import select_sql
from connectors.shared.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


STREAM: Final = Option(
    "stream",
    OptionType.BOOLEAN,
    "In a streaming job, whether rows that are added arrive as a stream. `false`: all rows are read for each "
    "micro-batch, as those of a table that is joined.",
    default=True,
)

SOURCE_QUERY: Final = Option(
    "query",
    OptionType.STRING,
    "A query over the rows of the table, under any name: `select id from t where day > '2026-01-01'`. It runs as a "
    "`Sql` transform after the source: its columns and filters are pushed into the read.",
)
"""For sources that read tables and run no queries themselves."""


@dataclass(frozen=True, slots=True)
class SourceCapabilities:
    """What a source can do.

    `column_pushdown`, `filter_pushdown`: `read` takes the columns and filters of its `ScanTask`. `is_pruned_by_spark`:
    it yields a DataFrame of one of Spark's data sources, so Spark's optimizer already pushes down columns and filters.
    `is_cheap`: reading it again costs no more than a cache and yields the same rows. `streaming`: a streaming job reads
    what is added, unless the option `stream` of the source says otherwise.
    """

    column_pushdown: bool = False
    filter_pushdown: bool = False
    is_pruned_by_spark: bool = False
    is_cheap: bool = True
    is_deterministic: bool = True
    streaming: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class ScanTask:
    """One read: which table, which of its columns (None: all), which predicates (Spark SQL text) hold afterwards.

    `position`: what the read covers, where the source's `position` has said so.
    """

    options: Options
    table: CatalogTable
    columns: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    position: Staged | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read; none where they are not known: all that there are."""
        return self.columns or (() if self.table.is_open else self.table.schema.names)

    def selected(self, df: "DataFrame") -> "DataFrame":
        """The columns to read of `df`, with the hidden one of row kinds where the table has them."""
        hidden = [quote(ROW_KIND)] if self.table.has_row_kind else []
        return select_sql(df, [*map(quote, self.names), *hidden]) if self.names else df


@dataclass(frozen=True, slots=True)
class ConnectionLimit:
    """A limit that a job sets for the system at a `place` (`max_connections`): the `most` connections at once, and how
    many the read has partitions (None: it is not known before the run)."""

    place: str
    most: int
    wanted: int | None = None


class Source(Connector):
    """A connector that reads."""

    source_options: ClassVar[tuple[Option, ...]]
    source_capabilities: ClassVar[SourceCapabilities]
    position_type: ClassVar[type[Staged] | None] = None
    required_attributes: ClassVar[tuple[str, ...]] = ("source_options", "source_capabilities")

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        """One block for each table, with `schema.table`, if the options mean several (such as a pattern of folders);
        None if the block is one table. `tables` and `read` are called for each of them."""
        return None

    def has_unseen_columns(self, options: Options) -> bool:
        """Whether the rows may have columns that neither the options nor the data show before the run."""
        return False

    def table_path(self, options: Options) -> TablePath | None:
        """The table as the options name it; None where only its `schema` or its data name it."""
        return None

    def table_pattern(self, options: Options) -> re.Pattern[str] | None:
        """The pattern, if the block means all tables of a database whose path matches it. Which these are,
        `penstock schema sync` asks and records; `validate` and `run` read the record."""
        return None

    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        """The paths of the tables that match `table_pattern` now."""
        raise NotImplementedError

    def of_table(self, options: Options, path: str) -> Options:
        """The block as one of the tables that match `table_pattern`."""
        raise NotImplementedError

    @abstractmethod
    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        """The tables that this block yields, without Spark, Java or network; an open table if the schema cannot be
        determined this way. Errors in the options that their spec cannot express go to `diagnostics`."""

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The table as its system describes it, for `penstock schema sync`; by default as Spark does."""
        from connectors.shared.spark_types import columns_of

        df = self.read(spark, ScanTask(options, CatalogTable.unknown("described")))
        return CatalogTable.of("described", columns_of(df.schema))

    def is_untyped(self, options: Options) -> bool:
        """Whether its columns have no types unless `infer_schema` determines them from the rows."""
        return False

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        """The location of the rows, in the format of `Sink.target`."""
        return None

    def input_bytes(self, options: Options, table: CatalogTable) -> int | None:
        """About how many bytes a read of the table parses or makes; None where only Spark or a network could tell."""
        return None

    def connection_limit(self, options: Options) -> ConnectionLimit | None:
        """How many connections may be open at once to the system that is read; None where the job sets no limit."""
        return None

    def position(self, spark: "SparkSession", options: Options) -> Staged | None:
        """What a read that begins now covers, of the class `position_type`; None for a source that has no positions.
        The journal keeps it until `acknowledge` has been called, also by a later process."""
        return None

    def acknowledge(self, spark: "SparkSession", position: Staged, run: RunContext) -> None:
        """Record at the source that this has been read; called once the sinks are committed; idempotent."""
        return None

    def stream_obstacle(self, options: Options) -> str | None:
        """Why a block of a source with the capability `streaming` cannot be read as a stream; None where it can."""
        return None

    def stream_identity(self, options: Options) -> str:
        """What a checkpoint belongs to: a stream of another identity cannot go on from it."""
        return str(options.get("path") or "")

    def is_same_stream(self, before: str, now: str) -> bool:
        """Whether offsets of the stream with the identity `before` mean the same in that with the identity `now`."""
        return before == now

    def kept_offsets(self, options: Options, offsets: str) -> str:
        """The offsets of a checkpoint without those of what the block no longer reads, as Spark has them (JSON)."""
        return offsets

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """A streaming DataFrame of what arrives; `is_new`: no checkpoint says where to start. Only for sources with the
        capability `streaming`."""
        raise NotImplementedError(self.name)

    def streamed_rows_obstacle(self, options: Options, table: CatalogTable) -> str | None:
        """Why `streamed_rows` cannot yield the rows of a block that can be read as a stream; None where it can."""
        return None

    def streamed_rows(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """A streaming DataFrame of rows, in the words of `read`, for queries of Spark's that keep state over them."""
        return self.arrived(spark, task, self.stream(spark, task, is_new=is_new))

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        """The rows of a micro-batch of `stream`, in the words of `read`."""
        return batch

    def arrives_alike(self, options: Options) -> bool:
        """Whether `arrived` makes rows of the records of a micro-batch alone, by the same steps for each of them."""
        return False

    def follows_schema(self, options: Options) -> bool:
        """Whether a stream adds columns that appear in what arrives to those of the block."""
        return False

    def new_columns(self, task: ScanTask, batch: "DataFrame") -> tuple[Column, ...]:
        """The columns that a micro-batch of `stream` has beside those of the table; the same for the same micro-batch.
        Only for a block that `follows_schema`."""
        return ()

    def with_columns(self, options: Options, table: CatalogTable, columns: Sequence[Column]) -> Options:
        """A block that `follows_schema`, as if it declared these columns, too."""
        raise NotImplementedError(self.name)

    def stream_position(self, options: Options, offsets: str) -> Staged | None:
        """What `acknowledge` gets for a micro-batch that ends at these offsets, as Spark's checkpoint has them."""
        return None

    @abstractmethod
    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """The rows; columns and types as `task.table` says (in its order, cut to `task.columns`). Where the table
        `has_row_kind`, the hidden column `catalog.tables.row_kind.ROW_KIND` comes last."""

    def own_order(self, options: Options) -> Column | None:
        """The order in which rows arrive by themselves, for `incremental` without a column; None where there is none.
        It need not be a column of the rows: files have a modification time."""
        return None

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        """What `read` gives of the rows that are new `since` then, for a source with the option `incremental`."""
        asked = incremental_of(task.options)
        assert asked is not None, "is called where the job asks for it"
        return new_rows(self.read(spark, task), asked, since)
