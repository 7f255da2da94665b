"""Many jobs checked in several processes: what is found, its order and the exit code are those of one process."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from engine.cli import main
from engine.compile import Settings
from engine.job.find import find_jobs
from engine.validation import check_jobs, job_workers
from engine.validation.job_workers import JobWorkers

JOB = """
source {{ FakeSource {{ plugin_output = "t", schema {{ fields {{ id = bigint, name = string }} }} }} }}
transform {{ Sql {{ query = "select id, upper({column}) as name from t where id > {number}" }} }}
sink {{ Console {{}} }}
"""
SECRET = """
source { FakeSource { plugin_output = "t", schema { fields { id = bigint } } } }
sink { Spark { format = jdbc, options { password = "my" hunter22 }, limmit = 3 } }
"""
MANY = 45


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(MANY):
        column = "nam" if number % 7 == 3 else "name"
        (tmp_path / f"job_{number:02d}.conf").write_text(JOB.format(column=column, number=number))
    (tmp_path / "job_secret.conf").write_text(SECRET)
    return tmp_path


@pytest.fixture(params=["fork", "spawn"])
def start_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {request.param} here")
    monkeypatch.setattr(job_workers, "process_context", lambda: multiprocessing.get_context(request.param))
    return request.param


@pytest.mark.parametrize("format", ["text", "json"])
def test_several_processes_find_what_one_does(format, folder, start_method, capsys):
    shown = []
    for processes in ("1", "3"):
        assert main(["validate", ".", "--format", format, "--processes", processes]) == 2
        shown.append(capsys.readouterr().out.partition(" columns (")[0])
    assert shown[0] == shown[1]
    assert shown[0].count("PEN3004") == len(range(3, MANY, 7))


def test_the_work_is_shared(folder, start_method):
    paths = find_jobs(["."], Diagnostics())
    with JobWorkers(Settings(), 3) as workers:
        found = workers.each(process_of, [(path, None) for path in paths])
        again = workers.each(process_of, [(path, None) for path in reversed(paths)])
    assert tuple(reversed(again)) == found, "a job comes back to the process that had it"


def process_of(path: Path, given: None, settings: Settings, kept: dict[Path, int]) -> int:
    time.sleep(0.01)
    return kept.setdefault(path, os.getpid())


def test_what_another_process_knows_to_be_secret_is_not_shown(folder, monkeypatch, capsys):
    parent, turn = os.getpid(), job_workers._turn
    monkeypatch.setattr(job_workers, "_turn", lambda *given: {} if os.getpid() == parent else turn(*given))
    monkeypatch.setattr(job_workers, "process_context", lambda: multiprocessing.get_context("fork"))
    assert main(["validate", "job_secret.conf", "--processes", "2"]) == 2
    out = capsys.readouterr().out
    assert "limmit = 3" in out
    assert "hunter" not in out


def test_a_process_that_dies_leaves_its_jobs_to_this_one(folder, monkeypatch):
    paths = find_jobs(["."], Diagnostics())
    alone = check_jobs.check_jobs(paths, Settings(), 1)
    parent, compile_job = os.getpid(), check_jobs.compile_job

    def deadly(*given: object) -> object:
        if os.getpid() != parent:
            os._exit(9)
        return compile_job(*given)

    monkeypatch.setattr(check_jobs, "compile_job", deadly)
    monkeypatch.setattr(
        job_workers, "process_context", lambda: multiprocessing.get_context("fork")
    )  # whatever threads there are
    assert check_jobs.check_jobs(paths, Settings(), 3) == alone


def test_a_error_of_ours_is_reported_as_by_one_process(folder, monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something nobody thought of")

    monkeypatch.setattr("engine.compile.optimize", broken)
    for processes in ("1", "3"):
        assert main(["validate", ".", "--processes", processes]) == 2
        assert "error[PEN9001]: in `job_00.conf`: RuntimeError: something nobody thought of" in capsys.readouterr().out


def test_the_number_of_processes_is_a_number(folder):
    assert main(["validate", ".", "--processes", "0"]) == 2
    assert main(["validate", ".", "--processes", "many"]) == 2
