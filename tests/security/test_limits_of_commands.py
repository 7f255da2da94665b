"""Every command that reads jobs has the limits of `validate`; a new command is in one of the lists, and tried."""

import os
import select
import signal
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine.cli import OTHERS, READERS, RUNNERS, is_bounded, main, parse
from engine.commands import command_names
from engine.supervised import supervised
from tests.security.hostile_jobs import TEXTS

LONG = TEXTS["five thousand sinks of one table"]
OPTIONS: dict[str, str | None] = {
    "convert": "jobs/job.conf", "explain": "jobs/job.conf", "fmt": "--check jobs/job.conf",
    "graph": "jobs/job.conf -o page.html", "lineage": "jobs/job.conf", "ls": "", "plan": "",
    "package": "jobs/job.conf -o app.zip", "schema": "show jobs/job.conf", "state": "jobs/job.conf",
    "validate": "jobs/job.conf", "backfill": "jobs/job.conf", "build": "", "clone": "--from prod",
    "diff": "jobs/job.conf --env dev,prod",
    "restate": "jobs/job.conf --from 2024-01-01 --to 2024-01-02", "run": "jobs/job.conf", "show": "jobs/job.conf",
    "test": "jobs", "migrate": None, "expectations": None, "runs": None, "retry": None,
}  # fmt: skip
"""None: they read no HOCON, only what runs have recorded, or the files of other programs."""
NEEDED = {"migrate": "jobs/job.conf", "expectations": "r1", "runs": "", "retry": ""}
IGNORE_ERRORS = ("fmt", "ls", "package")
"""They list or copy a job as far as it can be read."""


def test_each_command_is_in_one_of_the_lists():
    assert sorted((*READERS, *RUNNERS, *OTHERS)) == sorted(command_names())
    assert set(OPTIONS) == {*READERS, *RUNNERS}


def test_a_command_that_only_reads_is_supervised():
    for command, options in OPTIONS.items():
        words = [command, *(NEEDED[command] if options is None else options).split()]
        assert is_bounded(parse(words)) == (command in READERS), command
    for words in ("explain --connect a.conf", "validate --engine-check a.conf", "schema sync a.conf"):
        assert not is_bounded(parse(words.split())), words  # they start Spark, or ask sources


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jobs").mkdir()
    Path("penstock.conf").write_text("environments { dev { default = true }, prod { } }\n")
    Path("jobs/job.conf").write_text(LONG)
    Path("jobs/job.test.conf").write_text("tests = [{ name = a, given { f = [{ a = 1 }] }, expect { } }]\n")


NEED_SPARK = ("backfill", "diff", "restate", "test")  # before they read a job


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the limit may pass in a callback of gc
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.spark] if name in NEED_SPARK else [])
        for name, options in OPTIONS.items()
        if options is not None
    ],
)
def test_a_job_that_takes_too_long_is_ended_by_every_command(command, project, monkeypatch, capsys):
    monkeypatch.setenv("PENSTOCK_LIMITS", "seconds=0.1")
    code = main([command, *OPTIONS[command].split()])
    written = capsys.readouterr()
    if command in IGNORE_ERRORS:
        assert code in (0, 1, 2), written
    else:
        assert code == (1 if command == "test" else 2), written  # its jobs are what it tests
        assert "the limit `seconds` of 0.1 is exceeded" in written.out + written.err


def test_code_that_no_signal_reaches_is_ended_by_the_supervisor():
    def endless() -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF, signal.SIGTERM, signal.SIGINT})
        while True:
            pass

    def ended() -> None:
        supervised(endless, 0.2, lambda: 2)

    process = get_context("fork").Process(target=ended)
    process.start()
    process.join(60)
    assert process.exitcode == 2


WAITS = """
import os
from engine.supervised import supervised

def run():
    print("reads", flush=True)
    open("pipe").read()

supervised(run, 100.0, lambda: 2)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the answer of /proc")
def test_a_supervisor_that_is_killed_takes_its_process_along(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen([sys.executable, "-c", WAITS], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"reads\n"
    process.kill()
    process.wait()
    assert select.select([process.stdout], [], [], 60)[0]  # the child, which holds the other end, has ended
    assert process.stdout.read() == b""
    process.stdout.close()
