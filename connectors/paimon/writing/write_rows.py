"""Writes rows as data files of a Paimon table, in Spark's tasks; each bucket has one writer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from catalog.quoting import quote
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.writing import tasks
from connectors.paimon.writing.assigners import with_assigned_buckets
from connectors.paimon.writing.tasks import Layout
from connectors.shared.mapped_rows import mapped_rows

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


def write_rows(df: "DataFrame", layout: Layout) -> tuple[list[bytes], bool]:
    """The commit messages of the staged files, and whether a task was tried again: it may have left files."""
    routed = _routed(df, layout)

    def write(batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = context.attemptNumber() if context is not None else 0
        for message in tasks.write(layout, batches):
            yield pa.RecordBatch.from_pydict({"message": [message], "attempt": pa.array([attempt], pa.int32())})

    found = mapped_rows(routed, write, "message binary, attempt int").collect()
    is_speculative = df.sparkSession.conf.get("spark.speculation", "false") == "true"
    return [bytes(row["message"]) for row in found], is_speculative or any(row["attempt"] for row in found)


def _routed(df: "DataFrame", layout: Layout) -> "DataFrame":
    """The rows where and in the order in which they are written."""
    from pypaimon.table.bucket_mode import BucketMode

    table = layout.open()
    partitions = [quote(name) for name in table.partition_keys]
    mode = table.bucket_mode()
    if mode in (BucketMode.HASH_FIXED, BucketMode.CROSS_PARTITION):
        place = [*partitions, BUCKET]
        placed = df if BUCKET in df.columns else _with_buckets(df, layout, table.table_schema.bucket_keys)
        return placed.repartition(*place).sortWithinPartitions(*place)
    if mode is BucketMode.HASH_DYNAMIC:
        placed = with_assigned_buckets(df, layout)
        if BUCKET not in placed.columns:
            return placed
        place = [*partitions, BUCKET]
        return placed.repartition(*place).sortWithinPartitions(*place)
    return df.sortWithinPartitions(*partitions) if partitions else df


def _with_buckets(df: "DataFrame", layout: Layout, keys: Sequence[str]) -> "DataFrame":
    import pyarrow as pa
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.functions import arrow_udf

    if not keys:  # of a table without a key, and with one bucket
        return df.selectExpr("*", f"0 as {BUCKET}")
    names = list(keys)

    def bucket(*columns: pa.Array) -> pa.Array:  # Spark reads the types: they tell what kind of function it is
        return tasks.buckets(layout, names, columns)

    declare: Any = arrow_udf  # its stubs know no function of any number of columns
    return df.withColumn(BUCKET, declare(bucket, "int")(*(col(quote(name)) for name in names)))
