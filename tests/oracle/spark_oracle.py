"""Spark as the oracle: `engine.spark.analyzer` over the tables of a test, and many expressions in one question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from catalog.tables.table import CatalogTable, Column
from engine.validation.analyzer_answers import Accepted, Rejected, differences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Accepted", "Rejected", "SparkOracle", "differences"]


class SparkOracle:
    """Asks one Spark session about queries over tables that are registered as empty views."""

    def __init__(self, spark: SparkSession, tables: Iterable[CatalogTable]) -> None:
        from engine.validation.spark_analyzer import SparkAnalyzer

        session = spark.newSession()
        session.conf.set("spark.sql.timeType.enabled", "true")
        self._analyzer = SparkAnalyzer(session, {each.path.table: each for each in tables})

    def ask(self, query: str) -> Accepted | Rejected:
        return self._analyzer.ask(query)

    def ask_expressions(self, expressions: list[str], table: str) -> list[Accepted | Rejected]:
        """Ask of each expression in a select over the table; those that Spark accepts share one analysis."""
        if len(expressions) == 1:
            return [self.ask(f"select {expressions[0]} as x from {table}")]
        items = ", ".join(f"{text} as x{i}" for i, text in enumerate(expressions))
        answer = self.ask(f"select {items} from {table}")
        if isinstance(answer, Accepted) and len(answer.columns) == len(expressions):
            return [Accepted((Column("x", each.type, each.nullable),)) for each in answer.columns]
        half = len(expressions) // 2
        return self.ask_expressions(expressions[:half], table) + self.ask_expressions(expressions[half:], table)
