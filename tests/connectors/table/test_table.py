"""Tables of Spark's catalogs by name."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.tables.table import CatalogTable
from connectors.interface.source import ScanTask
from connectors.table.connector import connector
from engine.spark.writing.abort import abort_all
from engine.spark.writing.sink_checks import check
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write

COLUMNS = ("id bigint", "name string")


def job(table, query, **given):
    return write(connector, rows(query, *COLUMNS), table=table, **given)


@pytest.fixture
def database(spark, tmp_path):
    """A database of Spark's own catalog, and a catalog `lake` of Iceberg's."""
    prefix = "spark.sql.catalog.lake"
    spark.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{prefix}.type", "hadoop")
    spark.conf.set(f"{prefix}.warehouse", str(tmp_path / "lake"))
    spark.sql(f"create database shop location '{tmp_path / 'a shop'}'")
    yield "shop"
    spark.sql("drop database shop cascade")
    for name in (prefix, f"{prefix}.type", f"{prefix}.warehouse"):
        spark.conf.unset(name)


def read(spark, table):
    options = options_of(connector.source_options, table=table)
    found = connector.read(spark, ScanTask(options, CatalogTable.unknown("t"))).collect()
    return sorted(map(tuple, found))


@pytest.mark.spark
@pytest.mark.delta
def test_a_delta_table_of_sparks_own_catalog(spark, database, tmp_path):
    state = str(tmp_path / "state")
    aborted = stage_writes(spark, [job("shop.orders", "select 9L id, 'no' name")], state, "aborted")
    assert abort_all(spark, aborted) == ()
    assert not spark.catalog.tableExists("shop.orders")
    for _ in range(2):  # the second does nothing
        run_writes(spark, [job("shop.orders", "select 1L id, 'a' name union all select 2L, 'b'")], state, "first")
    assert read(spark, "spark_catalog.shop.orders") == [(1, "a"), (2, "b")]
    merge = {"write_mode": "upsert", "primary_keys": ["id"]}
    run_writes(spark, [job("shop.orders", "select 2L id, 'B' name", **merge)], state, "merge")
    run_writes(spark, [job("shop.managed", "select 3L id, 'c' name", data_save_mode="DROP_DATA")], state, "other")
    assert read(spark, "shop.orders") == [(1, "a"), (2, "B")]
    spark.sql("create table shop.managed2 (id bigint, name string) using delta")
    run_writes(spark, [job("shop.managed2", "select 4L id, 'd' name")], state, "managed")
    assert read(spark, "shop.managed2") == [(4, "d")]


@pytest.mark.spark
def test_an_iceberg_table_of_its_catalog(spark, database, tmp_path):
    state = str(tmp_path / "state")
    run_writes(spark, [job("lake.sales.orders", "select 1L id, 'a' name")], state, "first")
    run_writes(spark, [job("lake.sales.orders", "select 2L id, 'b' name", data_save_mode="DROP_DATA")], state, "again")
    assert read(spark, "lake.sales.orders") == [(2, "b")]


@pytest.mark.spark
def test_tables_that_cannot_be_written_are_refused(spark, database):
    spark.sql("create table shop.files (id bigint, name string) using parquet")
    with pytest.raises(RunError, match=r"`shop\.files` is of the format `parquet`, whose writes cannot be staged"):
        check(spark, [job("shop.files", "select 1L id, 'a' name")])
    with pytest.raises(RunError, match="PEN4006"):
        check(spark, [job("nowhere.t", "select 1L id, 'a' name")])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"table": "a..b"}, "PEN2004"),
        ({"table": "db.t", "write_mode": "upsert"}, "PEN2011"),
        ({"table": "db.t", "sort_by": ["id"]}, "PEN2011"),
        ({"table": "lake.db.t", "cluster_by": ["id"]}, "PEN2011"),
        ({"table": "db.t", "partition_by": ["days(name)"]}, "PEN4008"),
        ({"table": "lake.db.t", "partition_by": ["days(name)"]}, "PEN4008"),
        ({"table": "lake.db.t", "write_mode": "upsert"}, "PEN2011"),
    ],
)
def test_options_are_checked_as_the_formats_own_are(given, code):
    written = write(connector, rows("", *COLUMNS), **given)
    diagnostics = Diagnostics()
    connector.validate(written.options, written.table, diagnostics)
    assert [each.code for each in diagnostics] == [code]


def test_columns_come_from_the_schema_block_or_the_lock():
    diagnostics = Diagnostics()
    (table,) = connector.tables(options_of(connector.source_options, table="db.t"), diagnostics)
    assert table.is_open
    assert [each.code for each in diagnostics] == ["PEN4002"]
