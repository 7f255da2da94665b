"""The interface of sources: options, capabilities, and how the engine reads them.

Importing a connector imports neither pyspark nor a driver: annotations only, and imports inside the methods that run.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, TablePath
from connectors.interface.base import Connector
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
    `is_cheap`: reading it again costs no more than a cache and yields the same rows.
    """

    column_pushdown: bool = False
    filter_pushdown: bool = False
    is_pruned_by_spark: bool = False
    is_cheap: bool = True
    is_deterministic: bool = True


def _unreported(warning: Diagnostic) -> None:
    pass


@dataclass(frozen=True, slots=True)
class StreamState:
    """Where a stream keeps its state, for a source that keeps some of its own: `folder`, next to the checkpoint.

    `reached`: the offset at which the last micro-batch ends, as Spark's checkpoint has it, and `before` the offset at
    which it begins; None where there is none. The last micro-batch may come again. `ends`: the stream ends once it has
    read what is there.
    """

    folder: str
    before: str | None = None
    reached: str | None = None
    ends: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class ScanTask:
    """One read: which table, which of its columns (None: all), which predicates (Spark SQL text) hold afterwards.

    `position`: what the read covers, where the source's `position` has said so. `report`: takes a warning that only the
    run can give, such as of data that validation does not see. `state`: of `SupportsStreaming.stream` alone.
    """

    options: Options
    table: CatalogTable
    columns: tuple[str, ...] | None = None
    filters: tuple[str, ...] = ()
    position: Staged | None = None
    report: Callable[[Diagnostic], None] = _unreported
    state: StreamState | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read; none where they are not known: all that there are."""
        return self.columns or (() if self.table.is_open else self.table.schema.names)

    def selected(self, df: "DataFrame", *more: str) -> "DataFrame":
        """The columns to read of `df`, with the hidden one of row kinds where the table has them, and those of `more`
        (names)."""
        hidden = [*([quote(ROW_KIND)] if self.table.has_row_kind else []), *map(quote, more)]
        return select_sql(df, [*map(quote, self.names), *hidden]) if self.names else df


class Source(Connector):
    """A connector that reads; `source_abilities` has what it may do in addition."""

    source_options: ClassVar[tuple[Option, ...]]
    source_capabilities: ClassVar[SourceCapabilities]
    required_attributes: ClassVar[tuple[str, ...]] = ("source_options", "source_capabilities")

    def table_path(self, options: Options) -> TablePath | None:
        """The table as the options name it; None where only its `schema` or its data name it."""
        return None

    def located(self, options: Options) -> Options:
        """The options with `path` as Spark reads it: one of this machine, or the URI of another file system."""
        return options

    @abstractmethod
    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        """The tables that this block yields, without Spark, Java or network; an open table if the schema cannot be
        determined this way. Errors in the options that their spec cannot express go to `diagnostics`."""

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The table as its system describes it, for `penstock schema sync`; by default as Spark does."""
        from connectors.shared.spark_types import columns_of

        df = self.read(spark, ScanTask(options, CatalogTable.unknown("described")))
        return CatalogTable.of("described", columns_of(df.schema))

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        """The location of the rows, in the format of `Sink.target`."""
        return None

    @abstractmethod
    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """The rows; columns and types as `task.table` says (in its order, cut to `task.columns`). Where the table
        `has_row_kind`, the hidden column `catalog.tables.row_kind.ROW_KIND` comes last."""
