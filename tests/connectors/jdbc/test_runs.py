"""Whole runs with Jdbc sinks: the rows that a run reports, tasks that load twice, and processes that are killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics, RunError, Severity
from connectors.jdbc.connection import PASSWORD_VARIABLE, connection_of
from connectors.jdbc.connector import connector
from connectors.jdbc.database import connected
from connectors.jdbc.writing import ledger, staging
from connectors.jdbc.writing.load import load, loads_by_copy
from engine.compile import Settings, compile_job
from engine.job.model.job import Env
from engine.plan.credentials import credentials_of
from engine.plan.nodes import Plan
from engine.runtime.execute import run_job
from engine.runtime.run_request import RunRequest
from engine.runtime.transient import is_transient
from engine.spark.writing.recover import recover
from engine.state.layout import layout_at
from engine.state.run_state import State
from tests.connectors.dead_runs import bury
from tests.connectors.given_options import options_of
from tests.connectors.jobs import rows, run_writes, stage_writes, write

pytestmark = pytest.mark.spark

ROWS = 250

JOB = """
env { job.mode = "BATCH" }
source { FakeSource { plugin_output = "fake", row.num = %d, schema { fields { id = int, name = string } } } }
sink {
%s
}
"""
SINK = """Jdbc {{ plugin_input = "fake", url = "{url}", {login}table = "{table}", data_save_mode = "{mode}" }}"""


def job_file(folder: Path, database, *sinks: tuple[str, str]) -> Path:
    """A job that writes the same rows to each table, in a save mode."""
    login = f'user = "{database.user}", password = "{database.password}", ' if database.user else ""
    blocks = (SINK.format(url=database.url, login=login, table=table, mode=mode) for table, mode in sinks)
    path = folder / "job.conf"
    path.write_text(JOB % (ROWS, "\n".join(blocks)))
    return path


def run(spark, path: Path, state: Path, run_id: str):
    diagnostics = Diagnostics()
    compiled = compile_job(path, Settings(reads_secrets=True, state_dir=str(state)), diagnostics)
    assert compiled is not None, list(diagnostics)
    return run_job(spark, compiled, RunRequest(run_id))


def test_a_run_reports_the_rows_that_it_wrote(spark, database, tmp_path):
    path = job_file(tmp_path, database, ("t", "APPEND_DATA"))
    result = run(spark, path, tmp_path / "state", "run")
    [count] = result.writes
    assert (count.rows, count.filtered, count.target) == (ROWS, 0, "t")
    assert database.rows("select count(*) from t") == [(ROWS,)]


def test_a_partition_is_copied_once(spark, postgres):
    """A task is tried again when its result was lost: its rows were committed all the same."""
    postgres.clear()
    postgres.run("create table t (id bigint)")
    connection = connection_of(options_of(connector.source_options, **postgres.options, table_path="t"))
    assert loads_by_copy(connection)
    with connected(spark, connection) as database:
        ledger.ensure(database)
    df = spark.range(0, 100, numPartitions=3)
    for _ in range(2):
        assert load(df, connection, ("t",), 1000) == 100
    assert postgres.rows("select count(*), count(distinct id) from t") == [(100, 100)]


def test_rows_that_were_loaded_twice_are_not_committed(spark, sqlite, tmp_path, monkeypatch):
    def load_twice(*given):
        load(*given)
        return load(*given)

    sqlite.run("create table t (id bigint)")
    job = [write(connector, rows("select id from range(5)", "id bigint"), "w", **sqlite.options, table="t")]
    with monkeypatch.context() as patched:
        patched.setattr(staging, "load", load_twice)
        with pytest.raises(RunError, match=r"PEN5005.*sent 5 rows for `t`.*has 10") as caught:
            run_writes(spark, job, str(tmp_path / "state"), "one")
    assert is_transient(caught.value)
    assert sqlite.rows("select * from t") == []
    run_writes(spark, job, str(tmp_path / "state"), "two")
    assert sqlite.rows("select count(*) from t") == [(5,)]


@pytest.mark.parametrize("instant", [pytest.param("before", marks=pytest.mark.soak), "after"])
def test_killed_between_decision_and_commit(spark, postgres, tmp_path, instant):
    """The rerun with the same id finishes what was decided: no row is lost, none is there twice."""
    postgres.clear()
    postgres.run(
        "create table appended (id int, name text)", "insert into appended values (-1, 'old')",
        "create table replaced (id int, name text)", "insert into replaced values (-1, 'old')",
    )  # fmt: skip
    path = job_file(tmp_path, postgres, ("appended", "APPEND_DATA"), ("replaced", "DROP_DATA"))
    state = tmp_path / "state"
    command = [sys.executable, "-m", "tests.connectors.jdbc.killed_commit", str(path), str(state), "run", instant]
    environment = {**os.environ, "MASTER": "local[2]"}
    died = subprocess.run(
        command, check=False, env=environment, start_new_session=True, capture_output=True, timeout=300, text=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    seen = (ROWS + 1, ROWS) if instant == "after" else (1, 1)
    assert counts(postgres) == seen
    for _ in range(2):
        assert run(spark, path, state, "run").state is State.FINISHED
        assert counts(postgres) == (ROWS + 1, ROWS)
    assert postgres.tables() == ["appended", "penstock_commits", "penstock_staging", "replaced"]
    assert postgres.rows("select count(*) from penstock_staging") == [(0,)]


def test_the_job_of_a_killed_run_ends_it_and_another_warns(spark, postgres, tmp_path, monkeypatch):
    """The journal has no password: the next run of the job has it, and until then another job names that way."""
    postgres.clear()
    postgres.run("create table t (id int)")
    state = str(tmp_path / "state")
    job = [write(connector, rows("select 1 as id", "id int"), "w", **postgres.options, table="t")]
    killed = stage_writes(spark, job, state, "one")
    assert killed is not None
    killed.journal._put("begin", {**killed.journal.read().steps["begin"], "job": "orders"})
    bury(killed)
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    (warning,) = recover(spark, layout_at(spark, state))
    assert (warning.code, warning.severity) == ("PEN5012", Severity.WARNING)
    assert "`penstock run --resume one JOB` with the job's file and variables, or by its next run" in warning.help
    assert warning.notes == ("run `one` of the job `orders` was killed, and stays as it is",)
    assert not killed.journal.has_ended
    credentials = credentials_of(Plan(Env("orders"), tuple(job)))
    assert recover(spark, layout_at(spark, state), credentials) == ()
    assert killed.journal.has_ended
    assert postgres.rows("select * from t") == []


def counts(database) -> tuple[int, int]:
    [found] = database.rows("select (select count(*) from appended), (select count(*) from replaced)")
    return found


def test_a_constraint_that_is_checked_at_the_commit_is_checked_before_the_decision(spark, postgres, tmp_path):
    """The other targets of the job are unchanged, and the next run is free to go on."""
    postgres.clear()
    postgres.run("create table parents (id bigint primary key)")
    postgres.run("create table t (id int references parents deferrable initially deferred, name text)")
    path = job_file(tmp_path, postgres, ("t", "APPEND_DATA"))
    path.write_text(
        path.read_text().replace(
            "sink {", f'sink {{ LocalFile {{ plugin_input = "fake", path = "{tmp_path}/out", file_format_type = csv }}'
        )
    )
    with pytest.raises(RunError, match=r"PEN5013.*violates foreign key constraint"):
        run(spark, path, tmp_path / "state", "run")
    assert not (tmp_path / "out").exists()
    assert postgres.rows("select count(*) from t") == [(0,)]
    assert recover(spark, layout_at(spark, str(tmp_path / "state"))) == ()
    assert "penstock_stg" not in " ".join(postgres.tables())


def test_run_ids_that_differ_by_case_are_two_runs(spark, database, tmp_path):
    path = job_file(tmp_path, database, ("t", "APPEND_DATA"))
    for run_id in ("nightly", "NIGHTLY"):
        run(spark, path, tmp_path / "state", run_id)
    assert database.rows("select count(*) from t") == [(2 * ROWS,)]
