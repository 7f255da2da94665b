"""The settings that a job may not set are those that a running Spark cannot change."""

from typing import TYPE_CHECKING, Any

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.load import load_file
from engine.job.options.env import FIXED, STATIC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHERS = ("spark.sql.hive", "spark.databricks")  # of Hive, and of Delta where its extension is loaded
ALLOWED = {"spark.sql.extensions"}


@pytest.mark.spark
def test_static_settings_are_those_of_spark(spark: "SparkSession") -> None:
    jvm: Any = spark._jvm
    conf = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    known = [str(entry.key()) for entry in conf.getConfigEntries().toArray()]
    static = {key for key in known if conf.isStaticConfigKey(key) and not key.startswith(OTHERS)}
    assert len(static) > 10
    assert static - STATIC <= ALLOWED, static - STATIC
    assert not [key for key in STATIC if spark.conf.isModifiable(key)]
    assert all(spark.conf.isModifiable(key) for key in FIXED)


CATALOG = {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.lake.type": "rest"}


@pytest.mark.parametrize(
    "env",
    [
        "\n".join(f"{name} = {value}" for name, value in CATALOG.items()),
        "\n".join(f"{name} = {value}" for name, value in reversed(CATALOG.items())),
        'spark { sql.catalog.lake = "org.apache.iceberg.spark.SparkCatalog", sql.catalog.lake { type = rest } }',
        "spark.sql.catalog.lake.type = hive\n" + "\n".join(f"{name} = {value}" for name, value in CATALOG.items()),
    ],
)
def test_a_setting_may_be_the_beginning_of_another(tmp_path, env):
    """A catalog, and its type: HOCON alone would let the later one replace the other."""
    job = tmp_path / "job.conf"
    job.write_text(f"env {{\n{env}\n}}\nsource {{ FakeSource {{ }} }}\nsink {{ Console {{ }} }}\n", encoding="utf-8")
    diagnostics = Diagnostics()
    loaded = load_file(job, diagnostics)
    assert not diagnostics.has_errors
    assert loaded.env.spark == CATALOG


def test_so_it_may_in_a_script(tmp_path):
    job = tmp_path / "job.sql"
    settings = "".join(f"SET '{name}' = '{value}';\n" for name, value in CATALOG.items())
    tables = "CREATE TABLE t WITH ('connector' = 'FakeSource'); CREATE TABLE o WITH ('connector' = 'Console');"
    job.write_text(f"{settings}{tables} INSERT INTO o SELECT * FROM t;", encoding="utf-8")
    loaded = load_file(job, Diagnostics())
    assert loaded.env.spark == CATALOG


def test_a_wrong_setting_beside_them_is_reported_at_its_name(tmp_path):
    job = tmp_path / "job.conf"
    settings = "\n".join(f"{name} = {value}" for name, value in CATALOG.items())
    job.write_text(f"env {{\n{settings}\n  spark.sql.ansi.enabled = false\n}}\n", encoding="utf-8")
    diagnostics = Diagnostics()
    load_file(job, diagnostics)
    (span,) = [diagnostic.span for diagnostic in diagnostics if diagnostic.code == "PEN2014"]
    assert (span.line, span.column, span.end_column) == (4, 3, 25)
