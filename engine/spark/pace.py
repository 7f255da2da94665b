"""Read a source no faster than `read_limit` allows, by no more connections than `max_connections`.

Tasks pause in the JVM between rows: the rows pass as they are, whatever their types. The pauses come on top of the
time that reading takes, so that the limit is never exceeded, and may not be reached where reading itself is slow.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import DataFrame

from catalog.quoting import quote
from catalog.tables.table import Column
from catalog.types.datatypes import BINARY, STRING, Array, DataType, Map, Struct
from connectors.shared.spark_types import columns_of
from engine.job.model.job import NO_READ_LIMIT, ReadLimit
from engine.plan.nodes import Scan

_PAUSES_PER_SECOND: Final = 20
_ROWS_PER_PAUSE: Final = 16
"""Rows after which a task pauses for their bytes; their sizes are taken to be that of the first."""


@dataclass(frozen=True, eq=False, slots=True)
class Pace:
    """The limits of a pipeline's scans: rows and bytes a second of each, and the connections that some may open."""

    limit: ReadLimit = NO_READ_LIMIT
    connections: Mapping[Scan, int] = field(default_factory=dict)


UNPACED: Final = Pace()


def paced(df: DataFrame, scan: Scan, pace: Pace) -> DataFrame:
    """The same rows within the limits. Partitions that share a task are read one after another."""
    if (connections := pace.connections.get(scan)) is not None:
        df = df.coalesce(connections)
    return _held_back(df, pace.limit) if pace.limit != NO_READ_LIMIT else df


def _held_back(df: DataFrame, limit: ReadLimit) -> DataFrame:
    partitions = df._jdf.queryExecution().toRdd().getNumPartitions()  # `df.rdd` would make a second plan, for Python
    tasks = max(1, min(partitions, df.sparkSession.sparkContext.defaultParallelism))
    if limit.rows_per_second is not None:
        rate = limit.rows_per_second / tasks
        rows = max(1, round(rate / _PAUSES_PER_SECOND))
        df = df.where(_pause(rows, str(round(1e9 * rows / rate))))
    if limit.bytes_per_second is not None:
        nanos = 1e9 * _ROWS_PER_PAUSE * tasks / limit.bytes_per_second
        df = df.where(_pause(_ROWS_PER_PAUSE, f"({_size(columns_of(df.schema))}) * {nanos!r}D"))
    return df


def _pause(rows: int, nanos: str) -> str:
    """A predicate that holds for all rows, and waits at the first of every so many."""
    park = f"java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', cast({nanos} as bigint))"
    return f"case when monotonically_increasing_id() % {rows} = 0 then {park} is not null else true end"


def _size(columns: Iterable[Column]) -> str:
    return " + ".join(_bytes(quote(column.name), column.type) for column in columns) or "0"


def _bytes(name: str, type: DataType) -> str:
    """Spark SQL for about how many bytes a value takes."""
    if type in (STRING, BINARY):
        return f"coalesce(octet_length({name}), 0)"
    if isinstance(type, Array | Map | Struct):
        return f"coalesce(octet_length(to_json(struct({name}))), 0)"
    return "8"
