"""A job of many tables: some of them chosen, one that fails, and the same run again."""

import json
import subprocess
import sys

import pytest

from connectors.commits import run_owner
from connectors.commits.steps import step_text
from engine.cli import main

JOB = """
env { failure_policy = "continue", job.retry.times = 0 }
source { FakeSource { plugin_output = "crm", row.num = 3, tables_configs = [
  { schema { table = "shop.orders", fields { id = int, amount = int } } }
  { schema { table = "shop.people", fields { id = int, name = string } }, row.num = 2 }
  { schema { table = "shop.parts", fields { id = int } } }
  { schema { table = "other.parts", fields { id = int } } }
] } }
transform { Sql { table_match_regex = "shop.people", query = "select id, 1 / %s as rate from dual" } }
sink { LocalFile { plugin_output = "lake", path = "out/${database_name}_${table_name}", file_format_type = "parquet" } }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.conf").write_text(JOB % "(id - id)")
    return tmp_path


def rows(spark, folder):
    names = sorted(path.name for path in (folder / "out").glob("*_*")) if (folder / "out").exists() else []
    return {name: spark.read.parquet(str(folder / "out" / name)).count() for name in names}


@pytest.mark.parametrize(
    ("arguments", "writes"),
    [
        (["--only", "orders"], ["lake.orders"]),
        (["--only", "SHOP.*", "--except", "shop.p*"], ["lake.orders"]),
        (["--except", "parts"], ["lake.orders", "lake.people"]),
        (["--only", "lake"], ["lake.orders", "lake.people", "lake.shop.parts", "lake.other.parts"]),
    ],
)
def test_tables_are_chosen(folder, capsys, arguments, writes):
    assert main(["explain", "job.conf", *arguments]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[1].rstrip(":") for line in printed if line.startswith("write ")] == writes


def test_a_table_that_there_is_not_is_an_error(folder, capsys):
    assert main(["explain", "job.conf", "--only", "order"]) == 2
    said = capsys.readouterr().err
    assert "the job writes no table `order`" in said
    assert "did you mean `orders`?" in said
    assert main(["explain", "job.conf", "--only", "crm.orders"]) == 2
    assert "did you mean `lake.orders` or `orders` or `shop.orders`?" in capsys.readouterr().err
    assert main(["explain", "job.conf", "--only", "invoices"]) == 2
    assert "names are `lake`, `lake.orders`, `lake.other.parts`, `lake.people` and" in capsys.readouterr().err
    assert main(["explain", "job.conf", "--except", "*"]) == 2


@pytest.mark.spark
def test_one_failed_table_stops_no_other_and_a_rerun_does_only_what_is_missing(spark, folder, capsys):
    assert main(["run", "job.conf", "--run-id", "one", "--only", "orders"]) == 0
    assert rows(spark, folder) == {"shop_orders": 3}
    capsys.readouterr()
    assert main(["run", "job.conf", "--run-id", "one"]) == 1
    out = capsys.readouterr().out
    assert "lake: 3 tables" in out
    assert "1 FAILED: shop.people" in out
    assert "1 writes of this run were committed before" in out
    everything = {"shop_orders": 3, "shop_parts": 3, "other_parts": 3}
    assert rows(spark, folder) == everything
    (folder / "job.conf").write_text(JOB % "(id - id + 2)")
    assert main(["run", "job.conf", "--run-id", "two", "--only", "people"]) == 0
    assert main(["run", "job.conf", "--run-id", "one"]) == 0
    assert rows(spark, folder) == {**everything, "shop_people": 4}
    capsys.readouterr()
    assert main(["run", "job.conf", "--run-id", "one"]) == 0
    assert "run one is committed already" in capsys.readouterr().out
    assert rows(spark, folder) == {**everything, "shop_people": 4}
    assert main(["run", "job.conf", "--run-id", "all", "--verbose"]) == 0
    assert "lake.shop.parts → out/shop_parts" in capsys.readouterr().out


@pytest.mark.spark
def test_a_job_that_another_process_runs_is_refused_until_that_has_died(spark, folder, capsys):
    assert main(["run", "job.conf", "--run-id", "here", "--only", "orders"]) == 0
    capsys.readouterr()
    journal = folder / "state" / "runs" / "elsewhere" / "journal"
    journal.mkdir(parents=True)
    begin = json.loads((folder / "state" / "runs" / "here" / "journal" / "begin.json").read_text())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        start = run_owner._start(other.pid)
        mark = {**run_owner.this_process(), "pid": other.pid, "start": start}
        changed = {**begin, "run_id": "elsewhere", "owner": mark, "claimed": False}  # as by an earlier version
        (journal / "begin.json").write_text(step_text({k: v for k, v in changed.items() if k != "checksum"}))
        (folder / "state" / "open" / "elsewhere").touch()
        assert main(["run", "job.conf", "--only", "parts"]) == 0  # other targets
        capsys.readouterr()
        assert main(["run", "job.conf", "--only", "orders"]) == 1
        said = capsys.readouterr().err
        assert f"the job `job` is already running: run `elsewhere`, process {other.pid} on" in said
        assert f"its journal is {journal}" in said
    assert main(["run", "job.conf", "--only", "orders"]) == 0
    assert rows(spark, folder)["shop_orders"] == 6
