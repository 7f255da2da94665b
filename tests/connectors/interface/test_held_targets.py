"""A target of a sink that does not lock it itself is written by one process at a time."""

import subprocess
import sys

import pytest

from catalog.diagnostics.diagnostic import RunError
from catalog.tables.savemode import DataSaveMode, SchemaSaveMode
from connectors.commits.run_owner import this_process
from connectors.in_memory import InMemory
from connectors.interface import Option, OptionType, SinkCapabilities
from engine.state.journal import RunOutcome, journal_in
from engine.state.layout import layout_at
from engine.state.recorded_runs import refuse_held_targets
from tests.connectors.jobs import rows, write


class Held(InMemory):
    name = "Held"
    sink_options = (*InMemory.sink_options, Option("path", OptionType.STRING, "The target.", required=True))
    sink_capabilities = SinkCapabilities((SchemaSaveMode.IGNORE,), (DataSaveMode.APPEND_DATA,))

    def target(self, options):
        return options.string("path")


class Shared(Held):
    sink_capabilities = SinkCapabilities(
        (SchemaSaveMode.IGNORE,), (DataSaveMode.APPEND_DATA,), allows_concurrent_runs=True
    )


@pytest.fixture
def other():
    """Another process that is running."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def to(path, sink=None):
    return write(sink or Held(), rows("select 1 id", "id int"), path=path)


def record(state, run_id, pid, target):
    """A run of another process on this machine."""
    log = journal_in(layout_at(None, state), run_id)
    log.begin({**this_process(), "pid": pid, "start": None}, {"w": "Held"}, "job", targets={"w": target})
    return log


def refused(state, job):
    try:
        refuse_held_targets(layout_at(None, state), "mine", [job])
    except RunError as error:
        (found,) = error.diagnostics
        assert found.code == "PEN5007"
        assert "run other is writing to `/data/t`" in found.message
        return True
    return False


def test_another_process_that_writes_the_target_is_reported(tmp_path, other):
    state = str(tmp_path / "state")
    log = record(state, "other", other.pid, "/data/t/")
    assert refused(state, to("/data/t"))
    assert not refused(state, to("/data/u"))
    assert not refused(state, to("/data/t", Shared()))
    log.end(RunOutcome.FINISHED)
    assert not refused(state, to("/data/t"))


def test_a_process_that_has_ended_holds_nothing(tmp_path, other):
    state = str(tmp_path / "state")
    record(state, "other", other.pid, "/data/t")
    other.kill()
    other.wait()
    assert not refused(state, to("/data/t"))


def test_the_own_run_holds_nothing_back(tmp_path, other):
    state = str(tmp_path / "state")
    record(state, "mine", other.pid, "/data/t")
    journal_in(layout_at(None, state), "of_this_process").begin(
        this_process(), {"w": "Held"}, "job", targets={"w": "/data/t"}
    )
    assert not refused(state, to("/data/t"))


@pytest.mark.spark
def test_a_refused_run_is_ended_and_leaves_the_target_to_the_other(spark, tmp_path, other):
    from engine.spark.writing.open_run import begin
    from engine.spark.writing.sink_checks import check

    state, job = str(tmp_path / "state"), to("/data/t")
    log = record(state, "other", other.pid, "/data/t")
    with pytest.raises(RunError, match="PEN5007"):
        begin(spark, check(spark, [job], "mine"), "mine", layout_at(spark, state))
    assert journal_in(layout_at(None, state), "mine").read().outcome is RunOutcome.ROLLED_BACK
    log.end(RunOutcome.FINISHED)
    assert begin(spark, check(spark, [job], "mine"), "mine", layout_at(spark, state)) is not None
