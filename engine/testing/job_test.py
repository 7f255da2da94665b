"""Run one test of a job: its sources are the given rows, and nothing is written."""

import json
from collections.abc import Iterator, Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from catalog.diagnostics.diagnostic import Diagnostic, did_you_mean
from catalog.quoting import quote
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import Array, DataType, Map, Struct
from catalog.types.typenames import to_ddl
from engine.plan.nodes import Node, Plan, Scan, Write
from engine.spark.failures.errors import as_run_error
from engine.spark.lower import lower_nodes
from engine.testing.compare import difference
from engine.testing.read_tests import NamedRows, Records


def run_test(
    spark: SparkSession, plan: Plan, given: tuple[NamedRows, ...], expected: tuple[NamedRows, ...]
) -> Iterator[Diagnostic]:
    """Differences (PEN6004) and nodes that cannot be tested (PEN6005); none if the test passes."""
    scans = {node.written_name: node for node in plan.nodes() if isinstance(node, Scan)}
    rows = {named.name: named for named in given}
    for name in rows.keys() - scans.keys():
        help = did_you_mean(name, scans)
        yield Diagnostic("PEN6005", f"the job has no source `{name}`", rows[name].span, help)
    nodes = named_nodes(plan)
    frames: dict[Node, DataFrame] = {}
    for name, scan in scans.items():
        try:
            frames[scan] = _source(spark, rows.get(name), scan.table)
        except (PySparkException, Py4JError) as error:
            reason = as_run_error(error, scan).diagnostics[0].message
            yield Diagnostic(
                "PEN6005", f"the rows given for `{name}`: {reason}", rows[name].span if name in rows else None
            )
            return
    for wanted in expected:
        node = nodes.get(wanted.name.lower())
        if node is None:
            help = did_you_mean(wanted.name, nodes)
            yield Diagnostic("PEN6005", f"the job has no node or sink `{wanted.name}`", wanted.span, help)
            continue
        yield from _compare(spark, node, wanted, frames)


def named_nodes(plan: Plan) -> Mapping[str, Node]:
    """Every node by its name in lower case; under a sink's name, its input."""
    nodes = {node.name.lower(): node for node in plan.nodes() if not isinstance(node, Write)}
    return nodes | {write.name.lower(): write.input for write in plan.writes}


def _compare(
    spark: SparkSession, node: Node, expected: NamedRows, frames: dict[Node, DataFrame]
) -> Iterator[Diagnostic]:
    try:
        found = lower_nodes(spark, [node], frames)[node]
        wanted = _frame(spark, expected.rows, CatalogTable.unknown("expected"), like=found)
        missing = [name for name in wanted.columns if name.lower() not in map(str.lower, found.columns)]
        if missing:
            help = did_you_mean(missing[0], found.columns)
            yield Diagnostic("PEN6004", f"`{expected.name}` has no column `{missing[0]}`", expected.span, help)
            return
        columns = wanted.columns or found.columns  # no rows are expected if no column is
        types = {name.lower(): found.schema[name].dataType for name in found.columns}
        wanted = wanted.select(*(f.col(quote(name)).cast(types[name.lower()]).alias(name) for name in wanted.columns))
        there = [_plain(tuple(row)) for row in found.select(*map(quote, columns)).collect()]
        rows = [_plain(tuple(row)) for row in wanted.collect()] if wanted.columns else []
    except (PySparkException, Py4JError) as error:
        reason = as_run_error(error, node).diagnostics[0].message
        yield Diagnostic("PEN6004", f"`{expected.name}` cannot be computed: {reason}", expected.span)
        return
    if unlike := difference(columns, rows, there, ordered=expected.ordered):
        head, *table = str(unlike).split("\n")
        yield Diagnostic("PEN6004", f"rows of `{expected.name}`: {head}", expected.span, notes=tuple(table))


def _source(spark: SparkSession, rows: NamedRows | None, table: CatalogTable) -> DataFrame:
    """The given rows in the source's columns; missing columns are NULL, and a source without given rows is empty."""
    if rows is None:
        return spark.createDataFrame([], columns_to_ddl(table.columns))
    df = _frame(spark, rows.rows, table)
    if table.is_open:
        return df
    names = {name.lower() for name in df.columns}
    unknown = [name for name in df.columns if table.column(name) is None]
    if unknown:
        raise PySparkException(f"there is no column `{unknown[0]}`")
    return df.select(
        *(
            (f.col(quote(column.name)) if column.name.lower() in names else f.lit(None))
            .cast(to_ddl(column.type))
            .alias(column.name)
            for column in table.columns
        )
    )


def _frame(spark: SparkSession, rows: str | Records, table: CatalogTable, like: DataFrame | None = None) -> DataFrame:
    if isinstance(rows, str):
        return spark.sql(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    texts = [tuple(_text(row.get(name)) for name in names) for row in rows]
    df = spark.createDataFrame(texts, t.StructType([t.StructField(name, t.StringType()) for name in names]))
    return df.select(*(_read(name, table, like) for name in names))


def _read(name: str, table: CatalogTable, like: DataFrame | None) -> "f.Column":  # type: ignore[name-defined]
    """A column of texts; lists and maps are JSON, read as the type that the column has."""
    column = table.column(name)
    nested = column is not None and _is_nested(column.type)
    kind = to_ddl(column.type) if column is not None and nested else None
    if like is not None and name.lower() in map(str.lower, like.columns):
        type = like.schema[name].dataType
        kind = type.simpleString() if isinstance(type, t.ArrayType | t.MapType | t.StructType) else None
    return f.from_json(f.col(quote(name)), kind).alias(name) if kind else f.col(quote(name))


def _is_nested(type: DataType) -> bool:
    return isinstance(type, Array | Map | Struct)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | list | tuple | Mapping) else str(value)


def _plain(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(bytes(value) if isinstance(value, bytearray) else value for value in row)
