"""Polls as a stream of Spark's: a record for each interval that has passed, upon which a micro-batch asks a service.

An offset is the number of intervals since 1970; 0: none.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from connectors.shared.active_session import active_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.types import StructType

_FORMAT: Final = "penstock_poll"
_POLL: Final = "poll"


def polls(spark: "SparkSession", interval_ms: int) -> "DataFrame":
    """A streaming DataFrame with a row in each micro-batch: the first at once, others when the interval has passed."""
    with active_session(spark, spark._jsparkSession):
        spark.dataSource.register(poll_source())
        reader = spark.readStream.format(_FORMAT).option("interval_ms", str(interval_ms))
        return reader.schema("poll bigint").load()


def poll_source() -> "type[DataSource]":
    """The class that a session registers; its option is `interval_ms`."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    class PollReader(DataSourceStreamReader):
        def __init__(self, interval_ms: int) -> None:
            self.interval_ms = interval_ms

        def initialOffset(self) -> dict[str, int]:  # noqa: N802 (the names are Spark's)
            return {_POLL: 0}

        def latestOffset(self) -> dict[str, int]:  # noqa: N802
            return {_POLL: int(time.time() * 1000) // self.interval_ms}

        def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> Sequence[Any]:
            return [InputPartition(end[_POLL])]

        def read(self, partition: Any) -> Iterator[tuple[int]]:
            yield (partition.value,)

    class PollSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return _FORMAT

        def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: N802
            return PollReader(int(self.options["interval_ms"]))

    return PollSource
