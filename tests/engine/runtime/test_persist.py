"""Rows that several sinks read: the same for all of them, computed once, counted once, and gone at the end."""

import json

import pytest

from engine.cli import main

pytestmark = pytest.mark.spark

JOB = """
env {{ job.name = "kept" }}
source {{
  LocalFile {{
    plugin_output = "orders", path = "{folder}/orders.csv", file_format_type = "csv", csv_use_header_line = true
    schema {{ fields {{ id = int, amount = int }} }}
  }}
}}
transform {{
  Sql {{
    plugin_input = "orders", plugin_output = "some"{cache}
    query = "select id, {expression} as v from orders where amount > 10"
  }}
  Sql {{ plugin_input = "some", plugin_output = "doubled", query = "select id, v, id * 2 as twice from some" }}
}}
sink {{
  LocalFile {{ plugin_input = "some", path = "{folder}/one", file_format_type = "parquet" }}
  LocalFile {{ plugin_input = "doubled", path = "{folder}/two", file_format_type = "parquet" }}
}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    lines = [f"{number},{number % 20}" for number in range(100)]
    (tmp_path / "orders.csv").write_text("\n".join(["id,amount", *lines]) + "\n")
    return tmp_path


def run(folder, expression, cache=""):
    (folder / "job.conf").write_text(JOB.format(folder=folder, expression=expression, cache=cache))
    return main(["run", str(folder / "job.conf"), "--run-id", "r"])


def rows(spark, folder, name):
    return sorted(map(tuple, spark.read.parquet(str(folder / name)).select("id", "v").collect()))


def kept_by_spark(spark):
    return set(spark.sparkContext._jsc.getPersistentRDDs())


@pytest.mark.parametrize("expression", ["uuid()", "rand()", "current_timestamp()", "monotonically_increasing_id()"])
def test_all_sinks_get_the_same_rows(spark, folder, capsys, expression):
    assert run(folder, expression) == 0, capsys.readouterr().err
    one, two = rows(spark, folder, "one"), rows(spark, folder, "two")
    assert len(one) == 45
    assert one == two


@pytest.mark.parametrize("cache", ["disk", "memory"])
def test_persisted_rows_are_read_once_counted_once_and_released(spark, folder, capsys, cache):
    before = kept_by_spark(spark)  # Delta keeps the states of its tables
    assert run(folder, "amount", f", cache = {cache}") == 0, capsys.readouterr().err
    counts = json.loads((folder / "state" / "runs" / "r" / "run.json").read_text())["counts"]
    assert counts["sources"]["orders"]["rows"] == 100
    assert counts["sources"]["orders"]["passes"] == 1
    assert [(each["rows"], each["filtered"]) for each in counts["sinks"].values()] == [(45, 55), (45, 55)]
    assert kept_by_spark(spark) <= before


def test_other_rows_for_each_sink_where_the_job_says_so(spark, folder, capsys):
    assert run(folder, "uuid()", ", cache = none") == 0, capsys.readouterr().err
    counts = json.loads((folder / "state" / "runs" / "r" / "run.json").read_text())["counts"]
    assert counts["sources"]["orders"]["passes"] == 2


def test_a_error_while_persisted_rows_are_computed_is_reported_at_its_place(spark, folder, capsys):
    assert run(folder, "amount / (id - 11)", ", cache = disk") == 1
    printed = capsys.readouterr().err
    assert "error[PEN5001]: Division by zero" in printed
    assert "job.conf:12:" in printed
    assert not (folder / "one").exists()
