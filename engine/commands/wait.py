"""`penstock wait`: waits for a run to end."""

from argparse import ArgumentParser, Namespace
from time import monotonic, sleep
from typing import Final

from engine.runtime.open_state import open_state
from engine.state.layout import StateLayout
from engine.state.ledger import RunRecord, settled_run
from engine.state.run_state import State
from engine.state.state_dir import state_dir
from engine.terminal.arguments import add_environment_argument, positive

_POLL_SECONDS: Final = 0.5
_STILL_RUNNING: Final = 3
_COUNTING_SECONDS: Final = 10.0
"""How long the process of a run that has ended may take to record its counts."""

SUMMARY = "wait until a run has ended, wherever it runs"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="the run: `penstock runs` lists them")
    parser.add_argument(
        "--timeout",
        type=positive,
        metavar="SECONDS",
        help="wait no longer, and end with exit code 3 (default: no limit)",
    )
    parser.add_argument("--state-dir", metavar="DIR", help="default: $PENSTOCK_STATE_DIR, or .penstock")
    add_environment_argument(parser)


def run(arguments: Namespace) -> int:
    """0 if the run finished, 1 if it did not, 3 if it is still running."""
    with open_state(state_dir(arguments.state_dir)) as layout:
        ended = _ended(layout, arguments.run_id, arguments.timeout)
    if ended is None:
        print(f"run {arguments.run_id} is still running")
        return _STILL_RUNNING
    seconds = "" if ended.seconds is None else f" in {ended.seconds:.1f} s"
    written = ended.counts.get("rows_written")
    rows = f": {written:,} rows written" if isinstance(written, int) else ""
    print(f"run {ended.run_id} {ended.state.value}{rows}{seconds}{f': {ended.error}' if ended.error else ''}")
    return 0 if ended.state is State.FINISHED else 1


def _ended(layout: StateLayout, run_id: str, timeout: int | None) -> RunRecord | None:
    """The run once it has ended; that of a killed process has failed. None when the time is over."""
    from catalog.diagnostics.diagnostic import did_you_mean, job_error

    began, counted = monotonic(), 0.0
    while True:
        found = settled_run(layout, run_id)
        if found is None:
            help = did_you_mean(run_id, layout.run_ids()) or "`penstock runs` lists the runs"
            raise job_error("PEN5306", f"no run `{run_id}` is recorded in {layout.root}", None, help)
        if found.state is not State.RUNNING:
            counted = counted or monotonic() + _COUNTING_SECONDS
            if found.seconds is not None or monotonic() > counted:
                return found
        if timeout is not None and monotonic() - began > timeout:
            return None
        sleep(_POLL_SECONDS)
