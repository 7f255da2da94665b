"""`penstock stop`: have a streaming run end after its current micro-batch."""

from argparse import ArgumentParser, Namespace
from time import sleep
from typing import Final

from engine.runtime.open_state import open_state
from engine.state.layout import StateLayout
from engine.state.ledger import RunRecord, runs, settled_run
from engine.state.run_state import State
from engine.state.state_dir import state_dir
from engine.state.stop_request import request_stop
from engine.terminal.arguments import add_environment_argument

_POLL_SECONDS: Final = 0.5

SUMMARY = "have a streaming run end after its current micro-batch"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="the run: `penstock runs` lists them")
    parser.add_argument(
        "--savepoint",
        action="store_true",
        help="wait until the run has ended, and print the command that goes on from there",
    )
    parser.add_argument("--state-dir", metavar="DIR", help="default: $PENSTOCK_STATE_DIR, or .penstock")
    add_environment_argument(parser)


def run(arguments: Namespace) -> int:
    with open_state(state_dir(arguments.state_dir)) as layout:
        return _stop(layout, arguments)


def _stop(layout: StateLayout, arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import did_you_mean, job_error

    if not _is_running_stream(settled_run(layout, arguments.run_id)):
        listed = layout.open_run_ids()
        recorded = runs(layout) if listed is None else [settled_run(layout, run_id) for run_id in listed]
        running = {run.run_id for run in recorded if run is not None and _is_running_stream(run)}
        help = did_you_mean(arguments.run_id, running) or "`penstock runs` lists the runs"
        raise job_error("PEN5307", f"no streaming run `{arguments.run_id}` is running", None, help)
    request_stop(layout, arguments.run_id)
    if arguments.savepoint:
        return _savepoint(layout, arguments.run_id)
    print(f"run {arguments.run_id} ends after its current micro-batch; running its job again goes on from there")
    return 0


def _is_running_stream(run: RunRecord | None) -> bool:
    return run is not None and run.state is State.RUNNING and "batches" in run.counts


def _savepoint(layout: StateLayout, run_id: str) -> int:
    """Wait for the end of a run that was asked to stop; 1 where it failed."""
    while (ended := settled_run(layout, run_id)) is not None and ended.state is State.RUNNING:
        sleep(_POLL_SECONDS)
    assert ended is not None, "its record is written anew, never removed while it runs"
    if ended.state is not State.FINISHED:
        print(f"run {run_id} has {ended.state.value.lower()}: {ended.error or 'no cause is recorded'}")
        return 1
    print(f"run {run_id} has ended; its savepoint: penstock run {ended.file} --restore {run_id}")
    return 0
