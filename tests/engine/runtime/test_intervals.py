"""Jobs with intervals: whatever happens between two runs, an interval is done or not done, exactly with its rows."""

import json
import os
import random
import shutil
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main
from engine.spark.writing import commit
from engine.state.journal import Journal
from tests.engine.runtime.killed_steps import Step, kill, processes_are_gone

pytestmark = pytest.mark.spark

FILES = 'LocalFile { plugin_input = "orders", path = "FOLDER/out", file_format_type = "parquet", \
partition_by = [day], write_mode = overwrite_partitions }'
DELTA = 'Delta { plugin_input = "orders", path = "FOLDER/out", write_mode = replace_where }'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(folder: Path, *, days: int = 3, sink: str = FILES, more: str = "", amount: str = "amount") -> Path:
    end = date(2024, 2, 1) + timedelta(days=days)
    text = f"""
env {{ job.name = load, interval {{ column = day, start = "2024-02-01", end = "{end}" {more} }} }}
source {{ LocalFile {{ plugin_output = "read", path = "FOLDER/in", file_format_type = "csv"
  schema {{ fields {{ id = int, day = date, amount = int }} }} }} }}
transform {{ Sql {{ plugin_input = "read", plugin_output = "orders"
  query = "select id, day, {amount} as amount from read where day < date '${{interval_end}}'" }} }}
sink {{ {sink} }}
"""
    (folder / "load.conf").write_text(text.replace("FOLDER", str(folder)))
    return folder / "load.conf"


def orders(folder: Path, *rows: tuple[int, int, int]) -> None:
    """The rows of the source: the id, the day of February and the amount."""
    (folder / "in").mkdir(exist_ok=True)
    start = date(2024, 2, 1)
    text = "".join(f"{id},{start + timedelta(days=day - 1)},{amount}\n" for id, day, amount in rows)
    (folder / "in" / "orders.csv").write_text(text)


def written(spark, folder: Path, format: str = "parquet") -> list[tuple[int, int, int]]:
    rows = spark.read.format(format).load(str(folder / "out")).collect()
    return sorted((row.id, (row.day - date(2024, 1, 31)).days, row.amount) for row in rows)


def run(command: str, path: Path | str, *arguments: str) -> int:
    return main([command, str(path), "--quiet", *arguments])


