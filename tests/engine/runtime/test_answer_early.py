"""Runs that are answered from the journal, before Spark is started."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from catalog.diagnostics.diagnostic import Diagnostics, PenstockError
from connectors.commits import run_owner
from engine.compile import Settings, compile_job
from engine.runtime.answer_early import answered
from engine.state.file_names import run_ids
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import layout_at
from engine.state.run_state import State

JOB = """
env {{ job.name = "orders", job.mode = "{mode}", listeners = [{{ type = jsonl, path = "{folder}/events.jsonl" }}] }}
source {{ LocalFile {{ path = "{folder}/in", file_format_type = json, schema {{ fields {{ id = bigint }} }} }} }}
sink {{ LocalFile {{ path = "{folder}/out", file_format_type = json }} }}
"""


@pytest.fixture(params=["BATCH", "STREAMING"])
def any_job(tmp_path, request):
    return compiled(tmp_path, request.param)


@pytest.fixture
def job(tmp_path):
    return compiled(tmp_path, "BATCH")


def compiled(folder, mode):
    (folder / "job.conf").write_text(JOB.format(folder=folder, mode=mode))
    diagnostics = Diagnostics()
    found = compile_job(folder / "job.conf", Settings(state_dir=str(folder / "state")), diagnostics)
    assert found is not None, diagnostics.items
    return found


@contextmanager
def another_process():
    """The mark of a process that runs until the end of the block."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        yield {**run_owner.this_process(), "pid": other.pid, "start": run_owner._start(other.pid)}


def begun(folder, run_id, job, mark, name="orders"):
    log = journal_in(layout_at(None, str(folder / "state")), run_id)
    log.begin(mark, {write.id: write.connector.name for write in job.plan.writes}, name)
    return log


def commit(log, job):
    log.decide()
    for write in job.plan.writes:
        log.committed(write.id)
        mark = Path(write.target) / "_penstock" / f"{log.run_id}.{write.id}.json"
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text("{}")


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "events.jsonl"}


def answer(folder, run_id, job):
    """The answer, which has changed no file."""
    before = files(folder)
    try:
        return answered(job, run_id)
    finally:
        assert files(folder) == before


def test_a_run_that_is_committed_does_nothing(tmp_path, job):
    log = begun(tmp_path, "one", job, run_owner.this_process())
    commit(log, job)
    log.end(RunOutcome.FINISHED)
    result = answer(tmp_path, "one", job)
    assert result is not None
    assert (result.job, result.run_id, result.state, result.done) == ("orders", "one", State.FINISHED, 1)
    assert '"FINISHED"' in (tmp_path / "events.jsonl").read_text()


def test_a_committed_run_whose_target_is_gone_needs_spark(tmp_path, job):
    log = begun(tmp_path, "one", job, run_owner.this_process())
    commit(log, job)
    log.end(RunOutcome.FINISHED)
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert answer(tmp_path, "one", job) is None


def test_a_run_that_is_new_or_rolled_back_needs_spark(tmp_path, any_job):
    assert answer(tmp_path, "one", any_job) is None
    begun(tmp_path, "one", any_job, run_owner.this_process()).end(RunOutcome.ROLLED_BACK)
    assert answer(tmp_path, "one", any_job) is None
    assert not (tmp_path / "events.jsonl").exists()


def test_killed_runs_are_ended_first(tmp_path, job):
    """Also where the run itself is committed: the session ends the others."""
    log = begun(tmp_path, "one", job, run_owner.this_process())
    commit(log, job)
    log.end(RunOutcome.FINISHED)
    with another_process() as mark:
        pass
    begun(tmp_path, "killed", job, mark, "another job")
    assert answer(tmp_path, "one", job) is None


def test_a_committing_run_that_was_killed_is_not_committed_yet(tmp_path, job):
    with another_process() as mark:
        pass
    commit(begun(tmp_path, "one", job, mark), job)
    assert answer(tmp_path, "one", job) is None


def test_a_run_id_of_another_process_is_refused(tmp_path, any_job):
    with another_process() as mark:
        begun(tmp_path, "one", any_job, mark)
        with pytest.raises(PenstockError, match=f"run `one` is still running: process {mark['pid']} on") as refused:
            answer(tmp_path, "one", any_job)
        (said,) = refused.value.diagnostics
        assert said.code == "PEN5301"
        assert "`penstock runs --forget one`" in said.help
    assert '"FAILED"' in (tmp_path / "events.jsonl").read_text()
    assert answer(tmp_path, "one", any_job) is None


def test_a_job_that_another_process_runs_is_refused(tmp_path, any_job):
    with another_process() as mark:
        begun(tmp_path, "elsewhere", any_job, mark)
        begun(tmp_path, "other", any_job, mark, "another job")
        with pytest.raises(PenstockError, match="the job `orders` is already running: run `elsewhere`") as refused:
            answer(tmp_path, "one", any_job)
        assert [said.code for said in refused.value.diagnostics] == ["PEN5301"]


def test_a_state_directory_elsewhere_needs_spark(job):
    elsewhere = replace(job.settings, state_dir="hdfs://namenode/state")
    assert answered(replace(job, settings=elsewhere), "one") is None


@pytest.mark.spark
def test_the_command_answers_without_spark(tmp_path, job, monkeypatch, capsys):
    from engine.cli import main

    monkeypatch.setattr("engine.runtime.application.open_session", lambda *_, **__: pytest.fail("Spark was started"))
    for run_id in run_ids("one", ["orders", "orders"], [job.path.as_posix()] * 2):
        log = begun(tmp_path, run_id, job, run_owner.this_process())
        commit(log, job)
        log.end(RunOutcome.FINISHED)
    options = ["--run-id", "one", "--state-dir", str(tmp_path / "state")]
    assert main(["run", str(job.path), str(job.path), *options]) == 0
    assert capsys.readouterr().out.count("is committed already: nothing was written") == 2
    with another_process() as mark:
        begun(tmp_path, "elsewhere", job, mark)
        assert main(["run", str(job.path), "--state-dir", str(tmp_path / "state")]) == 1
    assert "the job `orders` is already running: run `elsewhere`" in capsys.readouterr().err
