"""`Squares`: the first whole numbers with their squares."""

from typing import TYPE_CHECKING, ClassVar

from connectors.interface import (
    BIGINT,
    CatalogTable,
    Column,
    Diagnostics,
    Option,
    Options,
    OptionType,
    ScanTask,
    Source,
    SourceCapabilities,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Squares(Source):
    name: ClassVar[str] = "Squares"
    doc: ClassVar[str] = "The first whole numbers with their squares."
    source_options: ClassVar[tuple[Option, ...]] = (
        Option("count", OptionType.INTEGER, "How many.", required=True, minimum=0),
    )
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(column_pushdown=True, filter_pushdown=True)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        columns = (Column("number", BIGINT, nullable=False), Column("square", BIGINT, nullable=False))
        return (CatalogTable.of("squares", columns),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        df = spark.range(task.options.integer("count")).selectExpr("id AS number", "id * id AS square")
        for predicate in task.filters:
            df = df.where(predicate)
        return df.select(*task.columns) if task.columns is not None else df


connector = Squares()
