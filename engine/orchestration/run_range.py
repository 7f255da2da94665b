"""What `backfill` and `restate` do: choose jobs with intervals, and run those of a stretch of time."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from catalog.diagnostics.diagnostic import job_error
from engine.compile import Compiled
from engine.intervals.due_intervals import IntervalRange, limits
from engine.intervals.job_ledgers import spec_of
from engine.job.model.settings import Settings
from engine.orchestration.run_listed import run_listed
from engine.orchestration.run_selected import run_chosen
from engine.project.compile_project import CompiledProject, compile_project
from engine.project.compiled_jobs import compiled_jobs, of_all_jobs, recompiler
from engine.project.project_job import ProjectJob
from engine.project.selected_jobs import chosen_jobs
from engine.runtime.run_request import RunRequest, new_run_id
from engine.terminal.hidden_arguments import hide_arguments
from engine.terminal.rare_collections import usual_collections
from engine.terminal.run_terminal import RunTerminal


def run_range(arguments: Namespace, settings: Settings, wanted: IntervalRange, *, with_downstream: bool = False) -> int:
    """Run the intervals of the named or selected jobs; returns the exit code.

    Raises PEN1650 for times that are no boundaries of the intervals of a named job, PEN1654 for one without intervals.
    """
    if arguments.project is not None and _are_of_project(arguments):
        return _run_in_project(arguments, settings, wanted, with_downstream=with_downstream)
    if with_downstream:
        raise job_error("PEN2710", "`--downstream` needs a project", None, "`penstock init` makes one")
    if not arguments.jobs:
        raise job_error("PEN2010", "no job is named", None, f"penstock {arguments.command} JOB…")
    jobs = compiled_jobs(arguments, arguments.jobs, settings)
    _check(jobs, wanted)
    hide_arguments(arguments.masks.text)
    usual_collections()
    given: str | None = arguments.run_id
    request = RunRequest(given or new_run_id(), given is None, range=wanted)
    return run_listed(
        jobs, request, RunTerminal.of(arguments),
        compile_again=recompiler(arguments),
        master=arguments.master, keeps_going=arguments.keep_going,
    )  # fmt: skip


def _run_in_project(arguments: Namespace, settings: Settings, wanted: IntervalRange, *, with_downstream: bool) -> int:
    project = compile_project(arguments.project, of_all_jobs(settings))
    jobs = _named(arguments, project, settings)
    is_asked = bool(arguments.jobs or arguments.select or arguments.selector)
    if not is_asked:
        jobs = tuple(job for job in jobs if has_intervals(job))
    if not any(job.has_errors for job in jobs):
        _check(compiled_jobs(arguments, [job.path for job in jobs], of_all_jobs(settings)), wanted)
    if with_downstream:
        graph = project.graph.selectable()
        after = graph.descendants([job.name for job in jobs]) | {job.name for job in jobs}
        jobs = tuple(job for job in chosen_jobs(_all(arguments), project, of_all_jobs(settings)) if job.name in after)
    arguments.range = replace(wanted, is_widened=True)  # the times are boundaries of the named jobs
    return run_chosen(arguments, settings, project, jobs, command="run")


def _named(arguments: Namespace, project: CompiledProject, settings: Settings) -> tuple[ProjectJob, ...]:
    named = {Path(path) for path in arguments.jobs}
    return tuple(
        job for job in chosen_jobs(arguments, project, of_all_jobs(settings)) if not named or job.path in named
    )


def _all(arguments: Namespace) -> Namespace:
    """The arguments without a selection."""
    return Namespace(**{**vars(arguments), "select": None, "exclude": None, "selector": None})


def has_intervals(job: ProjectJob) -> bool:
    found = job.config.get("interval")
    return isinstance(found, dict) and found.get("column") is not None


def _are_of_project(arguments: Namespace) -> bool:
    folders = [Path(folder).resolve() for folder in arguments.project.job_folders]
    return all(any(Path(job).resolve().is_relative_to(folder) for folder in folders) for job in arguments.jobs)


def _check(jobs: Sequence[Compiled], wanted: IntervalRange) -> None:
    for job in jobs:
        spec = spec_of(job)
        limits(spec, wanted, spec.floor(datetime.now(timezone.utc)))
