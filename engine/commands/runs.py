"""`penstock runs`: lists runs, when they ran and how they ended."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timezone

from engine.runtime.open_state import open_state
from engine.state.ledger import RunRecord, runs, settled_run
from engine.state.run_state import State
from engine.state.state_dir import state_dir
from engine.terminal.arguments import add_environment_argument, positive

SUMMARY = "list the runs that are recorded in the state directory, show one, or dismiss one"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run_id", nargs="?", metavar="ID", help="a run: its states, counts, error and events")
    parser.add_argument(
        "--forget",
        metavar="ID",
        help="dismiss a run that cannot be ended: later runs ignore it, no target is changed, and rows that it staged "
        "but did not commit are never committed",
    )
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="the last N runs (default: 20)")
    parser.add_argument("--state-dir", metavar="DIR", help="default: $PENSTOCK_STATE_DIR, or .penstock")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_environment_argument(parser)


def run(arguments: Namespace) -> int:
    if arguments.forget:
        return _forget(arguments)
    if arguments.run_id:
        return _show(arguments)
    with open_state(state_dir(arguments.state_dir)) as layout:
        listed = runs(layout, arguments.limit)
    if arguments.format == "json":
        print(json.dumps([asdict(run) for run in listed], indent=2, default=str))
    elif not listed:
        print(f"no run is recorded in {state_dir(arguments.state_dir)}")
    else:
        _print_table(listed)
    return 0


def _forget(arguments: Namespace) -> int:
    from engine.state.dismissal import forget

    with open_state(state_dir(arguments.state_dir)) as layout:
        dismissed = forget(layout, arguments.forget)
    print(f"run {arguments.forget}: dismissed; no target was changed")
    for write in dismissed.writes:
        print(f"  {write.connector}: {write.state}" + (f"; staged rows: {write.staging}" if write.staging else ""))
    for node in dismissed.unmoved:
        print(f"  the watermark of `{node}` has not moved: the next run reads again what this one has read")
    if dismissed.unmoved and any(write.may_hold_rows for write in dismissed.writes):
        print(
            "  where its rows are in a target already, set the watermark: penstock state JOB --reset SOURCE --to VALUE"
        )
    return 0


def _show(arguments: Namespace) -> int:
    """Print one run: its entry in the ledger, then the steps of its journal."""
    from catalog.diagnostics.diagnostic import did_you_mean, job_error
    from engine.state.dismissal import readable_step
    from engine.state.journal import journal_in

    with open_state(state_dir(arguments.state_dir)) as layout:
        files = layout.files
        run = settled_run(layout, arguments.run_id)
        if run is None:
            help = did_you_mean(arguments.run_id, layout.run_ids())
            raise job_error("PEN5306", f"no run `{arguments.run_id}` is recorded in {layout.root}", None, help)
        folder = journal_in(layout, run.run_id).folder
        steps = {name: readable_step(files, f"{folder}/{name}") or {} for name in files.children(folder)}
    events = sorted((float(step.get("at") or 0), name.removesuffix(".json")) for name, step in steps.items())
    if arguments.format == "json":
        print(json.dumps({**asdict(run), "events": events}, indent=2, default=str))
        return 0
    for name, value in asdict(run).items():
        if name != "counts" and value is not None:
            print(f"{name.replace('_', ' '):9} {value.value if isinstance(value, State) else _count(value)}")
    for name, value in run.counts.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for key, counts in value.items():
                print(f"  {key}: {_counts(counts)}")
    writes = steps.get("begin.json", {}).get("writes") or {}
    print("events:")
    for at, name in events:
        print(f"  {datetime.fromtimestamp(at, timezone.utc):%Y-%m-%d %H:%M:%S}  {_event(name, writes)}")
    return 0


def _event(name: str, writes: Mapping[str, str]) -> str:
    """A step of the journal; one of a write, such as `45584fbd40e3.staged`, by its connector."""
    write, _, step = name.rpartition(".")
    return f"{step} ({writes[write]} {write})" if write in writes else name


def _counts(counts: object) -> str:
    """`rows 3, bytes 120`; counts that are unknown are left out."""
    if not isinstance(counts, dict):
        return str(counts)
    return ", ".join(f"{name} {_count(value)}" for name, value in counts.items() if value is not None)


def _count(value: object) -> str:
    """A number with separators of thousands, rounded to thousandths; anything else as text."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _lag(run: RunRecord) -> str | None:
    """How far a streaming run is behind, in records over all its streams, and the latency of its last micro-batches."""
    streams = run.counts.get("streams")
    found = [stream for stream in streams.values() if "lag" in stream] if isinstance(streams, dict) else []
    if not found:
        return None
    seconds = max(float(stream["latency_seconds"]) for stream in found)
    records = [stream["lag"] for stream in found if stream["lag"] is not None]
    return f"{sum(records):,} records, {seconds:.1f} s" if records else f"{seconds:.1f} s"


def _print_table(listed: tuple[RunRecord, ...]) -> None:
    from rich.table import Table

    from engine.terminal.summary import console

    is_streaming = any(_lag(run) is not None for run in listed)
    names = ("run", "job", "state", "started", "seconds", "rows written", *(("lag",) if is_streaming else ()), "error")
    table = Table(*names, box=None, pad_edge=False)
    for column in table.columns[:-1]:
        column.no_wrap = True
    table.columns[0].min_width = max((len(run.run_id) for run in listed), default=0)  # to be given to `runs ID`
    table.columns[2].min_width = max((len(run.state.value) for run in listed), default=0)
    for run in listed:
        seconds = "" if run.seconds is None else f"{run.seconds:.1f}"
        written = run.counts.get("rows_written")
        table.add_row(
            run.run_id,
            run.job,
            run.state.value,
            run.started[:19],
            seconds,
            f"{written:,}" if isinstance(written, int) else "",
            *((_lag(run) or "",) if is_streaming else ()),
            (run.error or "").splitlines()[0] if run.error else "",
        )
    console().print(table)
