"""What Spark's own optimizer leaves out of a read: columns, partitions and rows; docs/architecture.md tells of it."""

import re

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable
from engine.plan.nodes import Input, Query, Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from sql.analyze import Analysis
from tests.connectors.given_options import options_of
from tests.connectors.jobs import write

pytestmark = pytest.mark.spark


def physical_plan(spark, name, query, **given):
    source = connectors.source(name)
    options = options_of(source.source_options, **given)
    (table,) = source.tables(options, Diagnostics())
    scan = Scan("t", source, options, table, id="scan", span=options.span())
    analysis = Analysis(CatalogTable.unknown("q"), (), (), (), {})
    node = Query("q", "Sql", PlacedText.bare(query), (Input("t", scan),), analysis, id="q")
    df = lower(pipeline_session(spark, dict(spark.sparkContext.getConf().getAll())), [write(console(), node)])
    return df.dataframes[node]._jdf.queryExecution().executedPlan().toString()


def console():
    return connectors.sink("Console")


@pytest.mark.parametrize(
    ("kind", "pushes"),
    [
        ("parquet", True),
        ("orc", True),
        ("csv", False),  # its plan lists filters, which the reader is set not to take: see `defaults.py`
        ("json", False),
        pytest.param("delta", True, marks=pytest.mark.delta),
    ],
)
def test_columns_partitions_and_rows(spark, tmp_path, kind, pushes):
    path = str(tmp_path / "t")
    rows = spark.sql("select id, concat('n', id) name, cast(id % 3 as int) p from range(9)")
    rows.write.format(kind).partitionBy("p").save(path)
    given = {"path": path}
    if kind != "delta":
        given |= {"file_format_type": kind, "schema": {"fields": {"id": "bigint", "name": "string", "p": "int"}}}
    plan = physical_plan(
        spark, "Delta" if kind == "delta" else "LocalFile", "select id from t where p = 1 and id > 2", **given
    )
    (read,) = re.findall(r"ReadSchema: struct<(.*?)>", plan)
    assert read == "id:bigint"
    assert "p#" in re.search(r"PartitionFilters: \[(.*?)\]", plan)[1]
    assert "GreaterThan(id,2)" in plan or not pushes


def test_columns_that_hold_no_null_are_checked_row_by_row(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.sql("select id, concat('n', id) name from range(9)").write.parquet(path)
    columns = [{"name": "id", "type": "bigint", "nullable": False}, {"name": "name", "type": "string"}]
    plan = physical_plan(
        spark,
        "LocalFile",
        "select id from t where id > 2",
        path=path,
        file_format_type="parquet",
        schema={"columns": columns},
    )
    assert "ReadSchema: struct<id:bigint>" in plan
    assert "GreaterThan" not in plan  # a NULL must be seen to be refused
