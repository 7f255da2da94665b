"""Persists rows that are computed once and read by several nodes."""

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from engine.job.model.job import Cache


def persist(df: DataFrame, cache: Cache) -> DataFrame:
    """Compute the rows now. They get new column ids, so that Spark's metrics distinguish reads of the persisted rows.

    Persisted as a checkpoint on the executors: unlike a cache, it is never computed again. Rows that are lost with an
    executor fail the job, which is then tried again, instead of being replaced by other ones.
    """
    level = StorageLevel.MEMORY_AND_DISK if cache is Cache.MEMORY else StorageLevel.DISK_ONLY
    return df.toDF(*df.columns).localCheckpoint(eager=True, storageLevel=level)


def release(df: DataFrame) -> None:
    """Remove persisted rows."""
    checkpoint: Any = df._jdf.queryExecution().analyzed()
    checkpoint.rdd().unpersist(False)
