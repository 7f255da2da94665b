"""`penstock validate`: reports all errors of job files, without Spark, Java or a network (except `--engine-check`)."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, JobError
from engine.terminal.arguments import add_format_argument, add_job_arguments, positive, settings_of

if TYPE_CHECKING:
    from engine.job.model.settings import Settings
    from engine.validation.check_jobs import CheckedJob

SUMMARY = "check job files; needs neither Spark nor Java nor a network"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="job files, folders or globs (default: the whole project)"
    )
    parser.add_argument(
        "--changed-since", metavar="REV", help="only jobs that changed since a git revision, or whose includes did"
    )
    parser.add_argument(
        "--only-jobs", action="store_true", help="skip files that are not jobs, for use as a pre-commit hook"
    )
    parser.add_argument(
        "--processes",
        type=positive,
        metavar="N",
        help="number of processes (default: one per core for 40 jobs or more)",
    )
    parser.add_argument(
        "--engine-check",
        action="store_true",
        help="also analyze each query with a local Spark and report differences (needs pyspark and Java)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="compile all jobs of a project, also those that have not changed"
    )
    add_format_argument(parser)
    add_job_arguments(parser)


def run(arguments: Namespace) -> int:
    from engine.job.find import find_jobs, has_sections
    from engine.project.enter import job_paths
    from engine.terminal.rare_collections import modules_kept
    from engine.terminal.report import report

    started = perf_counter()
    settings, diagnostics = settings_of(arguments), Diagnostics()
    paths = find_jobs(job_paths(arguments), diagnostics)
    if arguments.only_jobs:
        paths = tuple(path for path in paths if has_sections(path))
    if arguments.changed_since:
        from engine.schema.git_changes import changed_since

        paths = changed_since(paths, arguments.changed_since, settings)
    with modules_kept():
        outcomes = _outcomes(arguments, paths, settings)
    for outcome in outcomes:
        diagnostics.extend(outcome.diagnostics)
    checked = None
    if arguments.engine_check:
        from engine.validation.engine_check import engine_check

        checked = engine_check(paths, settings)
        diagnostics.extend(checked.diagnostics)
    typed, columns = sum(job.typed for job in outcomes), sum(job.columns for job in outcomes)
    report(diagnostics, arguments.masks, arguments.format, sys.stdout)
    if arguments.format == "text":
        _print_summary(len(paths), diagnostics, typed, columns, perf_counter() - started)
        if checked is not None:
            print(f"Spark was asked about {checked.asked} of {_counted(checked.queries, 'query', 'queries')}")
    return JobError.exit_code if diagnostics.has_errors else 0


def _outcomes(arguments: Namespace, paths: "Sequence[Path]", settings: "Settings") -> "tuple[CheckedJob, ...]":
    """What was found in the jobs, those of projects below the current folder as their project sees them."""
    from engine.job.root import find_root
    from engine.project.check_project import check_in_project, check_nested
    from engine.validation.check_jobs import check_jobs

    if arguments.project is not None:
        project = arguments.project
        return check_in_project(project, paths, settings, arguments.processes, is_cached=not arguments.no_cache)
    by_folder = {folder: find_root(folder) for folder in dict.fromkeys(path.parent for path in paths)}
    alone = [path for path in paths if by_folder[path.parent] is None]
    outcomes = check_jobs(alone, settings, arguments.processes)
    for root in dict.fromkeys(root for root in by_folder.values() if root is not None):
        own = [path for path in paths if by_folder[path.parent] == root]
        outcomes = (*outcomes, *check_nested(root, own, settings, arguments.processes))
    return outcomes


def _print_summary(jobs: int, diagnostics: Diagnostics, typed: int, columns: int, seconds: float) -> None:
    errors = sum(item.severity.value == "error" for item in diagnostics)
    warnings = len(diagnostics) - errors
    summary = f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}" if len(diagnostics) else "no errors found"
    share = f"; typed {100 * typed // columns} % of {_counted(columns, 'column')}" if columns else ""
    print(f"{_counted(jobs, 'job')}: {summary}{share} ({seconds:.2f} s)")


def _counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
