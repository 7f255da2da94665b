"""A source whose tasks yield each row as the text of a JSON object, which Spark parses."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final

from catalog.options import Options
from catalog.tables.table import CatalogTable
from connectors.documents.typed_documents import typed_documents
from connectors.interface.source import ScanTask, Source

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_ROWS_OF_A_BATCH: Final = 2_000


class DocumentSource(Source):
    """Reads in Spark's tasks: `partitions` runs on the driver, `read_documents` in one task for each of them.

    A task may run several times. The connector, the task and the partitions are pickled.
    """

    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17",)

    def partitions(self, spark: "SparkSession", task: ScanTask) -> Sequence[Any]:
        """What the tasks read: one value for each."""
        return (None,)

    @abstractmethod
    def read_documents(self, task: ScanTask, partition: Any) -> Iterable[str]:
        """The rows of one partition, each as the text of a JSON object with the columns as its names; fractions as
        texts, and none of them with a line end."""

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        if task.table.is_open:
            task = replace(task, table=self.described(spark, task.options))
        return typed_documents(self._texts(spark, task), task.table.columns, task.columns)

    def described(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The table of a block without `schema`, as the system describes it at the run."""
        return self.describe(spark, options)

    def _texts(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        source, asked = self, replace(task, options=Options(task.options.values), report=ignored, position=None)
        partitions = tuple(self.partitions(spark, task))
        if not partitions:
            return spark.createDataFrame([], "value string")

        def read(indexes: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for batch in indexes:
                for index in batch.column(0).to_pylist():
                    yield from _batches(source.read_documents(asked, partitions[index]))

        return spark.range(0, len(partitions), 1, len(partitions)).mapInArrow(read, "value string")


def ignored(_warning: object) -> None:
    """In the place of `ScanTask.report` in a task, where nobody takes warnings."""


def _batches(documents: Iterable[str]) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    given = iter(documents)
    while texts := list(islice(given, _ROWS_OF_A_BATCH)):
        yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], names=["value"])
