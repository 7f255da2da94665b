"""`penstock show`: shows rows of any node of a job, of a query over them, or of data, without writing anything."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.diagnostics.shown_names import shown_name, shown_text
from engine.terminal.arguments import add_accelerator_argument, add_job_arguments, positive, settings_of

if TYPE_CHECKING:
    from connectors.interface.incremental import Since
    from engine.compile import Compiled
    from engine.plan.nodes import Node, Plan

SUMMARY = "print rows of a source or transform of a job, of a query over them, or of data; writes nothing"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "job",
        metavar="JOB",
        help="a job file; or data: a file, folder or pattern, or a URL such as s3a://bucket/orders",
    )
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument(
        "node", nargs="?", metavar="NODE", help="a node as `explain` names it (default: what the first sink gets)"
    )
    rows.add_argument("--sql", metavar="QUERY", help="a query over the nodes, by their names")
    parser.add_argument("--where", metavar="CONDITION", help="only rows for which it is true, in Spark SQL")
    parser.add_argument("--table", metavar="NAME", help="of a JDBC URL: the table")
    parser.add_argument(
        "--user", metavar="NAME", help="of a JDBC URL: the user; the password is in $PENSTOCK_JDBC_PASSWORD"
    )
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most N rows (default: 20)")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: local[*])")
    parser.add_argument("--state-dir", metavar="DIR", help="where incremental sources find how far runs have read")
    parser.add_argument("--full-refresh", action="store_true", help="read incremental sources from the start")
    add_accelerator_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.needs_spark import require_spark
    from engine.project.compiled_jobs import compiled_jobs
    from engine.terminal.rare_collections import usual_collections
    from engine.terminal.report import report

    settings = settings_of(arguments, reads_secrets=True)
    if _is_data(arguments.job):
        require_spark("showing rows")
        from engine.describe.data_job import data_job

        print("starting Spark", file=sys.stderr, flush=True)
        compiled = data_job(arguments.job, settings, arguments.master, table=arguments.table, user=arguments.user)
    else:
        (compiled,) = compiled_jobs(arguments, [Path(arguments.job)], settings)
    node = _queried(compiled.built, arguments)
    report(compiled.warnings, arguments.masks)
    require_spark("showing rows")
    usual_collections()
    _print_rows(arguments, compiled, node)
    return 0


def _print_rows(arguments: Namespace, compiled: "Compiled", node: "Node") -> None:
    from engine.runtime.application import application, starts_of
    from engine.spark.sample_rows import sample_rows
    from engine.state.incremental_reads import incremental_scans
    from engine.terminal.run_terminal import RunTerminal
    from engine.terminal.summary import console, row_table

    terminal = RunTerminal(arguments.masks)
    with application([compiled], arguments.master, announce=terminal.starting_spark) as spark:
        is_incremental = bool(incremental_scans(compiled.plan))
        starts = starts_of(spark, compiled, is_full=arguments.full_refresh) if is_incremental else {}
        names, rows = sample_rows(spark, compiled.built, node, arguments.limit + 1, starts)
    shown = rows[: arguments.limit]
    console().print(row_table(names, shown))
    more = ", and more" if len(rows) > len(shown) else ""
    print(f"{len(shown)} {'row' if len(shown) == 1 else 'rows'} of `{shown_name(node.name)}`{more}")
    _note_starts(node, starts, is_full=arguments.full_refresh)


def _note_starts(node: "Node", starts: "Mapping[str, Since]", *, is_full: bool) -> None:
    """Name the incremental sources whose rows were shown as the next run reads them."""
    from engine.plan.nodes import Scan, below

    for scan in below(node):
        since = starts.get(scan.name) if isinstance(scan, Scan) else None
        if not isinstance(scan, Scan) or since is None or is_full:
            continue
        begins = "from the start" if since.after is None else f"what is past {shown_text(str(since.after.value))}"
        print(
            f"note: `{shown_name(scan.written_name)}` is incremental: the next run reads {begins}, and so does this; "
            "`--full-refresh` shows all rows",
            file=sys.stderr,
        )


def _is_data(path: str) -> bool:
    """Whether what is to be shown is data: no job file, nor a folder of jobs."""
    from glob import has_magic

    from connectors.storage.paths import data_files
    from engine.job.find import SUFFIXES, is_job

    if "://" in path:
        return not path.lower().startswith(("http://", "https://"))
    local = Path(path)
    if local.is_dir():
        return (local / "_delta_log").is_dir() or any(not is_job(Path(file)) for file in data_files(path)[:1])
    if local.suffix.lower() == ".json" and local.is_file():
        return not is_job(local)
    return local.suffix.lower() not in SUFFIXES and (local.exists() or has_magic(path) or local.suffix != "")


def _queried(plan: "Plan", arguments: Namespace) -> "Node":
    """The node to show: one of the plan, or a query over it."""
    from engine.describe.shown_query import filtered, query_over

    node = query_over(plan, arguments.sql) if arguments.sql else _node(plan, arguments.node)
    return filtered(node, arguments.where) if arguments.where else node


def _node(plan: "Plan", name: str | None) -> "Node":
    from catalog.diagnostics.diagnostic import did_you_mean, job_error
    from engine.plan.nodes import Write

    if name is None:
        return plan.writes[0].input
    nodes = {node.name.lower(): node for node in reversed(tuple(plan.nodes()))}
    writes = {write.name.lower(): write.input for write in plan.writes}
    found = nodes.get(name.lower())
    if found is None or isinstance(found, Write):
        found = writes.get(name.lower())
    if found is None:
        help = did_you_mean(name, [node.name for node in plan.nodes()])
        raise job_error("PEN2301", f"the job has no node `{name}`", None, help)
    return found
