"""`penstock show`: shows rows of any node of a job, without writing anything."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.diagnostics.shown_names import shown_name
from engine.terminal.arguments import add_job_arguments, positive, settings_of

if TYPE_CHECKING:
    from engine.plan.nodes import Node, Plan

SUMMARY = "print rows of a source or transform of a job; writes nothing"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument(
        "node", nargs="?", metavar="NODE", help="a node as `explain` names it (default: what the first sink gets)"
    )
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most N rows (default: 20)")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: local[*])")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.needs_spark import require_spark
    from engine.project.compiled_jobs import compiled_jobs
    from engine.terminal.rare_collections import usual_collections
    from engine.terminal.report import report

    (compiled,) = compiled_jobs(arguments, [arguments.job], settings_of(arguments, reads_secrets=True))
    node = _node(compiled.built, arguments.node)
    report(compiled.warnings, arguments.masks)
    require_spark("showing rows")
    usual_collections()
    from engine.runtime.application import application
    from engine.spark.sample_rows import sample_rows
    from engine.terminal.run_terminal import RunTerminal
    from engine.terminal.summary import console, row_table

    terminal = RunTerminal(arguments.masks)
    with application([compiled], arguments.master, announce=terminal.starting_spark) as spark:
        names, rows = sample_rows(spark, compiled.built, node, arguments.limit + 1)
    shown = rows[: arguments.limit]
    console().print(row_table(names, shown))
    more = ", and more" if len(rows) > len(shown) else ""
    print(f"{len(shown)} {'row' if len(shown) == 1 else 'rows'} of `{shown_name(node.name)}`{more}")
    return 0


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
