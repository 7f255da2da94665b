"""`penstock run --async` and `penstock wait`: a run outlives the command that began it."""

import re
import subprocess
import sys

import pytest

from engine.cli import main
from engine.state.layout import layout_at
from engine.state.ledger import RunRecord, now, record
from engine.state.run_state import State

JOB = """
env {{ state_dir = "{folder}/state" }}
source {{ FakeSource {{ plugin_output = rows, row.num = 3, schema {{ fields {{ id = int }} }} }} }}
transform {{ Sql {{ query = "select {value} as id from rows" }} }}
sink {{ LocalFile {{ path = "{folder}/out", file_format_type = json }} }}
"""


@pytest.mark.spark
def test_a_run_in_the_background_is_waited_for(tmp_path, capfd):
    state = str(tmp_path / "state")
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path, value="id"))
    command = [sys.executable, "-m", "engine.cli", "run", str(tmp_path / "job.conf"), "--async", "--run-id", "one"]
    begun = subprocess.run(command, capture_output=True, text=True, check=True)  # which has ended
    assert re.search(r"run one is running in process \d+", begun.stdout)
    assert main(["wait", "one", "--state-dir", state, "--timeout", "120"]) == 0
    assert "run one FINISHED: 3 rows written" in capfd.readouterr().out
    assert "FINISHED: 3 rows written" in (tmp_path / "state" / "output" / "one.log").read_text()
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, "it has been done"


@pytest.mark.spark
def test_a_run_that_does_not_begin_is_an_error(tmp_path, capsys):
    """The record of an earlier run of that id is none of it."""
    layout = layout_at(None, str(tmp_path / "state"))
    record(layout, RunRecord("one", "job", "job.conf", State.FAILED, now(), error="an earlier one"))
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path, value="id"))
    assert main(["run", str(tmp_path / "job.conf"), "--async", "--run-id", "one", "--master", "spurk://x"]) == 1
    shown = capsys.readouterr().err
    assert "error[PEN5055]: the run did not begin" in shown
    assert "PEN5402" in shown


@pytest.mark.parametrize("words", [["--dry-run"], ["--resume", "x"], ["--check"]])
def test_what_begins_no_run_is_not_done_in_the_background(tmp_path, capsys, words):
    (tmp_path / "job.conf").write_text(JOB.format(folder=tmp_path, value="id"))
    assert main(["run", str(tmp_path / "job.conf"), "--async", *words]) == 2
    assert "`--async` runs one job" in capsys.readouterr().err


@pytest.mark.parametrize(("state", "code"), [(State.FINISHED, 0), (State.FAILED, 1), (State.CANCELED, 1)])
def test_the_exit_code_says_how_a_run_has_ended(tmp_path, capsys, state, code):
    layout = layout_at(None, str(tmp_path))
    record(layout, RunRecord("r", "job", "job.conf", state, now(), counts={"rows_written": 1200}, seconds=2.0))
    assert main(["wait", "r", "--state-dir", str(tmp_path)]) == code
    assert f"run r {state.value}: 1,200 rows written in 2.0 s" in capsys.readouterr().out
    assert main(["wait", "s", "--state-dir", str(tmp_path)]) == 2
    assert "no run `s` is recorded" in capsys.readouterr().err
