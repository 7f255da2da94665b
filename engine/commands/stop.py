"""`penstock stop`: have a streaming run end after its current micro-batch."""

from argparse import ArgumentParser, Namespace

from connectors.support.files.filesystem import files_at
from engine.runtime.ledger import runs
from engine.runtime.state_dir import local_state_dir
from engine.runtime.states import State
from engine.runtime.streaming.stop_request import request_stop

SUMMARY = "have a streaming run end after its current micro-batch"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="the run: `penstock runs` lists them")
    parser.add_argument("--state-dir", metavar="DIR", help="default: $PENSTOCK_STATE_DIR, or .penstock")


def run(arguments: Namespace) -> int:
    from catalog.diagnostics import did_you_mean, job_error

    files, root = files_at(None, local_state_dir(arguments.state_dir))
    recorded = runs(files, root)
    running = {run.run_id for run in recorded if run.state is State.RUNNING and "batches" in run.counts}
    if arguments.run_id not in running:
        help = did_you_mean(arguments.run_id, running) or "`penstock runs` lists the runs"
        raise job_error("PEN5008", f"no streaming run `{arguments.run_id}` is running", None, help)
    request_stop(files, root, arguments.run_id)
    print(f"run {arguments.run_id} ends after its current micro-batch; running its job again goes on from there")
    return 0
