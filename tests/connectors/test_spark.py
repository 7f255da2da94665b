"""The Spark connector: any data source by format and options, and tables of the catalog."""

import pytest

import connectors
from catalog.diagnostics import Diagnostics, RunError
from connectors.spark import connector
from engine.plan.nodes import Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from tests.connectors.jobs import options_of, rows, run_writes, write

pytestmark = pytest.mark.spark
SCHEMA = {"fields": {"id": "bigint", "name": "string"}}


def read(spark, **given):
    options = options_of(connector.source_options, **given)
    found = Diagnostics()
    (table,) = connector.tables(options, found)
    assert list(found) == []
    scan = Scan("spark", connector, options, table, id="scan")
    return lower(pipeline_session(spark), [write(connectors.sink("Console"), scan)]).dataframes[scan]


@pytest.mark.parametrize(("mode", "count"), [("APPEND_DATA", 8), ("DROP_DATA", 4)])
def test_round_trip(spark, tmp_path, mode, count):
    scan = rows("select id, 'x' name from range(4)", "id bigint", "name string")
    given = {"format": "csv", "path": str(tmp_path / "out"), "options": {"header": True, "sep": "|"}}
    for run in ("one", "two", "two"):
        run_writes(spark, [write(connector, scan, data_save_mode=mode, **given)], str(tmp_path / "state"), run)
    df = read(spark, **given, schema=SCHEMA)
    assert df.dtypes == [("id", "bigint"), ("name", "string")]
    assert df.count() == count
    assert not list((tmp_path / "state").rglob("*.parquet"))


def test_catalog_table(spark, tmp_path):
    scan = rows("select id, 'x' name from range(4)", "id bigint", "name string")
    job = [write(connector, scan, format="parquet", table="made_by_test", data_save_mode="DROP_DATA")]
    run_writes(spark, job, str(tmp_path / "state"), "run")
    assert read(spark, format="parquet", table="made_by_test", schema=SCHEMA).count() == 4
    spark.sql("drop table made_by_test")


def test_schema_that_is_not_the_sources(spark, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "in"))
    with pytest.raises(RunError, match="PEN5004"):
        read(spark, format="rate", schema=SCHEMA)


def test_secret_options_stay_out_of_the_journal(spark, tmp_path):
    scan = rows("select 1 id", "id int")
    given = {"format": "csv", "path": str(tmp_path / "out"), "options": {"password": "sesame", "sep": "|"}}
    run_writes(spark, [write(connector, scan, **given)], str(tmp_path / "state"), "run")
    journal = "".join(path.read_text() for path in (tmp_path / "state").rglob("*.json"))
    assert '"sep": "|"' in journal
    assert "sesame" not in journal
