"""Databases by JDBC: tables and queries read in parallel, with columns, filters, limits and aggregates pushed down."""

from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics import Diagnostics
from catalog.table import CatalogTable
from connectors.support.jdbc.connection import check_connection, jars_of
from connectors.support.jdbc.reading import describe, read
from connectors.support.jdbc.source_options import SOURCE_OPTIONS, check_source, reading_of
from connectors.support.option import Option, Options
from connectors.support.schema_option import declared_table
from connectors.support.source import ScanTask, Source, SourceCapabilities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Jdbc(Source):
    name: ClassVar[str] = "Jdbc"
    doc: ClassVar[str] = "Reads databases: PostgreSQL, MySQL, MariaDB, SQLite and others."
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True, is_cheap=False)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_connection(options, diagnostics)
        check_source(options, diagnostics)
        declared = declared_table(options, "jdbc", diagnostics)
        return (declared or CatalogTable.unknown("jdbc"),)

    def jars(self, options: Options) -> tuple[str, ...]:
        return jars_of(options)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        return describe(spark, reading_of(options, 1))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        df = read(spark, reading_of(task.options, spark.sparkContext.defaultParallelism), task.table)
        return df.select(*(df[name] for name in task.columns)) if task.columns else df


connector = Jdbc()
