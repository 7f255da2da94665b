"""Catalyst expressions for which Spark's Python API has no function, or is too slow.

A method of PySpark's `Column` calls the JVM a dozen times, mostly to record the line of Python that it was called from.
Here each step is one call.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession

from catalog.quoting import quote
from engine.spark.failures.error_causes import NULL_COLUMN

Expression: TypeAlias = Any
"""An `org.apache.spark.sql.catalyst.expressions.Expression` in the JVM."""


class Catalyst:
    """Builds expressions for one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._java = _java(spark.sparkContext._jvm)
        self._parser = spark._jsparkSession.sessionState().sqlParser()

    def parse(self, text: str) -> Expression:
        return self._parser.parseExpression(text)

    def column(self, expression: Expression) -> Column:
        from pyspark.sql.classic.column import Column as ClassicColumn

        return ClassicColumn(self._java.column(expression))

    def literal(self, value: object, type_: Any) -> Expression:
        return self._java.literal(value, type_)

    def object_type(self, java: Any) -> Any:
        """Catalyst's type for the class of this Java object."""
        return self._java.object_type(java.getClass())

    def if_(self, condition: Expression, then: Expression, otherwise: Expression) -> Expression:
        return self._java.if_(condition, then, otherwise)

    def not_(self, operand: Expression) -> Expression:
        return self._java.not_(operand)

    def both(self, left: Expression, right: Expression) -> Expression:
        return self._java.and_(left, right)

    def is_null(self, operand: Expression) -> Expression:
        return self._java.is_null(operand)

    def any_not_null(self, operands: Iterable[Expression]) -> Expression:
        """Whether any operand is not NULL. It evaluates all of them, as `OR` would not."""
        first, *others = (self._java.is_not_null(operand) for operand in operands)
        return self._java.greatest(self._sequence([first, *others])) if others else first

    def setter(self, name: str, value: Expression) -> Any:
        """A call of a Java object's method with one argument, for `after`."""
        return self._java.scala_map({name: value})

    def after(self, setter: Any, target: Expression) -> Expression:
        """`target`, a Java object, once the setter was called on it; NULL where `target` is."""
        return self._java.bean(target, setter)

    def static_call(self, class_: str, method: str, operand: Expression) -> Expression:
        """What a static method of Java returns as a string. Spark's interpreter calls it, no generated code."""
        return self._java.reflection(self._sequence([self.parse(f"'{class_}'"), self.parse(f"'{method}'"), operand]))

    def at_most(self, left: Expression, right: Expression) -> Expression:
        return self._java.at_most(left, right)

    def long_method(self, java: Any, name: str) -> Expression:
        """What a method without arguments of a Java object returns, a long, whenever the expression is evaluated."""
        target, nothing = self.literal(java, self.object_type(java)), self._sequence([])
        return self._java.invoke(target, name, self._java.long_type, nothing, nothing, True, True, False)

    def _sequence(self, items: list[Expression]) -> Any:
        return self._java.scala_sequence(items)


@dataclass(frozen=True, eq=False, slots=True)
class _Java:
    """Spark's own classes and methods, looked up once, since each part of such a name is a call to the JVM."""

    if_: Any
    not_: Any
    and_: Any
    is_null: Any
    is_not_null: Any
    greatest: Any
    literal: Any
    bean: Any
    reflection: Any
    at_most: Any
    invoke: Any
    long_type: Any
    object_type: Any
    column: Any
    scala_map: Any
    scala_sequence: Any


@lru_cache(maxsize=1)
def _java(jvm: Any) -> _Java:
    sql = jvm.org.apache.spark.sql
    expressions, to_scala = sql.catalyst.expressions, jvm.org.apache.spark.api.python.PythonUtils
    return _Java(
        expressions.If,
        expressions.Not,
        expressions.And,
        expressions.IsNull,
        expressions.IsNotNull,
        expressions.Greatest,
        expressions.Literal,
        expressions.objects.InitializeJavaBean,
        expressions.CallMethodViaReflection,
        expressions.LessThanOrEqual,
        expressions.objects.Invoke,
        sql.types.DataTypes.LongType,
        sql.types.ObjectType,
        sql.classic.ExpressionUtils.column,
        to_scala.toScalaMap,
        to_scala.toSeq,
    )


def without_nulls(df: DataFrame, names: list[str]) -> DataFrame:
    """The same rows, declared to hold no NULL in these columns; one that does fails the job while it is read.

    Spark's API does not offer this; the expression is that of encoders for Scala classes.
    """
    from pyspark.sql.classic.column import Column

    jvm: Any = df.sparkSession.sparkContext._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst.expressions
    output: Any = df._jdf.queryExecution().analyzed().output()
    attributes = {output.apply(i).name(): output.apply(i) for i in range(output.size())}
    utils = jvm.org.apache.spark.sql.classic.ExpressionUtils
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq

    def named(name: str) -> Any:
        path = jvm.java.util.ArrayList()
        path.add(f"{NULL_COLUMN}{name}")
        return to_seq(path)

    checked = {
        name: Column(utils.column(catalyst.objects.AssertNotNull(attributes[name], named(name)))).alias(name)
        for name in names
    }
    return df.select(*(checked.get(name, df[quote(name)]) for name in df.columns))
