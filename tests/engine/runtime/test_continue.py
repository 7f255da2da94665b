"""`run JOB --resume ID --continue`: what a killed run has staged is committed with the rest, and not read again."""

import json
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from connectors.storage.object_store import StoreSettings
from engine.cli import main
from engine.runtime import job_execution
from engine.spark.writing.abort import abort_all
from engine.spark.writing.open_run import OpenRun
from engine.state import ledger
from engine.state.layout import layout_at
from tests.connectors.killed_runs import Run
from tests.connectors.stored_rows import delta_rows, iceberg_rows, paimon_rows, parquet_rows
from tests.ownership import schedules
from tests.services.s3 import JARS

pytestmark = [pytest.mark.spark, pytest.mark.delta]
TABLES = int(os.environ.get("PENSTOCK_TEST_CONTINUED_TABLES", "4"))
"""How many tables the killed run has; `make soak` has 50."""

SINKS = {
    "files": 'LocalFile { IN, path = "out/files", file_format_type = parquet }',
    "delta": 'Delta { IN, path = "out/delta" }',
    "delta_merged": 'Delta { IN, path = "out/delta_merged", write_mode = upsert, primary_keys = [id] }',
    "iceberg": 'Iceberg { IN, warehouse = "out", table = "d.iceberg" }',
    "iceberg_merged": 'Iceberg { IN, warehouse = "out", table = "d.merged", write_mode = upsert, primary_keys = [id] }',
    "paimon": 'Paimon { IN, warehouse = "out", table = "d.paimon" }',
    "jdbc": 'Jdbc { IN, url = "jdbc:sqlite:FOLDER/out/db.sqlite", table = "t" }',
    "last": 'LocalFile { IN, path = "out/last", file_format_type = parquet }',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    return tmp_path


def source(name: str, more: str = "") -> str:
    return (
        f'LocalFile {{ plugin_output = {name}, path = "in/{name}", file_format_type = csv, '
        f"schema {{ fields {{ id = int }} }}{more} }}"
    )


def rows(folder: Path, name: str, *ids: int) -> None:
    (folder / "in" / name).mkdir(parents=True, exist_ok=True)
    (folder / "in" / name / f"{ids[0]}.csv").write_text("".join(f"{id}\n" for id in ids))


def job(folder: Path, sources: str, sinks: str, transform: str = "") -> Path:
    path = folder / "job.conf"
    env = "env { parallelism = 1, job.retry.times = 0 }"
    text = f"{env}\nsource {{\n{sources}\n}}\n{transform}\nsink {{\n{sinks}\n}}\n"
    path.write_text(text.replace("FOLDER", str(folder)))
    return path


def killed_in(monkeypatch: pytest.MonkeyPatch, name: str, path: Path) -> OpenRun:
    """Run until the write of that name is to be staged, and leave everything as a kill does, or as a driver that is
    paused before it aborts: with the run that is returned, it goes on."""
    real, paused = job_execution.stage, []

    def stage(spark, run, write, *rest):
        if write.target.endswith(f"/{name}"):
            raise RuntimeError("killed here")
        return real(spark, run, write, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(job_execution, "stage", stage)
        patched.setattr(job_execution, "abort_all", lambda _, run: paused.append(run) or ())
        assert main(["run", str(path), "--quiet", "--run-id", "killed"]) == 1
    (run,) = paused
    return run


def read_by_run(folder: Path) -> dict[str, int]:
    """The sources that the last attempt has read, and their rows."""
    found = ledger.find(layout_at(None, str(folder / "state")), "killed")
    assert found is not None
    return {name: count["rows"] for name, count in found.counts["sources"].items()}


def test_what_each_sink_has_staged_is_committed_and_not_read_again(spark, folder, capsys, monkeypatch):
    for name in SINKS:
        rows(folder, name, 1, 2)
    sinks = "\n".join(sink.replace("IN", f"plugin_input = {name}") for name, sink in SINKS.items())
    path = job(folder, "\n".join(map(source, SINKS)), sinks)
    assert main(["run", str(path), "--quiet", "--run-id", "first"]) == 0, capsys.readouterr().err
    for name in SINKS:
        os.remove(folder / "in" / name / "1.csv")
        rows(folder, name, 2, 3)
    killed_in(monkeypatch, "last", path)
    other = folder / "other.conf"
    other.write_text(
        "source { FakeSource { plugin_output = f, schema { fields { id = int } } } }\nsink { Console {} }\n"
    )
    assert main(["run", str(other), "--quiet"]) == 0  # another job leaves it alone
    capsys.readouterr()
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert "7 writes were staged by the killed attempt, and not read again" in said.out, said
    assert "PEN5261" not in said.err
    assert read_by_run(folder) == {"last": 2}

    added, merged = [1, 2, 2, 3], [1, 2, 3]
    out, columns = folder / "out", ["id"]
    found = {
        "files": parquet_rows(out / "files", columns),
        "last": parquet_rows(out / "last", columns),
        "delta": delta_rows(out / "delta", columns),
        "delta_merged": delta_rows(out / "delta_merged", columns),
        "iceberg": iceberg_rows(out / "d/iceberg", columns),
        "iceberg_merged": iceberg_rows(out / "d/merged", columns),
        "paimon": paimon_rows(out, "d.paimon", columns),
    }
    assert {name: sorted(row[0] for row in counted.elements()) for name, counted in found.items()} == {
        name: merged if name.endswith("_merged") else added for name in found
    }
    with closing(sqlite3.connect(out / "db.sqlite")) as database:
        assert sorted(database.execute("select id from t")) == [(id,) for id in added]
        left = database.execute("select name from sqlite_master where name like 'penstock_stg%'")
        assert left.fetchall() == database.execute("select * from penstock_staging").fetchall() == []
    assert list(folder.glob("out/.*.penstock")) == []


def test_an_edited_query_and_a_changed_source_refuse_the_reuse(spark, folder, capsys, monkeypatch):
    names = ("same", "edited", "changed", "gone", "jdbc", "last")
    for name in names:
        rows(folder, name, 1)
    with closing(sqlite3.connect(folder / "in/db.sqlite")) as database:
        database.executescript("create table t (id int); insert into t values (1)")
    table = 'Jdbc { plugin_output = jdbc, url = "jdbc:sqlite:FOLDER/in/db.sqlite", table_path = "t" }'
    sources = "\n".join(table if name == "jdbc" else source(name) for name in names)
    sinks = "\n".join(
        f'LocalFile {{ plugin_input = {"q" if name == "edited" else name}, path = "out/{name}", '
        "file_format_type = parquet }"
        for name in names
    )
    query = 'transform { Sql { plugin_input = edited, plugin_output = q, query = "select id + %d as id from edited" } }'
    path = job(folder, sources, sinks, query % 0)
    assert main(["explain", str(path)]) == 0
    assert capsys.readouterr().out.count("a continued run (--continue) reads it again") == 1
    killed_in(monkeypatch, "last", path)
    job(folder, sources, sinks, query % 10)
    rows(folder, "changed", 2)
    for staged in folder.glob("out/.gone.penstock/*/data/part-*"):
        staged.unlink()
    capsys.readouterr()
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0, capsys.readouterr().err
    out, said = capsys.readouterr()
    assert "1 writes were staged by the killed attempt" in out
    for name, reason in (
        ("edited", "the job has changed"),
        ("changed", "a source has changed"),
        ("gone", "its staged rows are gone"),
        ("jdbc", "its source has no position"),
    ):
        assert re.search(rf"`{name}(_out)?`: {reason}", said), said
    found = {name: sorted(parquet_rows(folder / "out" / name, ["id"]).elements()) for name in names}
    assert found == {**{name: [(1,)] for name in names}, "edited": [(11,)], "changed": [(1,), (2,)]}
    assert sorted(read_by_run(folder)) == ["changed", "edited", "gone", "jdbc", "last"]
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0  # it has ended
    assert "run killed is committed already" in capsys.readouterr().out
    assert main(["run", str(path), "--resume", "never", "--continue"]) != 0
    assert "PEN5008" in capsys.readouterr().err


PAUSED = ("files", "delta", "iceberg", "paimon", "jdbc", "last")


def paused_job(folder: Path) -> Path:
    for name in PAUSED:
        rows(folder, name, 1)
    sinks = "\n".join(SINKS[name].replace("IN", f"plugin_input = {name}") for name in PAUSED)
    return job(folder, "\n".join(map(source, PAUSED)), sinks)


def check_paused(folder: Path) -> None:
    out, columns = folder / "out", ["id"]
    found = {
        "files": parquet_rows(out / "files", columns),
        "last": parquet_rows(out / "last", columns),
        "delta": delta_rows(out / "delta", columns),
        "iceberg": iceberg_rows(out / "d/iceberg", columns),
        "paimon": paimon_rows(out, "d.paimon", columns),
    }
    assert {name: list(counted.elements()) for name, counted in found.items()} == {name: [(1,)] for name in found}
    with closing(sqlite3.connect(out / "db.sqlite")) as database:
        assert database.execute("select id from t").fetchall() == [(1,)]
        assert database.execute("select * from penstock_staging").fetchall() == []
    assert list(folder.glob("out/.*.penstock")) == []


def test_a_driver_that_was_paused_removes_nothing_that_another_process_keeps(spark, folder, capsys, monkeypatch):
    """It wakes up when the other one has taken its rows over, but has not committed them."""
    path, real = paused_job(folder), job_execution.commit_all
    paused = killed_in(monkeypatch, "last", path)

    def commit_all(*given, **more):
        assert abort_all(spark, paused) == ()
        return real(*given, **more)

    monkeypatch.setattr(job_execution, "commit_all", commit_all)
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0, capsys.readouterr().err
    assert "5 writes were staged by the killed attempt" in capsys.readouterr().out
    assert read_by_run(folder) == {"last": 1}
    check_paused(folder)


def test_what_a_driver_has_begun_to_remove_is_read_again(spark, folder, capsys, monkeypatch):
    path = paused_job(folder)
    paused = killed_in(monkeypatch, "last", path)
    assert paused.journal.begin_abort() == frozenset()  # it is paused there, and goes on when all is committed
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0, capsys.readouterr().err
    assert "`files_out`, `delta_out`, `d_iceberg`, `d_paimon`, `t`: the process that staged it has begun to remove" in (
        capsys.readouterr().err
    )
    assert sorted(read_by_run(folder)) == sorted(PAUSED)
    check_paused(folder)
    for check in paused.checks:
        check.write.connector.abort(spark, paused.places[check.write.id], paused.context)
    check_paused(folder)


def scans(database) -> dict[str, int]:
    """How often each table of the database was read."""
    time.sleep(1.5)  # a connection reports what it has done once a second
    return dict(database.rows("select relname, seq_scan from pg_stat_user_tables where relname ~ '^t[0-9]+$'"))


def whole_run(folder: Path, tables: str, sinks: str) -> float:
    """The seconds of a run of the same tables into other targets, in a session that is there."""
    path = job(folder, tables, sinks.replace("out/", "whole/"))
    for run_id in ("warm", "whole"):
        started = time.monotonic()
        assert main(["run", str(path), "--quiet", "--run-id", run_id, "--state-dir", f"state-{run_id}"]) == 0
        shutil.rmtree(folder / "whole")
    return time.monotonic() - started


@pytest.mark.parametrize("staged", [TABLES // 2] if TABLES < 50 else [10, 25, 49])
def test_after_a_sigkill_only_the_tables_that_were_not_staged_are_read(spark, folder, postgres, capsys, staged):
    postgres.clear()
    for table in range(TABLES):
        postgres.run(
            f"create table t{table} (id int primary key, at int)",
            f"insert into t{table} select n, n from generate_series(1, 100) n",
        )
    login = ", ".join(f'{name} = "{value}"' for name, value in postgres.options.items())
    tables = "\n".join(
        f"Jdbc {{ plugin_output = t{table}, {login}, table_path = public.t{table}, "
        "schema { fields { id = int, at = int } }, incremental { column = at } }"
        for table in range(TABLES)
    )
    sinks = "\n".join(
        f'LocalFile {{ plugin_input = t{table}, path = "out/t{table}", file_format_type = parquet }}'
        for table in range(TABLES)
    )
    whole = whole_run(folder, tables, sinks) if TABLES >= 50 else None
    path = job(folder, tables, sinks)
    run = Run(path, "killed")
    until = time.monotonic() + 400
    while sum(name.endswith(".basis.json") for name in run.steps()) < staged:
        assert time.monotonic() < until, run.text()
        assert run.process.poll() is None, run.text()
        time.sleep(0.005)
    run.kill()
    known = {name.partition(".")[0] for name in run.steps() if name.endswith(".basis.json")}
    places = (json.loads((run.journal / f"{write}.staged.json").read_text())["staged"]["target"] for write in known)
    kept, before = {place.rpartition("/")[2] for place in places}, scans(postgres)
    started = time.monotonic()
    assert main(["run", str(path), "--resume", "killed", "--continue"]) == 0, capsys.readouterr().err
    seconds = time.monotonic() - started
    assert f"{len(known)} writes were staged by the killed attempt" in capsys.readouterr().out
    assert len(read_by_run(folder)) == TABLES - len(known)
    for table in range(TABLES):
        df = spark.read.parquet("file://" + str(folder / "out" / f"t{table}"))
        assert sorted(row.id for row in df.collect()) == list(range(1, 101)), table
    if whole is not None:
        share = whole * (TABLES - len(known)) / TABLES
        with capsys.disabled():
            print(
                f"\n{len(known)} of {TABLES} kept: {seconds:.1f} s; {whole:.1f} s for all, {share:.1f} s for the rest"
            )
    read = {name for name, count in scans(postgres).items() if count != before[name]}
    assert read == {f"t{table}" for table in range(TABLES)} - kept
    postgres.run("insert into t0 values (101, 101)")
    assert main(["run", str(path), "--quiet"]) == 0, capsys.readouterr().err  # the watermarks have moved
    assert spark.read.parquet("file://" + str(folder / "out/t0")).count() == 101
    assert spark.read.parquet("file://" + str(folder / "out/t1")).count() == 100


LEASE_SECONDS = 3


def s3_job(folder: Path, bucket, settings) -> Path:
    """Two tables from a disk that both hosts have to a bucket, in which the state directory is, too."""
    given = ", ".join(f'"{name}" = "{value}"' for name, value in settings.items())
    sinks = "\n".join(
        f'S3File {{ plugin_input = {name}, bucket = "{bucket}", path = "/out/{name}", file_format_type = parquet, '
        f"hadoop_s3_properties {{ {given} }} }}"
        for name in ("one", "last")
    )
    return job(folder, f"{source('one')}\n{source('last')}", sinks)


@pytest.mark.soak
def test_a_killed_pod_is_continued_on_another_host(s3_spark, folder, s3, capsys, monkeypatch):
    """Its host name and its process numbers are gone: once its lease has expired, what it had staged is kept."""
    bucket = s3.bucket()
    for name in ("one", "last"):
        rows(folder, name, 1, 2)
    path, state = s3_job(folder, bucket, s3.settings), f"{bucket}/state"
    spark_settings = {f"spark.hadoop.{name}": value for name, value in s3.settings.items()}
    monkeypatch.setattr(schedules, "LEASE_SECONDS", LEASE_SECONDS)
    pod = schedules.Driver(folder, 1, {**spark_settings, "jars": JARS})
    pod.ask(["run", str(path), "--quiet", "--run-id", "killed", "--state-dir", state], 0)
    try:
        until = time.monotonic() + 200
        while not any(key.endswith(".basis.json") for key in (bucket / "state").keys()):  # noqa: SIM118
            assert time.monotonic() < until, pod.text()
            time.sleep(0.01)
    finally:
        pod.kill()
    StoreSettings.of(str(bucket), s3.settings).apply(s3_spark)
    assert main(["run", str(path), "--state-dir", state, "--resume", "killed", "--continue"]) == 0, capsys.readouterr()
    assert re.search("[12] writes were staged by the killed attempt, and not read again", capsys.readouterr().out)
    for name in ("one", "last"):
        assert sorted(row.id for row in s3_spark.read.parquet(f"{bucket}/out/{name}").collect()) == [1, 2]
    assert [key for key in bucket.keys() if key.startswith("out/.")] == bucket.uploads() == []  # noqa: SIM118
