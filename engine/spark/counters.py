"""Counters that rows turn as they pass, inside the code that Spark generates for a filter.

An observed metric is evaluated by Spark's interpreter for every row, so ten of them cost more than the checks
themselves. Here an accumulator is a literal of the filter's condition, and Catalyst's `InitializeJavaBean` calls its
`add`. Spark's API has no word for it. As with any accumulator, a stage of a shuffle that Spark runs again counts again.
"""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

_ROWS_PER_PARTITION = 1 << 33
"""`monotonically_increasing_id` is the partition's number times this, and the row's number in it."""


@dataclass(frozen=True, eq=False, slots=True)
class Counter:
    """Counts the rows for which `turn` is evaluated; `turn` is not null where it counted."""

    accumulator: Any
    turn: Column

    @property
    def value(self) -> int:
        return int(self.accumulator.value())


@dataclass(frozen=True, eq=False, slots=True)
class Partitions:
    """The numbers of the partitions whose rows have passed, each as often as it was read."""

    accumulator: Any
    turn: Column

    @property
    def seen(self) -> tuple[int, ...]:
        return tuple(int(each) for each in self.accumulator.value().toArray())


def counter(spark: SparkSession, when: Column) -> Counter:
    """Counts the rows of which `when` is true."""
    accumulator = spark.sparkContext._jsc.sc().longAccumulator()
    return Counter(accumulator, _added(spark, accumulator, when, f.lit(1).cast("bigint")))


def rows_counter(spark: SparkSession) -> Counter:
    """Counts all rows. It is not deterministic to Spark, which so leaves the filter where it stands."""
    return counter(spark, f.monotonically_increasing_id() >= 0)


def partitions(spark: SparkSession) -> Partitions:
    """Notes each partition with its first row."""
    accumulator = spark.sparkContext._jsc.sc().collectionAccumulator()
    number = f.monotonically_increasing_id()
    first = number % _ROWS_PER_PARTITION == 0
    return Partitions(accumulator, _added(spark, accumulator, first, f.shiftright(number, 33)))


def _added(spark: SparkSession, accumulator: Any, when: Column, value: Column) -> Column:
    """`accumulator.add(value)` where `when` is true: then the accumulator, else null."""
    from pyspark.sql.classic.column import Column as ClassicColumn

    jvm: Any = spark.sparkContext._jvm
    catalyst, types = jvm.org.apache.spark.sql.catalyst.expressions, jvm.org.apache.spark.sql.types
    expression = jvm.org.apache.spark.sql.classic.ExpressionUtils.expression
    kind = types.ObjectType(accumulator.getClass())
    target = catalyst.If(expression(when._jc), catalyst.Literal(accumulator, kind), catalyst.Literal(None, kind))
    setters = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap({"add": expression(value._jc)})
    return ClassicColumn(
        jvm.org.apache.spark.sql.classic.ExpressionUtils.column(catalyst.objects.InitializeJavaBean(target, setters))
    )
