"""A source that yields rows of Python or Arrow batches, for systems that Spark has no data source for."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Options
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING
from connectors.interface.arrow_batches import batches_of
from connectors.interface.source import ScanTask, Source

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from connectors.interface.arrow_batches import Row


class RowSource(Source):
    """Reads in Spark's tasks: `partitions` runs on the driver, `read_partition` in one task for each of them.

    A task may run several times, so that a partition must yield the same rows again. The connector, the task and the
    partitions are pickled. The tasks need the connector's package, which a cluster must have.
    """

    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17",)

    def partitions(self, task: ScanTask) -> Sequence[Any]:
        """What the tasks read: one value for each; a single task by default."""
        return (None,)

    @abstractmethod
    def read_partition(self, task: ScanTask, partition: Any) -> "Iterable[Row]":
        """The rows of one partition: tuples in the order of `task.names`, dicts by these names, or batches of Arrow.

        If the table `has_row_kind`, the column `ROW_KIND` comes last. A value that is not of its column's type fails
        the job: nothing is rounded or cut. Timestamps without a time zone count as UTC.
        """

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        return self.tables(options, Diagnostics())[0]

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """Raises PEN4002 for a table whose columns are not known: rows of Python have no types."""
        from pyspark.sql.pandas.types import to_arrow_schema

        ddl = columns_to_ddl(_columns(task, self.name))
        source, asked = self, replace(task, options=Options(task.options.values))
        partitions = tuple(self.partitions(task))
        no_rows = spark.createDataFrame([], ddl)
        if not partitions:
            return no_rows
        schema = to_arrow_schema(no_rows.schema)

        def read(indexes: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for batch in indexes:
                for index in batch.column(0).to_pylist():
                    yield from batches_of(source.read_partition(asked, partitions[index]), schema)

        return spark.range(0, len(partitions), 1, len(partitions)).mapInArrow(read, ddl)


def _columns(task: ScanTask, name: str) -> list[Column]:
    if task.table.is_open:
        help = "name its columns: `schema { fields { name = type } }`"
        raise run_error("PEN4002", f"the columns of a `{name}` source are not known", task.options.span(), help)
    columns = [task.table.column(wanted) for wanted in task.names]
    kinds = [Column(ROW_KIND, STRING)] if task.table.has_row_kind else []
    return [column for column in columns if column is not None] + kinds
