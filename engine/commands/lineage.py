"""`penstock lineage`: shows the source columns of each column of a job's sinks."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.diagnostics.shown_names import shown_name
from engine.terminal.arguments import add_job_arguments, settings_of

if TYPE_CHECKING:
    from engine.plan.lineage import SourceColumns
    from engine.plan.nodes import AnyNode, Plan

SUMMARY = "show which source columns each column comes from; needs no Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument("--column", metavar="NODE.COLUMN", help="one column of a sink or of any named node")
    parser.add_argument("--format", choices=("text", "json", "openlineage"), default="text")
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.plan.lineage import lineage
    from engine.plan.rendering.openlineage_datasets import to_openlineage
    from engine.project.compiled_jobs import compiled_jobs

    (compiled,) = compiled_jobs(arguments, [arguments.job], settings_of(arguments))
    plan = compiled.built
    if arguments.format == "openlineage":
        print(arguments.masks.known(json.dumps(to_openlineage(plan), indent=2, ensure_ascii=False)))
        return 0
    found = lineage(plan)
    wanted = _wanted(plan, arguments.column)
    if arguments.format == "json":
        listed = [_json(node, column, found[node]) for node, column in wanted]
        print(arguments.masks.known(json.dumps(listed, indent=2, ensure_ascii=False)))
        return 0
    lines = []
    for node, column in wanted:
        origins = found[node].get(column.lower(), ())
        lines.append(f"{shown_name(node.name)}.{shown_name(column)}")
        lines += [
            f"  {'<-' if origin.is_direct else '~ '} {origin.scan}.{origin.column} ({origin.dependency.value})"
            for origin in origins
        ] or ["  no source column"]
    for line in lines:
        print(arguments.masks.known(line))
    return 0


def _wanted(plan: "Plan", column: str | None) -> "list[tuple[AnyNode, str]]":
    from catalog.diagnostics.diagnostic import did_you_mean, job_error

    if column is None:
        return [(write, name) for write in plan.writes for name in write.table.schema.names]
    nodes = {node.name.lower(): node for node in plan.nodes()}
    name, dot, last = column.rpartition(".")
    node = nodes.get(name.lower())
    if not dot or node is None:
        help = did_you_mean(name, [candidate.name for candidate in nodes.values()])
        raise job_error("PEN2301", f"the job has no node `{name or column}`", None, help or "NODE.COLUMN")
    known = node.table.column(last)
    if known is None:
        help = did_you_mean(last, node.table.schema.names)
        raise job_error("PEN2301", f"`{node.name}` has no column `{last}`", None, help)
    return [(node, known.name)]


def _json(node: "AnyNode", column: str, columns: "SourceColumns") -> dict[str, object]:
    origins = [
        {
            "source": origin.scan,
            "column": origin.column,
            "dependency": origin.dependency.value,
            "direct": origin.is_direct,
        }
        for origin in columns.get(column.lower(), ())
    ]
    return {"node": node.name, "column": column, "origins": origins}
