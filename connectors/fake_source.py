"""Rows made up by Spark itself, the same for the same seed: Apache SeaTunnel's FakeSource."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics import Diagnostics
from catalog.quoting import quote, quote_text
from catalog.row_kind import ROW_KIND, RowKind
from catalog.table import CatalogTable
from connectors.support.fake.listed_rows import listed_rows, row_kinds
from connectors.support.fake.random_values import RandomValues
from connectors.support.fake.ranges import TEMPLATED, value_options
from connectors.support.literals import LiteralError
from connectors.support.option import Option, Options, OptionType
from connectors.support.schema_option import SCHEMA_OPTION, declared_table
from connectors.support.source import ScanTask, Source, SourceCapabilities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FakeSource(Source):
    name: ClassVar[str] = "FakeSource"
    doc: ClassVar[str] = "Generated rows for trying a job: random values of a schema, or the listed rows."
    source_options: ClassVar[tuple[Option, ...]] = (
        SCHEMA_OPTION,
        Option(
            "row.num",
            OptionType.INTEGER,
            "How many rows are made; under `--compat seatunnel`, for each of `parallelism`.",
            default=5,
            minimum=0,
        ),
        Option(
            "rows",
            OptionType.LIST,
            "The rows, instead of generated ones: `[{ kind = INSERT, fields = [1, a] }]`. Bytes are base64. Where any "
            "`kind` is UPDATE_BEFORE, UPDATE_AFTER or DELETE, the rows carry row kinds.",
            element=OptionType.MAP,
        ),
        Option("seed", OptionType.INTEGER, "Two runs with the same seed generate the same rows.", default=42),
        Option("split.num", OptionType.INTEGER, "Number of tasks that generate the rows.", default=1, minimum=1),
        Option(
            "split.read-interval", OptionType.INTEGER, "Accepted for compatibility, no effect.", default=1, minimum=0
        ),
        *value_options(),
    )
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=True)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        table = declared_table(options, "fake", diagnostics)
        if table is None:
            help = "schema { fields { id = bigint, name = string } }, in SQL CREATE TABLE t (id BIGINT, name STRING)"
            diagnostics.error("PEN2005", "FakeSource needs a `schema`", options.span(), help)
            return (CatalogTable.unknown("fake"),)
        listed_rows(options, table, diagnostics)
        kinds = row_kinds(options, diagnostics)
        for name in TEMPLATED:
            if options[f"{name}.fake.mode"] == "template" and not options.strings(f"{name}.template"):
                help = f"{name}.template = [...]"
                message = f"`{name}.template` is not given"
                diagnostics.error("PEN2011", message, options.span(f"{name}.fake.mode"), help)
        self._check_values(options, table, diagnostics)
        return (replace(table, has_row_kind=any(kind is not RowKind.INSERT for kind in kinds)),)

    def _check_values(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        """Templates and default values that are none of their column's type."""
        values = RandomValues(options, iter(range(2**31)))
        for column in table.columns:
            try:
                values.of_column(column)
            except LiteralError as cause:
                message = f"a template or default value of `{column.name}` {cause}"
                diagnostics.error("PEN2004", message, options.key_span(f"schema.fields.{column.name}"))
            except ValueError:
                continue  # the type was reported

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        options = task.options
        df = _listed(spark, task) if options.get("rows") is not None else _random(spark, task)
        if task.columns is None:
            return df
        hidden = (ROW_KIND,) if task.table.has_row_kind else ()
        return df.select(*(quote(name) for name in (*task.columns, *hidden)))


connector = FakeSource()


def _random(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    options = task.options
    values = RandomValues(options, iter(range(options.integer("seed") * 1_000, 2**62)))
    columns = [f"{values.of_column(column)} as {quote(column.name)}" for column in task.table.columns]
    readers = options.seatunnel.parallelism if options.seatunnel else 1
    rows = options.integer("row.num") * readers
    return spark.range(0, rows, 1, options.integer("split.num") * readers).selectExpr(*columns)


def _listed(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """The rows of the `rows` option, made by Spark's parser of literals."""
    options, names = task.options, task.table.schema.names
    rows = listed_rows(options, task.table, Diagnostics())
    if not rows or not names:
        return _random(spark, task).limit(0) if names else spark.range(len(rows) * _copies(options)).select()
    if task.table.has_row_kind:
        names = (*names, ROW_KIND)
        kinds = row_kinds(options, Diagnostics())
        rows = [[*row, quote_text(kind.value)] for row, kind in zip(rows, kinds, strict=True)]
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    df = spark.sql(f"select * from values {values} as rows({', '.join(quote(name) for name in names)})")
    copies = _copies(options)
    return df if copies == 1 else spark.range(copies).crossJoin(df).drop("id")


def _copies(options: Options) -> int:
    """How often the listed rows are made: in SeaTunnel once by each split of each reader."""
    if options.seatunnel is None:
        return 1
    rows, splits = options.integer("row.num"), options.integer("split.num")
    if rows == 0:
        return 0
    return options.seatunnel.parallelism * -(-rows // -(-rows // splits))