def states(path: Path, capsys) -> list[tuple[str, str, int]]:
    capsys.readouterr()
    assert main(["state", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return [(each["start"][8:10], each["state"], each["count"]) for each in found]


def test_runs_do_what_is_missing_and_a_restatement_what_is_named(spark, folder, capsys):
    path = job(folder)
    orders(folder, (1, 1, 10), (2, 2, 20), (3, 2, 30), (4, 3, 40), (5, 9, 50))
    assert run("run", path) == 0, capsys.readouterr().err
    first = [(1, 1, 10), (2, 2, 20), (3, 2, 30), (4, 3, 40)]
    assert written(spark, folder) == first
    assert states(path, capsys) == [("01", "done", 3)]
    orders(folder, (1, 1, 11), (4, 3, 41))  # day 2 has no rows any more
    assert run("run", path) == 0, capsys.readouterr().err
    assert "no interval is due" in main_output(path, capsys)
    assert written(spark, folder) == first
    assert run("restate", path, "--from", "2024-02-02", "--to", "2024-02-03") == 0, capsys.readouterr().err
    assert written(spark, folder) == [(1, 1, 10), (4, 3, 40)]
    assert main(["state", str(path), "--missing", "--from", "2024-02-03"]) == 0
    assert states(path, capsys) == [("01", "done", 2), ("03", "missing", 1)]
    assert run("backfill", path, "--from", "2024-02-01", "--to", "2024-02-04") == 0, capsys.readouterr().err
    assert written(spark, folder) == [(1, 1, 10), (4, 3, 41)]


def main_output(path: Path, capsys) -> str:
    assert main(["run", str(path)]) == 0
    return capsys.readouterr().out


def test_a_changed_job_names_what_is_stale_and_lost_state_is_noticed(spark, folder, capsys):
    path = job(folder)
    orders(folder, (1, 1, 10), (2, 2, 20), (3, 3, 30))
    assert run("run", path) == 0, capsys.readouterr().err
    job(folder, amount="amount * 2", days=4)
    capsys.readouterr()
    assert main(["explain", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "missing: 1: 2024-02-04" in shown
    assert "done before the job changed: 3: 2024-02-01..2024-02-03" in shown
    assert run("run", path) == 0
    assert "PEN5423" in capsys.readouterr().err
    assert states(path, capsys) == [("01", "done, before the job changed", 3), ("04", "done", 1)]
    assert run("restate", path, "--from", "2024-02-01", "--to", "2024-02-04") == 0, capsys.readouterr().err
    assert written(spark, folder) == [(1, 1, 20), (2, 2, 40), (3, 3, 60)]
    assert states(path, capsys) == [("01", "done", 4)]
    shutil.copytree(folder / "in", folder / "in2")
    path.write_text(path.read_text().replace("/in", "/in2"))
    assert run("run", path) == 1
    assert "PEN5421" in capsys.readouterr().err
    assert main(["state", str(path), "--done"]) == 0
    assert run("run", path) == 0, capsys.readouterr().err
    shutil.rmtree(folder / "out")
    assert main(["state", str(path), "--missing", "--from", "2024-02-04"]) == 0
    path.write_text(path.read_text().replace("/in2", "/in"))
    assert main(["state", str(path), "--missing"]) == 0
    assert run("run", path) == 0, capsys.readouterr().err
    shutil.rmtree(folder / "out")
    assert main(["state", str(path), "--missing", "--from", "2024-02-04"]) == 0
    assert run("run", path) == 1
    assert "PEN5424" in capsys.readouterr().err


STEPS = {
    "before the decision": Step(Journal, "decide", False),
    "after the decision": Step(Journal, "decide", True),
    "before the interval is recorded": Step(commit, "record_done", False),
    "after the interval is recorded": Step(commit, "record_done", True),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_leaves_an_interval_done_or_not_done_with_its_rows(spark, folder, monkeypatch, capsys, step):
    path = job(folder)
    orders(folder, (1, 1, 10), (2, 2, 20), (3, 3, 30))
    assert kill(monkeypatch, STEPS[step], 2, lambda: run("run", path))
    processes_are_gone(monkeypatch)
    orders(folder, (1, 1, 11), (2, 2, 21), (3, 3, 31))
    assert run("run", path) == 0, capsys.readouterr().err
    second = 21 if step == "before the decision" else 20  # once decided, it is finished with its rows
    assert written(spark, folder) == [(1, 1, 10), (2, 2, second), (3, 3, 31)]
    assert states(path, capsys) == [("01", "done", 3)]


def backfills(path: Path, *ranges: tuple[str, str]) -> list[int]:
    """The exit codes of backfills that are made at once."""
    codes: dict[int, int] = {}

    def one(number: int) -> None:
        start, end = ranges[number]
        codes[number] = run("backfill", path, "--from", start, "--to", end)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(ranges))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [codes.get(number, 1) for number in range(len(ranges))]


def test_intervals_side_by_side_and_two_backfills_at_once_are_one_full_load(spark, folder, capsys):
    path = job(folder, sink=DELTA, days=5, more=", concurrency = 2, batch = 2")
    rows = [(number, 1 + number % 5, number) for number in range(20)]
    orders(folder, *rows)
    backfills(path, ("2024-02-01", "2024-02-04"), ("2024-02-03", "2024-02-06"))  # one may be refused, or both succeed
    assert run("run", path) == 0, capsys.readouterr().err
    assert written(spark, folder, "delta") == sorted(rows)
    assert states(path, capsys) == [("01", "done", 5)]


PROJECT = {
    "penstock.conf": 'name = "shop"\njobs = ["jobs"]\n',
    "jobs/daily.conf": """
env { interval { column = day, start = "2024-01-31", end = "2024-02-02" } }
source { LocalFile { plugin_output = "read", path = "in", file_format_type = "csv"
  schema { fields { id = int, day = date, amount = int } } } }
sink { LocalFile { plugin_input = "read", path = "lake/daily", file_format_type = parquet
  partition_by = [day], write_mode = overwrite_partitions } }
""",
    "jobs/monthly.conf": """
env { interval { column = month, grain = month, start = "2024-01", end = "2024-03" } }
source { LocalFile { plugin_output = "daily", path = "lake/daily", file_format_type = parquet } }
transform { Sql { plugin_input = "daily", plugin_output = "sums"
  query = "select cast(trunc(day, 'month') as date) as month, sum(amount) as amount from daily group by 1" } }
sink { Delta { plugin_input = "sums", path = "lake/monthly", write_mode = replace_where } }
""",
}


def test_a_restatement_goes_on_downstream_in_the_intervals_of_each_job(spark, folder, capsys, monkeypatch):
    monkeypatch.delenv("PENSTOCK_STATE_DIR")
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    orders(folder, (1, 0, 1), (2, 0, 2), (3, 1, 4), (4, 1, 8))
    assert main(["run", "--quiet"]) == 0, capsys.readouterr().err
    assert monthly(spark, folder) == {1: 3, 2: 12}
    orders(folder, (1, 0, 100), (2, 0, 100), (3, 1, 5), (4, 1, 9))
    assert main(["restate", "daily", "--from", "2024-02-01", "--to", "2024-02-02", "--downstream", "--quiet"]) == 0
    assert monthly(spark, folder) == {1: 3, 2: 14}
    assert main(["restate", "monthly", "--from", "2024-02-01T05:00", "--to", "2024-03", "--quiet"]) == 2


def monthly(spark, folder: Path) -> dict[int, int]:
    rows = spark.read.format("delta").load(str(folder / "lake" / "monthly")).collect()
    return {row.month.month: row.amount for row in rows}


@pytest.mark.parametrize(
    ("seed", "days", "kills"),
    [
        (int(os.environ.get("PENSTOCK_TEST_SEED", "1")), 6, 2),
        pytest.param(int(os.environ.get("PENSTOCK_TEST_SEED", "2")), 30, 100, marks=pytest.mark.soak),
    ],
)
def test_kills_late_rows_restatements_and_backfills_at_once_are_one_full_load(
    spark, folder, monkeypatch, capsys, seed, days, kills
):
    chance, killed = random.Random(seed), 0
    path = job(folder, sink=DELTA, days=days, more=", concurrency = 2")
    processes_are_gone(monkeypatch)
    rows = [(number, 1 + number % days, number) for number in range(4 * days)]
    orders(folder, *rows)
    first, end = date(2024, 2, 1), date(2024, 2, 1) + timedelta(days=days)
    while killed < kills:
        step, count = STEPS[chance.choice(list(STEPS))], chance.randint(1, 3)
        if kill(monkeypatch, step, count, lambda: run("run", path)):
            killed += 1
            continue
        late = (1000 + len(rows), chance.randint(1, days), killed)  # all is done: a row comes late, and is restated
        rows = [*rows, late]
        orders(folder, *rows)
        start = first + timedelta(days=late[1] - 1)
        again = ("restate", path, "--from", str(start), "--to", str(start + timedelta(days=1)))
        if kill(monkeypatch, step, 1, lambda again=again: run(*again)):
            killed += 1
            assert run(*again) == 0, capsys.readouterr().err
        assert main(["state", str(path), "--missing", "--from", str(start)]) == 0
        if chance.random() < 0.2:
            backfills(path, (str(first), str(end)), (str(start), str(end)))  # one may be refused, or both succeed
    assert run("run", path) == 0, capsys.readouterr().err
    assert written(spark, folder, "delta") == sorted(rows)
    assert states(path, capsys) == [("01", "done", days)]
