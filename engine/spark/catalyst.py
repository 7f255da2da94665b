"""Catalyst expressions for which Spark's Python API has no function, or is too slow.

A method of PySpark's `Column` calls the JVM a dozen times, mostly to record the line of Python that it was called from.
Here each step is one call.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import AtomicType
from pyspark.sql.types import DataType as SparkDataType

from catalog.quoting import quote
from engine.job.model.job import COMET_ENABLED
from engine.spark.failures.error_causes import NULL_COLUMN
from engine.spark.starting.accelerator import ACCELERATED

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

    def in_comet(self, condition: Expression) -> Expression:
        """A condition of any expressions as an argument of a function that returns it.

        Comet has code generated for such a function and its arguments, and calls it for the rows of a batch, where a
        condition of expressions that it does not know would be Spark's, and what reads the filter with it.
        """
        return self._java.scala_udf(
            self._java.identity(), self._java.boolean_type, self._sequence([condition]), self._sequence([]),
            self._java.nothing(), self._java.nothing(), True, True,
        )  # fmt: skip

    def not_null(self, operand: Expression, path: str) -> Expression:
        """`operand`, of which a NULL is an error that names `path`."""
        return self._java.assert_not_null(operand, self._sequence([path]))

    def known_not_null(self, operand: Expression) -> Expression:
        return self._java.known_not_null(operand)

    def in_comet_unless_null(self, operand: Expression, checked: Expression) -> Expression:
        """A condition that holds for all rows, and evaluates `checked` for those whose `operand` is NULL."""
        equal = self.in_comet(self._java.equal_null_safe(checked, operand))
        return self._java.or_(self._java.is_not_null(operand), equal)

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
    scala_udf: Any
    or_: Any
    equal_null_safe: Any
    assert_not_null: Any
    known_not_null: Any
    boolean_type: Any
    long_type: Any
    object_type: Any
    column: Any
    scala_map: Any
    scala_sequence: Any
    identity: Any
    nothing: Any


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
        expressions.ScalaUDF,
        expressions.Or,
        expressions.EqualNullSafe,
        expressions.objects.AssertNotNull,
        expressions.KnownNotNull,
        sql.types.DataTypes.BooleanType,
        sql.types.DataTypes.LongType,
        sql.types.ObjectType,
        sql.classic.ExpressionUtils.column,
        to_scala.toScalaMap,
        to_scala.toSeq,
        getattr(jvm.scala.Predef, "$conforms"),
        jvm.scala.Option.empty,
    )


def is_accelerated(spark: SparkSession) -> bool:
    """Whether Comet executes what it can of the session's queries, because a job asked for it."""
    return spark.conf.get(ACCELERATED, None) is not None and spark.conf.get(COMET_ENABLED, "true") == "true"


def without_nulls(df: DataFrame, names: list[str]) -> DataFrame:
    """The same rows, declared to hold no NULL in these columns; one that does fails the job while it is read.

    Spark's API does not offer this; the expression is that of encoders for Scala classes. Comet does not know it: there
    it is evaluated only for rows that hold a NULL.
    """
    spark = Catalyst(df.sparkSession)
    output: Any = df._jdf.queryExecution().analyzed().output()
    attributes = {output.apply(i).name(): output.apply(i) for i in range(output.size())}
    wanted = {name: attributes[name] for name in names}
    checked = {name: spark.not_null(attribute, f"{NULL_COLUMN}{name}") for name, attribute in wanted.items()}
    if is_accelerated(df.sparkSession) and all(is_comparable(df.schema[name].dataType) for name in names):
        for name, attribute in wanted.items():
            df = df.where(spark.column(spark.in_comet_unless_null(attribute, checked[name])))
        checked = {name: spark.known_not_null(attribute) for name, attribute in wanted.items()}
    columns = {name: spark.column(expression).alias(name) for name, expression in checked.items()}
    return df.select(*(columns.get(name, df[quote(name)]) for name in df.columns))


def is_comparable(type_: SparkDataType) -> bool:
    """Whether Spark can say whether two values of the type are equal."""
    return isinstance(type_, AtomicType) and type_.typeName() != "variant"
