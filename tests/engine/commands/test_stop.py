"""Runs are stopped: streaming runs by `penstock stop`, batch runs by Ctrl-C."""

import os
import signal
import threading
import time

import pytest

from engine.cli import main
from engine.state.layout import layout_at
from engine.state.ledger import RunRecord, now, record
from engine.state.run_state import State
from engine.state.stop_request import is_stop_requested


@pytest.fixture
def state(tmp_path):
    layout = layout_at(None, str(tmp_path))
    for name, counts in (("streaming", {"batches": 3}), ("batch", {})):
        record(layout, RunRecord(name, "job", "job.conf", State.RUNNING, now(), counts=counts))
    record(layout, RunRecord("ended", "job", "job.conf", State.FINISHED, now(), counts={"batches": 3}))
    return layout


def test_a_streaming_run_is_asked_to_stop(state, capsys):
    root = state.root
    assert main(["stop", "streaming", "--state-dir", root]) == 0
    assert is_stop_requested(state, "streaming")
    assert "ends after its current micro-batch" in capsys.readouterr().out


@pytest.mark.parametrize("run", ["batch", "ended", "streamin"])
def test_other_runs_are_refused(state, capsys, run):
    root = state.root
    assert main(["stop", run, "--state-dir", root]) == 2
    assert not is_stop_requested(state, run)
    shown = capsys.readouterr().err
    assert f"no streaming run `{run}` is running" in shown
    assert ("did you mean `streaming`?" in shown) == (run == "streamin")


@pytest.mark.spark
def test_ctrl_c_cancels_at_once_although_tasks_are_waiting(spark, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    job = tmp_path / "job.conf"
    job.write_text(f"""
source {{ FakeSource {{ plugin_output = t, row.num = 4, schema {{ fields {{ id = int }} }} }} }}
transform {{ Sql {{ plugin_output = u, query = "select reflect('java.lang.Thread', 'sleep', 60000L) as s from t" }} }}
sink {{ LocalFile {{ path = "{tmp_path}/out", file_format_type = json }} }}
""")
    interrupted = []

    def interrupt():
        tracker = spark.sparkContext._jsc.sc().statusTracker()
        while not any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
            time.sleep(0.05)
        time.sleep(0.5)
        interrupted.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert main(["run", str(job), "--run-id", "cut"]) == 130
    seconds = time.monotonic() - interrupted[0]
    thread.join()
    said = capsys.readouterr().err
    assert said.index("cancelling") < said.index("SIGINT: the run was cancelled; what it staged is removed\n")
    assert not list(tmp_path.glob(".out.penstock/*"))
    assert seconds < 15, "it waited for tasks that were asleep"


def test_a_savepoint_is_what_the_ended_run_has_left(state, capsys):
    root = state.root

    def end(final):
        while not is_stop_requested(state, "streaming"):
            time.sleep(0.01)
        record(state, RunRecord("streaming", "job", "job.conf", final, now(), error="why", counts={"batches": 3}))

    for final, code in ((State.FINISHED, 0), (State.FAILED, 1)):
        record(state, RunRecord("streaming", "job", "job.conf", State.RUNNING, now(), counts={"batches": 3}))
        state.files.delete(state.run("streaming").stop)
        ending = threading.Thread(target=end, args=(final,))
        ending.start()
        assert main(["stop", "streaming", "--savepoint", "--state-dir", root]) == code
        ending.join()
    shown = capsys.readouterr().out
    assert "its savepoint: penstock run job.conf --restore streaming" in shown
    assert "run streaming has failed: why" in shown


def test_the_lag_of_streams_is_listed(state, capsys):
    root = state.root
    counts = {"batches": 3, "streams": {"k": {"batches": 3, "latency_seconds": 1.25, "lag": 1200}}}
    record(state, RunRecord("streaming", "job", "job.conf", State.RUNNING, now(), counts=counts))
    assert main(["runs", "--state-dir", root]) == 0
    assert "1,200 records, 1.2 s" in capsys.readouterr().out
    assert main(["runs", "streaming", "--state-dir", root]) == 0
    assert "k: batches 3, latency_seconds 1.25, lag 1,200" in capsys.readouterr().out
