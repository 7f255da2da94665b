"""Incremental sources: each run reads what no committed run has read, whatever happens in between."""

import json
import os
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from engine.cli import main
from engine.runtime import job_execution
from engine.spark.writing import commit
from engine.state.journal import Journal
from tests.connectors.killed_commits import Killed

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def job(folder: Path, source: str, sinks: str = "", transform: str = "") -> Path:
    sink = 'LocalFile { plugin_input = "events", path = "FOLDER/out", file_format_type = "parquet" }'
    text = f'env {{ job.name = "load" }}\nsource {{ {source} }}\n{transform}\nsink {{ {sinks or sink} }}\n'
    (folder / "load.conf").write_text(text.replace("FOLDER", str(folder)))
    return folder / "load.conf"


def run(path: Path, *arguments: str) -> int:
    return main(["run", str(path), "--quiet", *arguments])


def ids(spark, folder: Path, name: str = "out") -> list[int]:
    path = folder / name
    return sorted(row.id for row in spark.read.parquet(str(path)).collect()) if path.exists() else []


def events(folder: Path, name: str, *rows: tuple[object, ...]) -> Path:
    path = folder / "in" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(",".join("" if value is None else str(value) for value in row) + "\n" for row in rows))
    return path


def by_column(column: str, type: str, more: str = "") -> str:
    return (
        'LocalFile { plugin_output = "events", path = "FOLDER/in", file_format_type = "csv", '
        f"schema {{ fields {{ id = int, {column} = {type} }} }}, incremental {{ column = {column}{more} }} }}"
    )


VALUES = {
    "bigint": ["1", "5", "70", "800"],
    '"decimal(38,18)"': ["0.000000000000000001", "0.000000000000000002", "1.5", "12345678901234567890.5"],
    "date": ["2026-01-01", "2026-01-02", "2026-02-01", "2027-01-01"],
    "timestamp": [f"2026-01-01 00:00:{second}" for second in ("00.000001", "00.000002", "01", "02")],
    "timestamp_ntz": ["2026-01-01 00:00:00", "2026-01-01 00:00:01", "2026-01-01 10:00:00", "2026-05-05 12:00:00"],
    "string": ["Zebra", "apple's", "b", "é"],
}


def test_runs_read_what_is_past_the_watermark(spark, folder, capsys):
    """A watermark of each type, each in a source of its own over the same files."""
    columns = [f"v{index}" for index in range(len(VALUES))]
    fields = ", ".join(f"{column} = {type}" for column, type in zip(columns, VALUES, strict=True))
    sources = "\n".join(
        f'LocalFile {{ plugin_output = "by_{column}", path = "FOLDER/in", file_format_type = "csv", '
        f"schema {{ fields {{ id = int, {fields} }} }}, incremental {{ column = {column} }} }}"
        for column in columns
    )
    sinks = "\n".join(
        f'LocalFile {{ plugin_input = "by_{column}", path = "FOLDER/{column}", file_format_type = "parquet" }}'
        for column in columns
    )
    path = job(folder, sources, sinks)

    def row(id: int, index: int | None) -> tuple[object, ...]:
        return (id, *(None if index is None else values[index] for values in VALUES.values()))

    events(folder, "1.csv", row(1, 0), row(2, 1), row(3, None))
    assert run(path, "--run-id", "a") == 0, capsys.readouterr().err
    (begun,) = folder.rglob("runs/a/journal/begin.json")
    assert sorted(json.loads(begun.read_text())["incremental"].values()) == [f"by_{column}" for column in columns]
    events(folder, "2.csv", row(4, 2), row(5, 1))
    assert run(path, "--run-id", "b") == 0
    events(folder, "3.csv", row(6, 3))
    assert run(path, "--run-id", "c") == 0
    assert run(path, "--run-id", "d") == 0  # nothing is new
    for column in columns:
        assert ids(spark, folder, column) == [1, 2, 4, 6]  # 3 has no value, 5 one that was read before
    capsys.readouterr()
    assert main(["state", str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["column"], each["watermark"]["run_id"]) for each in found] == [(column, "c") for column in columns]
    assert main(["explain", str(path)]) == 0
    shown = capsys.readouterr().out
    assert all(each["watermark"]["value"]["value"].replace("'", "\\'") in shown for each in found)


