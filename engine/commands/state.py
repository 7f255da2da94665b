"""`penstock state`: how far a job's incremental sources have been read, and which of its intervals are done; to forget
or set it."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_job_arguments, settings_of

if TYPE_CHECKING:
    from engine.compile import Compiled
    from engine.state.incremental_reads import IncrementalRead
    from engine.state.layout import StateLayout

SUMMARY = "show or set the watermarks of a job's incremental sources, and which of its intervals are done"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument(
        "--reset", metavar="NODE", help="forget how far this source was read: the next run reads it all"
    )
    parser.add_argument(
        "--to", metavar="VALUE",
        help="with --reset: the next run reads what is past this value; with --done or --missing: where the last "
        "interval ends (default: the last that is over)",
    )  # fmt: skip
    parser.add_argument("--done", action="store_true", help="count intervals as done: no run does them")
    parser.add_argument("--missing", action="store_true", help="count intervals as not done: the next run does them")
    parser.add_argument(
        "--from", dest="start", metavar="TIME",
        help="with --done or --missing: where the first interval starts (default: that of the job)",
    )  # fmt: skip
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded, whatever the job sets")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.project.compiled_jobs import compiled_jobs
    from engine.runtime.open_state import open_state
    from engine.state.incremental_reads import JobFile, unread

    changes_intervals = arguments.done or arguments.missing
    if arguments.done and (arguments.missing or arguments.reset is not None):
        raise job_error("PEN2010", "`--done`, `--missing` and `--reset` exclude each other", None, "give one of them")
    if arguments.to is not None and arguments.reset is None and not changes_intervals:
        raise job_error("PEN2010", "`--to` needs `--reset`", None, "penstock state JOB --reset NODE --to VALUE")
    if arguments.start is not None and not changes_intervals:
        help = "penstock state JOB --missing --from TIME --to TIME"
        raise job_error("PEN2010", "`--from` needs `--done` or `--missing`", None, help)
    (compiled,) = compiled_jobs(arguments, [arguments.job], settings_of(arguments))
    plan = compiled.plan
    if plan.env.interval is not None or changes_intervals:
        return _intervals(arguments, compiled)
    reads = unread(plan, JobFile.of(plan.env.name, compiled.path))
    with open_state(compiled.state_dir) as layout:
        if arguments.reset is not None:
            _reset(arguments, layout, reads)
        _print(layout, reads, arguments.format)
    return 0


def _intervals(arguments: Namespace, compiled: "Compiled") -> int:
    from datetime import datetime, timezone

    from rich.table import Table

    from engine.intervals.due_intervals import IntervalRange
    from engine.intervals.edited_ledgers import count_as
    from engine.intervals.job_ledgers import job_ledgers
    from engine.intervals.shown_intervals import label_of, states
    from engine.plan.datasets import Dataset, shown
    from engine.project.compiled_jobs import recompiler
    from engine.runtime.open_state import open_state
    from engine.terminal.summary import console

    instant, compile_again = datetime.now(timezone.utc), recompiler(arguments)
    with open_state(compiled.state_dir) as layout:
        if arguments.done or arguments.missing:
            ledgers = job_ledgers(compiled, layout, compile_again)
            count_as(layout, ledgers, IntervalRange(arguments.start, arguments.to), instant, are_done=arguments.done)
        ledgers = job_ledgers(compiled, layout, compile_again)
    rows = tuple(states(ledgers, instant))
    if arguments.format == "json":
        found = [
            {"start": f"{each.start:%Y-%m-%dT%H:%M:%SZ}", "end": f"{each.end:%Y-%m-%dT%H:%M:%SZ}", "count": count,
             "state": state}
            for state, each, count in rows
        ]  # fmt: skip
        print(json.dumps(found, indent=2))
        return 0
    for ledger in ledgers.writes.values():
        print(f"target: {shown(Dataset.of(ledger.key.written))}")
    table = Table("intervals", "number", "state", box=None, pad_edge=False)
    for state, interval, count in rows:
        table.add_row(label_of(ledgers.spec, interval), str(count), state)
    console().print(table)
    return 0


def _reset(arguments: Namespace, layout: "StateLayout", reads: "tuple[IncrementalRead, ...]") -> None:
    from catalog.diagnostics.diagnostic import did_you_mean, job_error
    from catalog.types.datatypes import has_unknown
    from connectors.interface.incremental import is_value
    from connectors.interface.source_abilities import own_order_of
    from engine.state.earlier_watermarks import delete_earlier
    from engine.state.incremental_reads import recorded_watermark, reset, state_name
    from engine.state.journal import open_journals_in
    from engine.state.watermarks import delete_watermark, write_watermark

    named = {state_name(read.scan).lower(): read for read in reads}
    read = named.get(arguments.reset.lower())
    if read is None:
        help = did_you_mean(arguments.reset, [state_name(read.scan) for read in reads])
        raise job_error("PEN2301", f"the job has no incremental source `{arguments.reset}`", None, help)
    own_files = {key.path_in_state(layout) for key in read.keys.values()}
    for log in open_journals_in(layout):
        recorded = log.read()
        if recorded is not None and not own_files.isdisjoint(recorded.incremental):
            message = f"run `{log.run_id}` of this job has not ended, and may move the watermark"
            help = f"wait for it; if it was killed, end it by `penstock run --resume {log.run_id}`"
            raise job_error("PEN5303", message, None, help)
    scan, asked = read.scan, read.asked
    own = own_order_of(scan.connector, scan.options)
    column = own if asked.column is None else scan.table.column(asked.column)
    is_typed = column is not None and not has_unknown(column.type)
    if arguments.to is not None and column is not None and is_typed and not is_value(arguments.to, column.type):
        raise job_error("PEN2004", f"`{arguments.to}` is not a value of `{column.name}` ({column.type})")
    delete_earlier(layout, scan, read.job.name)
    for key in read.keys.values():
        if (before := recorded_watermark(layout, key, read.job)) is not None:
            delete_watermark(layout, before.key)  # where the project was before, it may have another
        delete_watermark(layout, key)
    for watermark in reset(read, layout, arguments.to) if arguments.to is not None else ():
        write_watermark(layout, watermark)


def _print(layout: "StateLayout", reads: "tuple[IncrementalRead, ...]", format: str) -> None:
    from rich.table import Table

    from engine.plan.datasets import Dataset, shown
    from engine.state.incremental_reads import order_of, recorded_watermark
    from engine.terminal.summary import console

    found = [
        (key, order_of(read.scan, read.asked), recorded_watermark(layout, key, read.job))
        for read in reads
        for key in dict.fromkeys(read.keys.values())
    ]
    if format == "json":
        records = [
            {"node": key.source, "column": column, "target": key.written, "watermark": mark and asdict(mark)}
            for key, column, mark in found
        ]
        print(json.dumps(records, indent=2))
        return
    if not found:
        print("the job has no incremental source")
        return
    table = Table("source", "target", "column", "watermark", "moved by run", "at", box=None, pad_edge=False)
    for key, column, mark in found:
        value, moved_by, at = ("none: the next run reads all", "", "")
        if mark is not None:
            value, moved_by, at = mark.value.value, mark.run_id or "penstock state", mark.at
        table.add_row(key.source, shown(Dataset.of(key.written)), column, value, moved_by, at)
    console().print(table)
