"""Rows that are computed once and read by several."""

from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from engine.job.model.job import Cache


def persist(df: DataFrame, cache: Cache) -> DataFrame:
    """The rows, computed now; under new column ids, so that Spark's metrics tell reading these from reading those.

    Persisted as a checkpoint on the executors: unlike a cache, it is never computed again. Rows that are lost with an
    executor fail the job, which is then tried again, instead of being replaced by other ones.
    """
    level = StorageLevel.MEMORY_AND_DISK if cache is Cache.MEMORY else StorageLevel.DISK_ONLY
    return df.toDF(*df.columns).localCheckpoint(eager=True, storageLevel=level)


def release(df: DataFrame) -> None:
    """Remove the rows that `persist` wrote."""
    checkpoint: Any = df._jdf.queryExecution().analyzed()
    checkpoint.rdd().unpersist(False)
