"""`penstock stop`: which runs can be asked to stop."""

import pytest

from connectors.support.files.filesystem import files_at
from engine.cli import main
from engine.runtime.ledger import RunRecord, now, record
from engine.runtime.states import State
from engine.runtime.streaming.stop_request import is_stop_requested


@pytest.fixture
def state(tmp_path):
    files, root = files_at(None, str(tmp_path))
    for name, counts in (("streaming", {"batches": 3}), ("batch", {})):
        record(files, root, RunRecord(name, "job", "job.conf", State.RUNNING, now(), counts=counts))
    record(files, root, RunRecord("ended", "job", "job.conf", State.FINISHED, now(), counts={"batches": 3}))
    return files, root


def test_a_streaming_run_is_asked_to_stop(state, capsys):
    files, root = state
    assert main(["stop", "streaming", "--state-dir", root]) == 0
    assert is_stop_requested(files, root, "streaming")
    assert "ends after its current micro-batch" in capsys.readouterr().out


@pytest.mark.parametrize("run", ["batch", "ended", "streamin"])
def test_other_runs_are_refused(state, capsys, run):
    files, root = state
    assert main(["stop", run, "--state-dir", root]) == 2
    assert not is_stop_requested(files, root, run)
    shown = capsys.readouterr().err
    assert f"no streaming run `{run}` is running" in shown
    assert ("did you mean `streaming`?" in shown) == (run == "streamin")
