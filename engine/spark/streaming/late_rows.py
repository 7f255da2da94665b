"""Finds the rows that come later than the watermark, and the event times of each partition of a micro-batch.

Spark follows one event time for all rows of a source, and drops late rows in each operator that keeps state. Here a
function over the event time marks late rows before any operator sees them. The watermark is set by Penstock: Spark's
own never moves, since its delay is longer than time. The function gets the watermark of the micro-batch as a property
of Spark's job, and returns what it has seen by an accumulator: each attempt of a task under a key of its own, so that
a task that Spark repeats is counted once.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pyspark import Accumulator, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from catalog.quoting import quote
from engine.spark.catalyst import without_nulls

if TYPE_CHECKING:
    import pyarrow as pa

WATERMARK_PROPERTY: Final = "penstock.watermark"
"""The watermark of the running micro-batch, in microseconds since 1970; rows before it are late."""

_NEVER: Final = "3650000 days"
_DELAY: Final = "spark.watermarkDelayMs"
_LATE: Final = "__late"

_Task: TypeAlias = tuple[int, int, int]
Tallies: TypeAlias = dict[_Task, dict[str, tuple[int | None, int, int]]]
"""By task (stage, partition, attempt) and partition of the source: the latest event time in microseconds, and how many
rows there are and how many of them are late."""


class _TallyParam(AccumulatorParam[Tallies]):
    def zero(self, value: Tallies) -> Tallies:
        return {}

    def addInPlace(self, value1: Tallies, value2: Tallies) -> Tallies:  # noqa: N802 (PySpark's name)
        for task, partitions in value2.items():
            known = value1.setdefault(task, {})
            for name, new in partitions.items():
                known[name] = _together(known.get(name), new)
        return value1


@dataclass(frozen=True, slots=True)
class Tally:
    """What a micro-batch had of a partition: the latest event time in microseconds (None: no row has one), rows, and
    how many of them were late."""

    latest: int | None
    rows: int
    late: int


@dataclass(frozen=True, eq=False, slots=True)
class LateRows:
    """Counts what passes the watermark of one node."""

    seen: Accumulator[Tallies]

    @classmethod
    def of(cls, spark: SparkSession) -> "LateRows":
        return cls(spark.sparkContext.accumulator({}, _TallyParam()))

    def reset(self) -> None:
        """Forget what has been seen: before a micro-batch."""
        self.seen.value = {}

    def tallies(self, readers: int) -> Mapping[str, Tally]:
        """What the micro-batch had, by partition; `readers`: how often Spark has read the source for it."""
        once: dict[tuple[int, int], dict[str, tuple[int | None, int, int]]] = {}
        for (stage, partition, _), found in self.seen.value.items():
            once.setdefault((stage, partition), found)
        total: dict[str, tuple[int | None, int, int]] = {}
        for found in once.values():
            for name, new in found.items():
                total[name] = _together(total.get(name), new)
        return {name: Tally(latest, rows // readers, late // readers) for name, (latest, rows, late) in total.items()}


def split(df: DataFrame, column: str, delay_millis: int, partition: str | None, late: LateRows) -> DataFrame:
    """The rows that are not late, with the event time that Spark's operators follow. `partition`: the hidden column
    that names the source's partition; None: there is one. Rows without an event time are never late."""
    marked = df.withColumn(_LATE, _is_late(late.seen, column, partition)).where(f"not {_LATE}")
    marked = marked.drop(_LATE, *([partition] if partition else []))
    return marked.withWatermark(column, _NEVER).withMetadata(column, {_DELAY: delay_millis})


def late_rows(df: DataFrame, column: str, partition: str | None) -> DataFrame:
    """The rows that `split` leaves out, of the same micro-batch."""
    marked = df.withColumn(_LATE, _is_late(None, column, partition)).where(_LATE)
    return marked.drop(_LATE, *([partition] if partition else []))


def together(several: Sequence[DataFrame]) -> DataFrame:
    """Rows of several kinds in one DataFrame, which `apart` gives back: a stream of Spark's has one output."""
    from pyspark.sql import functions as f

    schemas = [df.schema for df in several]
    united = [
        df.select(
            f.lit(number).alias(_KIND),
            *(
                (
                    f.struct(*(f.col(quote(name)) for name in df.columns))
                    if own == number
                    else f.lit(None).cast(schema)
                ).alias(f"{_ROW}{own}")
                for own, schema in enumerate(schemas)
            ),
        )
        for number, df in enumerate(several)
    ]
    return reduce(DataFrame.union, united)


def apart(df: DataFrame) -> list[DataFrame]:
    """The rows that `together` has united."""
    found = []
    for number, field in enumerate(df.schema.fields[1:]):
        assert isinstance(field.dataType, StructType), "as `together` has made it"
        rows = df.where(f"{_KIND} = {number}").selectExpr(f"{_ROW}{number}.*")
        strict = [inner.name for inner in field.dataType.fields if not inner.nullable]
        found.append(without_nulls(rows, strict) if strict else rows)
    return found


_KIND: Final = "__kind"
_ROW: Final = "__row"


def _is_late(seen: Accumulator[Tallies] | None, column: str, partition: str | None) -> Any:
    import pyarrow as pa
    from pyspark import cloudpickle
    from pyspark.sql.functions import col, lit
    from pyspark.sql.pandas.functions import arrow_udf

    def is_late(times: pa.Array, names: pa.Array) -> pa.Array:  # Spark reads the types
        return mark(times, names, seen)

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    declare: Any = arrow_udf
    name = lit("") if partition is None else col(quote(partition))
    return declare(is_late, "boolean").asNondeterministic()(col(quote(column)), name)


def mark(times: "pa.Array", names: "pa.Array", seen: Accumulator[Tallies] | None) -> "pa.Array":
    """Which of the rows are late, by their event times and the names of their partitions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    context = TaskContext.get()
    assert context is not None, "runs in a task"
    watermark = context.getLocalProperty(WATERMARK_PROPERTY)
    micros = times.cast(pa.int64())
    is_late = pc.fill_null(pc.less(micros, int(watermark)), False) if watermark else pa.repeat(False, len(times))
    if seen is not None and len(times):
        task = (context.stageId(), context.partitionId(), context.attemptNumber())
        rows = pa.table({"name": names, "at": micros, "late": is_late.cast(pa.int64())}).group_by("name")
        found = rows.aggregate([("at", "max"), ("at", "count", pc.CountOptions(mode="all")), ("late", "sum")])
        columns = (found[name].to_pylist() for name in ("name", "at_max", "at_count", "late_sum"))
        seen.add({task: {name: (latest, count, late) for name, latest, count, late in zip(*columns, strict=True)}})
    return is_late


def _together(
    known: tuple[int | None, int, int] | None, new: tuple[int | None, int, int]
) -> tuple[int | None, int, int]:
    if known is None:
        return new
    latest = max((each for each in (known[0], new[0]) if each is not None), default=None)
    return latest, known[1] + new[1], known[2] + new[2]
