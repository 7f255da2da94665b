"""Persists rows that are computed once and read by several nodes."""

from typing import Any, Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from catalog.quoting import quote, quote_text
from engine.job.model.job import Cache
from engine.spark.catalyst import without_nulls
from engine.spark.starting.defaults import missing_settings


def persist(df: DataFrame, cache: Cache) -> DataFrame:
    """Compute the rows now. They get new column ids, so that Spark's metrics distinguish reads of the persisted rows.

    Persisted as a checkpoint on the executors: unlike a cache, it is never computed again. Rows that are lost with an
    executor fail the job, which is then tried again, instead of being replaced by other ones.
    """
    level = StorageLevel.MEMORY_AND_DISK if cache is Cache.MEMORY else StorageLevel.DISK_ONLY
    return df.toDF(*df.columns).localCheckpoint(eager=True, storageLevel=level)


def persist_by(df: DataFrame, column: str, folder: str, values: tuple[str, ...]) -> DataFrame:
    """The rows, written now as Parquet files in a directory for each of the `values` of a text column, which has no
    others; a query for one value reads no other directory.

    Directories are named by the number of the value. Of the value itself, Spark would read
    `__HIVE_DEFAULT_PARTITION__` as NULL, and some file systems do not distinguish `a` from `A`.
    """
    listed = f"array({', '.join(map(quote_text, values))})"
    others = [quote(name) for name in df.columns if name.lower() != column.lower()]
    numbered = df.selectExpr(*others, f"cast(array_position({listed}, {quote(column)}) as int) as {_NUMBER}")
    writers = {_WRITERS: str(min(len(values), _MOST_WRITERS))}  # else each task sorts its rows first
    with missing_settings(df.sparkSession, writers):
        writer = numbered.write.mode("overwrite").option("parquet.enable.dictionary", "false")  # looked up each time
        writer.partitionBy(_NUMBER).parquet(folder)
    value = f"element_at({listed}, {_NUMBER})"
    columns = (quote(name) if quote(name) in others else f"{value} as {quote(name)}" for name in df.columns)
    rows = df.sparkSession.read.schema(numbered.schema).parquet(folder).selectExpr(*columns)
    strict = [field.name for field in df.schema.fields if not field.nullable]  # files do not say so
    return without_nulls(rows, strict) if strict else rows


_NUMBER: Final = "__penstock_value"
"""The column of the number of a row's value, from 1."""

_WRITERS: Final = "spark.sql.maxConcurrentOutputFileWriters"

_MOST_WRITERS: Final = 32
"""Of so many tables a task has a file open at once: each holds memory."""


def release(df: DataFrame) -> None:
    """Remove persisted rows."""
    checkpoint: Any = df._jdf.queryExecution().analyzed()
    checkpoint.rdd().unpersist(False)
