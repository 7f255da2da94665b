"""Counts passing rows inside the code that Spark generates for a filter.

An observed metric is evaluated by Spark's interpreter for every row, so ten of them cost more than the checks
themselves. Here an accumulator is a literal of the filter's condition, and Catalyst's `InitializeJavaBean` calls its
`add`. Spark's API does not offer this. As with any accumulator, a stage of a shuffle that Spark runs
again counts again.
"""

from dataclasses import dataclass
from typing import Any

from engine.spark.catalyst import Catalyst, Expression

_ROWS_PER_PARTITION = 1 << 33
"""`monotonically_increasing_id` is the partition's number times this, and the row's number in it."""


@dataclass(frozen=True, eq=False, slots=True)
class Counter:
    """Counts the rows for which `increment` is evaluated; `increment` is not null where it counted."""

    accumulator: Any
    increment: Expression

    @property
    def value(self) -> int:
        return int(self.accumulator.value())


@dataclass(frozen=True, eq=False, slots=True)
class PartitionCounts:
    """The numbers of the partitions whose rows have passed, once for each time that they were read."""

    accumulator: Any
    increment: Expression

    @property
    def seen(self) -> tuple[int, ...]:
        return tuple(int(value) for value in self.accumulator.value().toArray())


class Counters:
    """Creates the counters of one session. Shared parts are created once, since each step is a call to the JVM."""

    def __init__(self, context: Any, catalyst: Catalyst) -> None:
        self._context = context
        self._catalyst = catalyst
        self._type = catalyst.object_type(context.longAccumulator())
        self._nothing = catalyst.literal(None, self._type)
        self._add_one = catalyst.setter("add", catalyst.parse("1L"))

    def rows(self) -> Counter:
        """Count all rows. Spark treats it as non-deterministic, and therefore does not move the filter."""
        return self.where(self._catalyst.parse("monotonically_increasing_id() >= 0"))

    def where(self, condition: Expression) -> Counter:
        """Count the rows for which the condition is true."""
        accumulator, spark = self._context.longAccumulator(), self._catalyst
        counted = spark.if_(condition, spark.literal(accumulator, self._type), self._nothing)
        return Counter(accumulator, spark.after(self._add_one, counted))

    def partitions(self) -> PartitionCounts:
        """Record each partition at its first row."""
        accumulator, spark = self._context.collectionAccumulator(), self._catalyst
        type_ = spark.object_type(accumulator)
        first = spark.parse(f"monotonically_increasing_id() % {_ROWS_PER_PARTITION} = 0")
        number = spark.parse(f"monotonically_increasing_id() div {_ROWS_PER_PARTITION}")
        noted = spark.if_(first, spark.literal(accumulator, type_), spark.literal(None, type_))
        return PartitionCounts(accumulator, spark.after(spark.setter("add", number), noted))
