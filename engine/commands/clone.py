"""`penstock clone`: copies what jobs have written in another environment, as cheaply as the format can."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.terminal.arguments import (
    add_format_argument,
    add_job_arguments,
    add_selection_arguments,
    positive,
    settings_of,
)

if TYPE_CHECKING:
    from engine.cloning.planned_clones import PlannedClone
    from engine.job.model.settings import Settings

SUMMARY = "copy what jobs have written in another environment"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "jobs", nargs="*", type=Path, metavar="JOB", help="jobs of the project (default: all that are selected)"
    )
    parser.add_argument("--from", dest="original", required=True, metavar="ENV", help="the environment to copy from")
    parser.add_argument("--replace", action="store_true", help="replace what is there")
    parser.add_argument(
        "--rows", type=positive, default=10_000, metavar="N",
        help="where the format cannot clone: copy at most so many rows (default: 10000)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="print what would be done; needs no Spark")
    parser.add_argument("--state-dir", metavar="DIR", help="where runs are recorded, whatever the project sets")
    parser.add_argument("--master", metavar="URL", help="Spark's master (default: local[*])")
    parser.add_argument("--quiet", action="store_true", help="print only errors and warnings")
    add_selection_arguments(parser)
    add_format_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.needs_spark import require_spark
    from engine.terminal.rare_collections import usual_collections

    clones = _planned(arguments, settings_of(arguments, reads_secrets=not arguments.dry_run))
    if not clones:
        print("no job is selected that writes to a target")
        return 0
    if arguments.dry_run:
        for clone in clones:
            print(_shown(clone, arguments.rows))
        return 0
    require_spark("cloning tables")
    usual_collections()
    _run(arguments, clones)
    return 0


def _planned(arguments: Namespace, settings: "Settings") -> "tuple[PlannedClone, ...]":
    from catalog.diagnostics.diagnostic import did_you_mean, job_error
    from engine.cloning.planned_clones import CopiedRows, planned_clones
    from engine.project.compile_project import compile_in_project, compile_project
    from engine.project.compiled_jobs import of_all_jobs
    from engine.project.enter import needs_project
    from engine.project.read_project import read_project
    from engine.project.selected_jobs import chosen_jobs

    project = needs_project(arguments)
    if arguments.original == project.environment:
        message = f"`{arguments.original}` is the environment that would be written"
        raise job_error("PEN1666", message, None, "`--env` names the environment of the copies, `--from` another one")
    original = read_project(
        project.root, arguments.original, settings.variables, masks=settings.masks,
        allows_outside=settings.allows_outside,
    )  # fmt: skip
    here = compile_project(project, of_all_jobs(settings))
    own = replace(settings, project=original.defaults)
    there = compile_project(original, of_all_jobs(own), fingerprints=False)
    named, known = {Path(job) for job in arguments.jobs}, {job.path: job.name for job in here.jobs}
    for path in sorted(named - known.keys()):
        help = did_you_mean(path.stem, known.values())
        raise job_error("PEN1001", f"`{path}` is no job of the project", None, help)
    jobs = [job.path for job in chosen_jobs(arguments, here, of_all_jobs(settings)) if not named or job.path in named]
    compiled = compile_in_project(jobs, settings, here.written)
    originals = compile_in_project(jobs, own, there.written)
    theirs = {write.dataset for job in there.jobs for write in job.writes}
    pairs = list(zip(compiled, originals, strict=True))
    return planned_clones(pairs, CopiedRows(theirs, arguments.rows, arguments.replace))


def _run(arguments: Namespace, clones: "tuple[PlannedClone, ...]") -> None:
    from engine.cloning.run_clones import run_clones
    from engine.comparing.target_scan import plan_of
    from engine.compile import Compiled
    from engine.runtime.application import application
    from engine.runtime.run_request import new_run_id
    from engine.terminal.run_terminal import RunTerminal

    def show(clone: "PlannedClone") -> None:
        if not arguments.quiet:
            print(_shown(clone, arguments.rows))

    samples = [clone.sample for clone in clones if clone.sample is not None]
    terminal = RunTerminal(arguments.masks, arguments.format, arguments.quiet)
    compiled: list[Compiled] = [*samples]
    for clone in clones:
        if clone.sample is None:
            plan = plan_of(clone.compiled.plan.env, {clone.original.name: clone.original})
            compiled.append(replace(clone.compiled, built=plan, plan=plan))
    with application(compiled, arguments.master, announce=terminal.starting_spark) as spark:
        run_clones(spark, clones, new_run_id(), replaces=arguments.replace, show=show)
    print(f"{len(clones)} tables cloned from {arguments.original}", file=sys.stderr)


def _shown(clone: "PlannedClone", rows: int) -> str:
    return f"{clone.job}: {clone.target}: {clone.way or f'at most {rows:,} rows'} of {clone.source}"
