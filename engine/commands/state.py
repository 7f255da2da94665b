"""`penstock state`: how far a job's incremental sources have been read, and to forget or set it."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import add_job_arguments, settings_of

if TYPE_CHECKING:
    from connectors.interface.incremental import Incremental
    from engine.plan.nodes import Plan, Scan
    from engine.state.watermarks import Watermarks

SUMMARY = "show the watermarks of a job's incremental sources, or reset one"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument(
        "--reset", metavar="NODE", help="forget how far this source was read: the next run reads it all"
    )
    parser.add_argument("--to", metavar="VALUE", help="with --reset: the next run reads what is past this value")
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded, whatever the job sets")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import job_error
    from engine.project.compiled_jobs import compiled_jobs
    from engine.runtime.state_store import state_store
    from engine.state.watermarks import Watermarks, incremental_scans

    if arguments.to is not None and arguments.reset is None:
        raise job_error("PEN2010", "`--to` needs `--reset`", None, "penstock state JOB --reset NODE --to VALUE")
    (compiled,) = compiled_jobs(arguments, [arguments.job], settings_of(arguments))
    plan = compiled.plan
    with state_store(arguments.state_dir, compiled.path, plan.env.options) as layout:
        watermarks = Watermarks(layout, plan.env.name)
        scans = incremental_scans(plan)
        if arguments.reset is not None:
            _reset(arguments, plan, watermarks, scans)
        _print(watermarks, scans, arguments.format)
    return 0


def _reset(
    arguments: Namespace, plan: "Plan", watermarks: "Watermarks", scans: "tuple[tuple[Scan, Incremental], ...]"
) -> None:
    from catalog.diagnostics.diagnostic import did_you_mean, job_error
    from catalog.types.datatypes import has_unknown
    from connectors.interface.incremental import is_value
    from connectors.interface.source_abilities import own_order_of
    from engine.state.journal import open_journals_in
    from engine.state.watermarks import node_of, reset

    named = {node_of(scan).lower(): (scan, asked) for scan, asked in scans}
    if arguments.reset.lower() not in named:
        help = did_you_mean(arguments.reset, [node_of(scan) for scan, _ in scans])
        raise job_error("PEN2301", f"the job has no incremental source `{arguments.reset}`", None, help)
    for log in open_journals_in(watermarks.layout):
        recorded = log.read()
        if recorded is not None and recorded.job == plan.env.name:
            message = f"run `{log.run_id}` of this job has not ended, and may move the watermark"
            help = f"wait for it; if it was killed, end it by `penstock run --resume {log.run_id}`"
            raise job_error("PEN5303", message, None, help)
    scan, asked = named[arguments.reset.lower()]
    own = own_order_of(scan.connector, scan.options)
    column = own if asked.column is None else scan.table.column(asked.column)
    is_typed = column is not None and not has_unknown(column.type)
    if arguments.to is not None and column is not None and is_typed and not is_value(arguments.to, column.type):
        raise job_error("PEN2004", f"`{arguments.to}` is not a value of `{column.name}` ({column.type})")
    reset(watermarks, scan, asked, arguments.to)


def _print(watermarks: "Watermarks", scans: "tuple[tuple[Scan, Incremental], ...]", format: str) -> None:
    from rich.table import Table

    from engine.runtime.summary import console
    from engine.state.watermarks import node_of, order_of

    found = [(node_of(scan), order_of(scan, asked), watermarks.read(node_of(scan))) for scan, asked in scans]
    if format == "json":
        records = [{"node": node, "column": column, "watermark": mark and asdict(mark)} for node, column, mark in found]
        print(json.dumps(records, indent=2))
        return
    if not found:
        print("the job has no incremental source")
        return
    table = Table("source", "column", "watermark", "moved by run", "at", box=None, pad_edge=False)
    for node, column, mark in found:
        value, moved_by, at = ("none: the next run reads all", "", "")
        if mark is not None:
            value, moved_by, at = mark.value.value, mark.run_id or "penstock state", mark.at
        table.add_row(node, column, value, moved_by, at)
    console().print(table)
