"""Penstock's defaults of Spark's settings: they never replace what the user has set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
from engine.spark.persist import persist_by
from engine.spark.starting.defaults import is_set, is_users, settings_in_files

ROOT = Path(__file__).parents[4]
FILE = r"""
# a comment
! another one
spark.sql.shuffle.partitions   9
spark.driver.extraJavaOptions=-Dmine=here
spark.eventLog.dir : file:///tmp/a b\
    c
spark.app.name  mine
"""
OPENED = """
from engine.spark.session import open_session, pipeline_session
settings = {"spark.master": "local[1]", "spark.driver.memory": "512m"}
spark = open_session("x", settings, required={"spark.sql.extensions": "b.B"})
session = pipeline_session(spark)
system = spark.sparkContext._jvm.java.lang.System
names = ("sql.shuffle.partitions", "sql.json.filterPushdown.enabled", "sql.csv.filterPushdown.enabled", "ui.enabled",
         "scheduler.mode", "app.name", "sql.extensions")
print(*(session.conf.get(f"spark.{name}") for name in names), system.getProperty("mine"), sep="|")
spark.stop()
"""


def test_files_of_defaults_are_read_as_java_reads_properties(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text(FILE)
    assert settings_in_files({"SPARK_CONF_DIR": str(tmp_path)}) == {
        "spark.sql.shuffle.partitions": "9",
        "spark.driver.extraJavaOptions": "-Dmine=here",
        "spark.eventLog.dir": "file:///tmp/a bc",
        "spark.app.name": "mine",
    }
    assert settings_in_files({"SPARK_CONF_DIR": str(tmp_path / "none")}) == {}


@pytest.mark.spark
@pytest.mark.slow
def test_settings_of_the_user_win_over_defaults(tmp_path):
    text = FILE.replace("spark.eventLog.dir : file:///tmp/a b\\\n    c\n", "")
    (tmp_path / "spark-defaults.conf").write_text(text + "spark.sql.extensions a.A\n")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SPARK_CONF_DIR": str(tmp_path),
        "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.json.filterPushdown.enabled=true pyspark-shell",
    }
    done = subprocess.run(
        [sys.executable, "-c", OPENED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["9|true|false|false|FAIR|mine|a.A,b.B|here"], done.stdout + done.stderr


@pytest.mark.spark
def test_persist_leaves_a_setting_of_the_user(spark, tmp_path):
    session = spark.newSession()
    name = "spark.sql.maxConcurrentOutputFileWriters"
    df = session.createDataFrame([("a", 1), ("b", 2)], "t string, n int")
    assert sorted(map(tuple, persist_by(df, "t", str(tmp_path / "one"), ("a", "b")).collect())) == [("a", 1), ("b", 2)]
    assert not is_set(session, name)
    session.conf.set(name, "3")
    persist_by(df, "t", str(tmp_path / "two"), ("a", "b"))
    assert session.conf.get(name) == "3"
    assert is_users(session, name)
    assert not is_users(session, "spark.scheduler.mode")
