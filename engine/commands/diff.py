"""`penstock diff`: compares what a job has written in two environments."""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.terminal.arguments import add_job_arguments, positive, settings_of

if TYPE_CHECKING:
    from engine.compile import Compiled
    from engine.job.model.settings import Settings
    from engine.spark.table_difference import TableDifference

SUMMARY = "compare the rows that a job has written in two environments"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="a job of the project")
    parser.add_argument(
        "--env", dest="between", type=_pair, required=True, metavar="A,B", help="the two environments: dev,prod"
    )
    parser.set_defaults(environment=None)
    parser.add_argument(
        "--keys", type=_names, default=(), metavar="COLUMN,…",
        help="what identifies a row (default: the primary key of the sink; without one, rows are compared as a whole)",
    )  # fmt: skip
    parser.add_argument("--limit", type=positive, default=5, metavar="N", help="rows of a sample (default: 5)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: local[*])")
    add_job_arguments(parser, has_environment=False)


def run(arguments: Namespace) -> int:
    from engine.comparing.target_scan import keys_of, plan_of, target_scans
    from engine.needs_spark import require_spark

    require_spark("comparing rows")
    from engine.project.enter import needs_project
    from engine.runtime.application import application
    from engine.spark.lower import lower_nodes
    from engine.spark.session import pipeline_session
    from engine.spark.table_difference import table_difference
    from engine.terminal.run_terminal import RunTerminal

    needs_project(arguments)
    settings = settings_of(arguments, reads_secrets=True)
    jobs = [_compiled(arguments, settings, environment) for environment in arguments.between]
    scans = [target_scans(job) for job in jobs]
    plans = [plan_of(job.plan.env, found) for job, found in zip(jobs, scans, strict=True)]
    read = [replace(job, built=plan, plan=plan) for job, plan in zip(jobs, plans, strict=True)]
    terminal = RunTerminal(arguments.masks, is_quiet=arguments.format == "json")
    found: dict[str, TableDifference] = {}
    with application(read, arguments.master, announce=terminal.starting_spark) as spark:
        session = pipeline_session(spark, jobs[0].plan.env.session_settings)
        for name in scans[0]:
            nodes = [targets[name] for targets in scans]
            frames = lower_nodes(session, nodes, {})
            first, second = (frames[node] for node in nodes)
            found[name] = table_difference(first, second, arguments.keys or keys_of(jobs[0], name), arguments.limit)
    if arguments.format == "json":
        print(json.dumps({name: _json(difference) for name, difference in found.items()}, indent=2, default=str))
    else:
        for name, difference in found.items():
            _print(name, difference, arguments.between)
    return int(not all(difference.is_equal for difference in found.values()))


def _compiled(arguments: Namespace, settings: "Settings", environment: str) -> "Compiled":
    from engine.project.compile_project import compile_in_project, compile_project
    from engine.project.compiled_jobs import of_all_jobs
    from engine.project.read_project import read_project

    project = read_project(
        arguments.project.root, environment, settings.variables, masks=settings.masks,
        allows_outside=settings.allows_outside, limits_process=settings.limits_process,
    )  # fmt: skip
    own = replace(settings, project=project.defaults)
    written = compile_project(project, of_all_jobs(own), fingerprints=False).written
    (compiled,) = compile_in_project([arguments.job], own, written)
    return compiled


def _print(name: str, found: "TableDifference", between: tuple[str, str]) -> None:
    from engine.terminal.summary import console, row_table

    first, second = between
    print(f"{name}: {found.first:,} rows in {first}, {found.second:,} in {second}")
    schema = (
        (found.schema.only_first, f"columns only in {first}"),
        (found.schema.only_second, f"columns only in {second}"),
        (found.schema.other_types, "columns of different types"),
    )
    for columns, what in schema:
        if columns:
            print(f"   {what}: {', '.join(columns)}")
    if found.is_equal:
        print("   no difference")
    if found.repeated:
        print(f"   {found.repeated:,} keys are there more than once: rows are compared as a whole")
    samples = (
        (found.added, found.added_rows, f"only in {first}"),
        (found.removed, found.removed_rows, f"only in {second}"),
        (found.changed, found.changed_rows, f"changed (each as in {first}, then as in {second})"),
    )
    for count, rows, what in samples:
        if count:
            print(f"   {count:,} rows {what}")
            console().print(row_table(found.schema.columns, rows))
    for column, count in found.by_column:
        print(f"   `{column}` differs in {count:,} rows")


def _json(found: "TableDifference") -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(found), "is_equal": found.is_equal}


def _pair(text: str) -> tuple[str, str]:
    """The argument type for two environments."""
    names = _names(text)
    if len(names) != 2:
        raise ArgumentTypeError(f"`{text}` is not two environments, such as dev,prod")
    return names[0], names[1]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
