"""`penstock explain`: shows the plan that `run` executes."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.needs_spark import require_spark
from engine.terminal.arguments import (
    add_accelerator_argument,
    add_defer_argument,
    add_job_arguments,
    add_table_arguments,
    settings_of,
)

if TYPE_CHECKING:
    from catalog.tables.savemode import WritePreview
    from connectors.interface.incremental import Since
    from engine.compile import Compiled
    from engine.intervals.next_runs import NextRuns
    from engine.job.model.settings import Settings
    from engine.runtime.counting.native_share import NativeShare

SUMMARY = "print the plans of jobs; needs no Spark"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "jobs", type=Path, nargs="+", metavar="JOB", help="a job file; of several, each as it is run after those before"
    )
    parser.add_argument("--format", choices=("text", "json", "mermaid"), default="text")
    parser.add_argument("--columns", action="store_true", help="show the columns and types of every node")
    parser.add_argument("--rules", action="store_true", help="show what each optimizer rule changed")
    parser.add_argument(
        "--unoptimized", action="store_true", help="the plan as built from the job file, before the optimizer rules"
    )
    parser.add_argument(
        "--connect", action="store_true", help="look at the targets, and show what a run would do there; needs Spark"
    )
    parser.add_argument(
        "--together", action="store_true", help="the jobs of the project as one, as `run --together` commits them"
    )
    add_defer_argument(parser)
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded, whatever the job sets")
    add_accelerator_argument(parser)
    add_job_arguments(parser)
    add_table_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.project.compiled_jobs import listed_jobs
    from engine.terminal.report import report

    settings = settings_of(arguments, reads_secrets=arguments.connect)
    if arguments.together:
        jobs = _in_dependency_order(arguments, settings)
    else:
        jobs = listed_jobs(arguments, arguments.jobs, settings)
    for job in jobs:
        is_known = arguments.together  # what another job of the group writes need not be there yet
        report((item for item in job.warnings if not (is_known and item.code == "PEN4030")), arguments.masks)
    following = _following(arguments, jobs)
    if arguments.format == "json":
        found = [_as_json(arguments, job) for job in following]
        shown = json.dumps(found[0] if len(found) == 1 else found, indent=2, ensure_ascii=False) + "\n"
    else:
        paths = [str(job.compiled.path) for job in following]
        titles = [f"{path}\n{'=' * len(path)}\n\n" if len(paths) > 1 else "" for path in paths]
        texts = (f"{title}{_as_text(arguments, job)}" for title, job in zip(titles, following, strict=True))
        shown = "\n".join(texts)
    print(arguments.masks.known(shown), end="")
    return 0


def _following(arguments: Namespace, jobs: "Sequence[Compiled]") -> "list[NextRuns]":
    """The jobs as their next run has them: of one that runs by intervals, for those that are due."""
    from engine.intervals.next_runs import NextRuns, next_runs
    from engine.project.compiled_jobs import recompiler
    from engine.together.group import group_of

    defer, compile_again = _deferred(arguments, jobs[0]), recompiler(arguments)
    if arguments.together:
        return [NextRuns(group_of([defer(job) for job in jobs]))]
    return [next_runs(defer(job), lambda job: defer(compile_again(job))) for job in jobs]


def _in_dependency_order(arguments: Namespace, settings: "Settings") -> "tuple[Compiled, ...]":
    """The jobs that are committed together."""
    from engine.project.compile_project import compile_in_project, compile_project
    from engine.project.compiled_jobs import of_all_jobs
    from engine.project.enter import needs_project
    from engine.project.job_graph import jobs_in_order

    project = compile_project(needs_project(arguments), of_all_jobs(settings), fingerprints=False)
    in_order = [job.path for job in jobs_in_order(project.graph, project.graph.jobs) if job.path in arguments.jobs]
    others = [path for path in arguments.jobs if path not in in_order]
    return compile_in_project([*in_order, *others], settings, project.written)


def _deferred(arguments: Namespace, compiled: "Compiled") -> "Callable[[Compiled], Compiled]":
    """Reads in the environment of `--defer` what a run of the listed jobs alone would read there."""
    if arguments.defer is None:
        return lambda job: job
    from engine.project.compile_project import compile_project
    from engine.project.compiled_jobs import of_all_jobs
    from engine.project.deferral import deferral_of
    from engine.project.enter import needs_project

    here = compile_project(needs_project(arguments), of_all_jobs(compiled.settings), fingerprints=False)
    return deferral_of(arguments, compiled.settings, here, {path.stem for path in arguments.jobs}).apply


def _as_json(arguments: Namespace, following: "NextRuns") -> dict[str, object]:
    from engine.intervals.shown_intervals import due_json
    from engine.optimizer.chaining_text import chaining_json
    from engine.plan.rendering.explain_json import to_json
    from engine.plan.rendering.schedule_text import schedule_json

    compiled, ledgers, due = following.compiled, following.ledgers, following.due
    plan = compiled.built if arguments.unoptimized else compiled.plan
    previews, native = _connected(compiled) if arguments.connect else (None, None)
    found: dict[str, object] = {
        **to_json(plan, previews=previews, starts=_starts(compiled)),
        "schedule": schedule_json(plan),
    }
    if not arguments.unoptimized:
        found["not_chained"] = chaining_json(plan)
    found |= {} if ledgers is None else {"intervals": due_json(ledgers, due)}
    if native is not None:
        found["native"] = native.as_json
    return found


def _as_text(arguments: Namespace, following: "NextRuns") -> str:
    from engine.intervals.shown_intervals import due_text
    from engine.optimizer.chaining_text import chaining_text
    from engine.optimizer.explain_rules import explain_rules
    from engine.plan.rendering.explain_text import explain
    from engine.plan.rendering.mermaid import to_mermaid
    from engine.plan.rendering.schedule_text import schedule_text

    compiled, ledgers, due = following.compiled, following.ledgers, following.due
    plan = compiled.built if arguments.unoptimized else compiled.plan
    if arguments.format == "mermaid":
        return to_mermaid(plan)
    previews, native = _connected(compiled) if arguments.connect else (None, None)
    shown = explain(plan, columns=arguments.columns, previews=previews, starts=_starts(compiled))
    if schedule := schedule_text(plan):
        shown += "\n" + schedule
    if not arguments.unoptimized and (apart := chaining_text(plan)):
        shown += "\n" + apart
    shown += "" if ledgers is None else "\n" + due_text(ledgers, due)
    shown += _state_note(compiled)
    if native is not None:
        shown += f"\n{native.as_text}\n"
    if arguments.rules:
        shown += "\n" + explain_rules(compiled.built, disabled=compiled.settings.disabled_rules)
    return shown


def _connected(compiled: "Compiled") -> "tuple[Mapping[str, WritePreview], NativeShare | None]":
    """What the targets are like, and what of the job an accelerator would execute."""
    from engine.runtime.application import application, dry_run
    from engine.runtime.counting.planned_share import planned_share

    require_spark("looking at the targets")
    with application([compiled]) as spark:
        return dry_run(spark, compiled), planned_share(spark, compiled.plan)


def _state_note(compiled: "Compiled") -> str:
    """What the store of the state directory does not guarantee."""
    from connectors.shared.store_primitives import missing_primitive

    note = missing_primitive(compiled.state_dir)
    return "" if note is None else f"\nstate directory: {note}\n"


def _starts(compiled: "Compiled") -> "dict[str, Since]":
    """Where the next run begins to read incremental sources; of a state directory that Spark alone reads, nothing."""
    from connectors.storage.paths import local_path
    from engine.state.incremental_reads import JobFile, incremental_scans, reads_of
    from engine.state.layout import layout_at

    plan = compiled.plan
    folder = compiled.state_dir if incremental_scans(plan) else None
    if folder is None or local_path(folder) is None:
        return {}
    reads = reads_of(plan, layout_at(None, folder), JobFile.of(plan.env.name, compiled.path))
    return {read.scan.name: read.since for read in reads}
