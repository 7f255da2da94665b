"""Spark as the oracle: what its analyzer says of a query, asked without running anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sql.analyze import Analysis

if TYPE_CHECKING:
    from pyspark.errors.exceptions.captured import CapturedException
    from pyspark.sql import SparkSession

_NAME_OF_THE_MOMENT = re.compile(r" AS \w+#\d+")  # a counter of the session's stands in it: never twice the same
_POSITION = re.compile(r"\(line (\d+), pos (\d+)\)")


@dataclass(frozen=True)
class Accepted:
    """Output columns as (name, type as Spark prints it, nullable)."""

    columns: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Rejected:
    """Spark's error condition (`UNRESOLVED_COLUMN.WITH_SUGGESTION`), message and the offset it points to, if any."""

    condition: str
    message: str
    start: int | None = None


class SparkOracle:
    """Asks one Spark session about queries over tables that are registered as empty views."""

    def __init__(self, spark: SparkSession, tables: Iterable[tuple[str, str]]) -> None:
        """`tables`: names with their columns as DDL; NOT NULL holds in the views too."""
        from pyspark.sql.types import StructType

        self._spark = spark.newSession()
        self._spark.conf.set("spark.sql.timeType.enabled", "true")
        for name, ddl in tables:
            schema = StructType.fromDDL(ddl)
            self._spark.createDataFrame([], schema).createOrReplaceTempView(name)
        self._session = self._spark._jsparkSession

    def ask(self, query: str) -> Accepted | Rejected:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors.exceptions.captured import CapturedException

        try:
            schema = self._session.sql(query).schema()
        except CapturedException as error:
            return Rejected(str(error.getCondition()), str(error._desc), _start(error, query))
        except Py4JJavaError as error:  # a bare exception of Java's out of the analyzer
            return Rejected("", str(error.java_exception))
        return Accepted(tuple(_columns(schema)))

    def ask_expressions(self, expressions: list[str], table: str) -> list[Accepted | Rejected]:
        """Ask of each expression in a select over the table; those that Spark accepts share one analysis."""
        return self._ask_many(expressions, table)

    def _ask_many(self, expressions: list[str], table: str) -> list[Accepted | Rejected]:
        if len(expressions) == 1:
            return [self.ask(f"select {expressions[0]} as x from {table}")]
        items = ", ".join(f"{text} as x{i}" for i, text in enumerate(expressions))
        answer = self.ask(f"select {items} from {table}")
        if isinstance(answer, Accepted) and len(answer.columns) == len(expressions):
            return [Accepted((("x", *column[1:]),)) for column in answer.columns]
        half = len(expressions) // 2
        return self._ask_many(expressions[:half], table) + self._ask_many(expressions[half:], table)


def _columns(schema: object) -> Iterable[tuple[str, str, bool]]:
    from pyspark.sql.types import StructType

    for each in StructType.fromJson(json.loads(schema.json())).fields:  # type: ignore[attr-defined]
        yield each.name, each.dataType.simpleString(), each.nullable


def _start(error: CapturedException, query: str) -> int | None:
    """Where Spark points: the query context of an analysis error, line and position of a syntax error."""
    contexts = error.getQueryContext()
    if contexts:
        return int(contexts[0].startIndex())
    if match := _POSITION.search(str(error._desc)):
        lines = query.split("\n")[: int(match[1]) - 1]
        return sum(len(line) + 1 for line in lines) + int(match[2])
    return None


def same_columns(expected: Accepted, found: Analysis, *, nullability: bool = True) -> list[str]:
    """What is wrong with an analysis against Spark's answer, one line each; unknown types are not wrong."""
    if found.table.is_open:
        return []
    if len(expected.columns) != len(found.columns):
        return [f"{len(found.columns)} columns for Spark's {len(expected.columns)}"]
    faults = []
    for (name, type_, nullable), column in zip(expected.columns, found.columns, strict=True):
        if column.name != name and not _NAME_OF_THE_MOMENT.search(name):
            faults.append(f"name {column.name!r} for Spark's {name!r}")
        if "unknown" in str(column.type):
            continue
        if str(column.type) != type_:
            faults.append(f"{name}: type {column.type} for Spark's {type_}")
        elif nullability and column.nullable != nullable:
            faults.append(f"{name}: nullable {column.nullable} for Spark's {nullable}")
    return faults