def test_files_are_read_as_they_arrive(spark, folder, capsys):
    source = (
        'LocalFile { plugin_output = "events", path = "FOLDER/in", file_format_type = "csv", '
        "schema { fields { id = int } }, incremental {} }"
    )
    path = job(folder, source)
    os.utime(events(folder, "1.csv", (1,)), (1_750_000_000, 1_750_000_000))
    assert run(path) == 0, capsys.readouterr().err
    os.utime(events(folder, "2.csv", (2,)), (1_749_999_000, 1_749_999_000))  # moved here: older than what was read
    os.utime(events(folder, "3.csv", (3,)), (1_750_000_000, 1_750_000_000))  # as old
    assert run(path) == 0
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2, 3]
    os.utime(events(folder, "4.csv", (4,)), (1_650_000_000, 1_650_000_000))  # it arrives late
    assert run(path) == 0
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2, 3, 4]
    capsys.readouterr()
    assert main(["explain", str(path)]) == 0
    assert "incremental by file modification time: watermark 2025-06-15 15:06:40.000" in capsys.readouterr().out
    assert main(["state", str(path), "--reset", "events", "--to", "2025-06-15 14:56:40"]) == 0
    assert run(path) == 0
    assert run(path) == 0
    assert ids(spark, folder) == [1, 1, 2, 3, 3, 4]


def test_a_lag_reads_rows_again_and_initial_begins_later(spark, folder, capsys):
    replaced = (
        'LocalFile { plugin_input = "events", path = "FOLDER/out", file_format_type = "parquet", '
        "data_save_mode = DROP_DATA }"
    )
    path = job(folder, by_column("at", "timestamp", ', initial = "2026-01-02", lag = "1 hour"'), replaced)
    events(folder, "1.csv", (1, "2026-01-01 10:00:00"), (2, "2026-01-02 00:00:00"), (3, "2026-01-02 10:00:00"))
    assert run(path) == 0, capsys.readouterr().err
    assert ids(spark, folder) == [2, 3]
    events(folder, "2.csv", (4, "2026-01-02 09:00:00"), (5, "2026-01-02 08:59:59"))
    assert run(path) == 0
    assert ids(spark, folder) == [3, 4]


def test_a_failed_run_moves_no_watermark(spark, folder, capsys):
    sinks = (
        'LocalFile { plugin_input = "events", path = "FOLDER/out", file_format_type = "parquet" }\n'
        'LocalFile { plugin_input = "broken", path = "FOLDER/two", file_format_type = "parquet" }'
    )
    query = "select id, cast(raise_error('no') as int) as v from events where id = 2"
    transform = f'transform {{ Sql {{ plugin_input = "events", plugin_output = "broken", query = "{query}" }} }}'
    path = job(folder, by_column("at", "int"), sinks, transform)
    events(folder, "1.csv", (1, 1))
    assert run(path) == 0, capsys.readouterr().err
    events(folder, "2.csv", (2, 2))
    assert run(path) == 1
    assert ids(spark, folder) == [1]
    path.write_text(path.read_text().replace("raise_error('no')", "id"))
    assert run(path) == 0
    assert ids(spark, folder) == [1, 2]
    assert ids(spark, folder, "two") == [2]


STEPS = {
    "before the decision": (Journal, "decide", False),
    "after the decision": (Journal, "decide", True),
    "after one of two commits": (Journal, "committed", True),
    "before the watermark moves": (commit, "move", False),
    "after the watermark has moved": (commit, "move", True),
    "before the end": (Journal, "end", False),
}


@pytest.mark.parametrize(
    ("step", "ended_by"),
    [
        *((step, "the next run") for step in STEPS),
        *product(["after one of two commits", "before the end"], ["resume", "the same run id"]),
    ],
)
def test_a_kill_loses_and_repeats_nothing(spark, folder, monkeypatch, capsys, step, ended_by):
    sinks = "\n".join(
        f'LocalFile {{ plugin_input = "events", path = "FOLDER/{name}", file_format_type = "parquet" }}'
        for name in ("out", "two")
    )
    path = job(folder, by_column("at", "int"), sinks)
    events(folder, "1.csv", (1, 1))
    assert run(path, "--run-id", "first") == 0, capsys.readouterr().err
    events(folder, "2.csv", (2, 2))
    owner, name, is_after = STEPS[step]
    real = getattr(owner, name)

    def killed(*arguments):
        if is_after:
            real(*arguments)
        raise Killed(step)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, killed)
        patched.setattr(job_execution, "abort_all", lambda *_: ())
        with pytest.raises(Killed):
            run(path, "--run-id", "killed")
    monkeypatch.setattr("connectors.commits.run_owner.is_alive", lambda mark: False)
    monkeypatch.setattr("connectors.commits.run_owner.has_died", lambda mark: True)
    events(folder, "3.csv", (3, 3))
    if ended_by == "resume":
        assert main(["run", "--resume", "killed"]) == 0, capsys.readouterr().err
        said = (
            "its commit had begun" if (folder / "out").exists() else "its commit had not begun: no target has changed"
        )
        assert said in capsys.readouterr().out
    if ended_by == "the same run id":
        assert run(path, "--run-id", "killed") == 0, capsys.readouterr().err
    assert run(path, "--run-id", "last") == 0, capsys.readouterr().err
    assert ids(spark, folder) == [1, 2, 3]
    assert ids(spark, folder, "two") == [1, 2, 3]
