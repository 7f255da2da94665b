"""Counters that rows turn as they pass, inside the code that Spark generates for a filter.

An observed metric is evaluated by Spark's interpreter for every row, so ten of them cost more than the checks
themselves. Here an accumulator is a literal of the filter's condition, and Catalyst's `InitializeJavaBean` calls its
`add`. Spark's API has no word for it. As with any accumulator, a stage of a shuffle that Spark runs again counts again.
"""

from dataclasses import dataclass
from functools import lru_cache
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


class Counters:
    """Makes counters of one session. What they share is made once: each step is a question to the JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext._jsc.sc()
        self._spark = _catalyst(spark.sparkContext._jvm)
        self._one = self._spark.scala_map({"add": self._expression(f.expr("1L"))})

    def rows(self) -> Counter:
        """Counts all rows. It is not deterministic to Spark, which so leaves the filter where it stands."""
        return self.where(f.expr("monotonically_increasing_id() >= 0"))

    def where(self, condition: Column) -> Counter:
        """Counts the rows of which the condition is true."""
        accumulator = self._context.longAccumulator()
        return Counter(accumulator, self._added(accumulator, condition, self._one))

    def partitions(self) -> Partitions:
        """Notes each partition with its first row."""
        accumulator = self._context.collectionAccumulator()
        first = f.expr(f"monotonically_increasing_id() % {_ROWS_PER_PARTITION} = 0")
        number = self._expression(f.expr(f"monotonically_increasing_id() div {_ROWS_PER_PARTITION}"))
        return Partitions(accumulator, self._added(accumulator, first, self._spark.scala_map({"add": number})))

    def _added(self, accumulator: Any, when: Column, setters: Any) -> Column:
        """`accumulator.add(value)` where `when` is true: then the accumulator, else null."""
        from pyspark.sql.classic.column import Column as ClassicColumn

        spark = self._spark
        kind = spark.object_type(accumulator.getClass())
        target = spark.if_(self._expression(when), spark.literal(accumulator, kind), spark.literal(None, kind))
        return ClassicColumn(spark.column(spark.bean(target, setters)))

    def _expression(self, column: Column) -> Any:
        return self._spark.expression(column._jc)


@dataclass(frozen=True, eq=False, slots=True)
class _Catalyst:
    """Spark's own classes and methods, looked up once: each part of such a name is a question to the JVM."""

    if_: Any
    literal: Any
    object_type: Any
    bean: Any
    expression: Any
    column: Any
    scala_map: Any


@lru_cache(maxsize=1)
def _catalyst(jvm: Any) -> _Catalyst:
    sql = jvm.org.apache.spark.sql
    expressions, utils = sql.catalyst.expressions, sql.classic.ExpressionUtils
    return _Catalyst(
        expressions.If,
        expressions.Literal,
        sql.types.ObjectType,
        expressions.objects.InitializeJavaBean,
        utils.expression,
        utils.column,
        jvm.org.apache.spark.api.python.PythonUtils.toScalaMap,
    )
