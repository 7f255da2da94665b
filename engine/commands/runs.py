"""`penstock runs`: what ran, when, and how it ended."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from connectors.support.files.filesystem import files_at
from engine.runtime.ledger import RunRecord, runs
from engine.runtime.state_dir import local_state_dir, state_dir
from engine.terminal.arguments import positive

SUMMARY = "list the runs that are recorded in the state directory"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="the last N runs (default: 20)")
    parser.add_argument("--state-dir", metavar="DIR", help="default: $PENSTOCK_STATE_DIR, or .penstock")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(arguments: Namespace) -> int:
    found = runs(*files_at(None, local_state_dir(arguments.state_dir)))[-arguments.limit :]
    if arguments.format == "json":
        print(json.dumps([asdict(run) for run in found], indent=2, default=str))
    elif not found:
        print(f"no run is recorded in {state_dir(arguments.state_dir)}")
    else:
        _print_table(found)
    return 0


def _print_table(found: tuple[RunRecord, ...]) -> None:
    from rich.table import Table

    from engine.runtime.summary import console

    table = Table("run", "job", "state", "started", "seconds", "rows written", "error", box=None, pad_edge=False)
    for column in table.columns[:6]:
        column.no_wrap = True
    for run in found:
        seconds = "" if run.seconds is None else f"{run.seconds:.1f}"
        written = run.counts.get("rows_written")
        table.add_row(
            run.run_id,
            run.job,
            run.state.value,
            run.started[:19],
            seconds,
            f"{written:,}" if isinstance(written, int) else "",
            (run.error or "").splitlines()[0] if run.error else "",
        )
    console().print(table)
