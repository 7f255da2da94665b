"""What `run`, `build` and `retry` do in a project: choose jobs, compile them, run them, and print one table."""

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, Severity, job_error
from connectors.storage.paths import local_path
from engine.compile import Compiled
from engine.intervals.due_intervals import ALL
from engine.intervals.job_ledgers import CompileAgain
from engine.job.model.settings import Settings
from engine.needs_spark import require_spark
from engine.project.check_project import places_of
from engine.project.compile_project import CompiledProject, compile_in_project, compile_project, compile_with
from engine.project.compiled_jobs import of_all_jobs
from engine.project.deferral import Deferral, deferral_of
from engine.project.enter import needs_project
from engine.project.project_job import ProjectJob
from engine.project.publish_groups import units_of
from engine.project.recorded_state import JobStatus, read_state, record_state
from engine.project.selected_jobs import chosen_jobs
from engine.runtime.counting.counts import ReadCount, WriteCount
from engine.runtime.run_request import RunRequest, new_run_id
from engine.state.layout import layout_at
from engine.terminal.rare_collections import usual_collections
from engine.terminal.run_terminal import RunTerminal
from engine.terminal.summary import console
from engine.testing.read_tests import JobTest, tests_of
from engine.together.group import group_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from engine.orchestration.run_project import ProjectRun, Unit


def run_selected(arguments: Namespace, settings: Settings, *, command: str) -> int:
    """Run the chosen jobs; `command` is `run` or `build`, which also runs the tests of each job before it."""
    compiled = compile_project(needs_project(arguments), of_all_jobs(settings))
    named = {Path(path) for path in arguments.jobs}
    jobs = tuple(
        job for job in chosen_jobs(arguments, compiled, of_all_jobs(settings)) if not named or job.path in named
    )
    return run_chosen(arguments, settings, compiled, jobs, command=command)


def retry_last(arguments: Namespace, settings: Settings) -> int:
    """Run what failed or was skipped in the last command again."""
    project = needs_project(arguments)
    compiled = compile_project(project, of_all_jobs(settings))
    state = read_state(layout_at(None, arguments.state_dir or project.state_dir))
    if state is None:
        raise job_error("PEN2702", "there is no earlier run to retry", None, "penstock run, or penstock build")
    names = {name for name, status in state.results.items() if status != JobStatus.SUCCESS.value}
    jobs = tuple(job for job in chosen_jobs(arguments, compiled, of_all_jobs(settings)) if job.name in names)
    return run_chosen(arguments, settings, compiled, jobs, command=state.command)


def run_chosen(
    arguments: Namespace, settings: Settings, compiled: CompiledProject, jobs: Sequence[ProjectJob], *, command: str
) -> int:
    if not jobs:
        print("no job is selected")
        return 0
    _refuse_errors(compiled, jobs)
    if not getattr(arguments, "check", False):
        require_spark("running a job")
    usual_collections()
    plans = compile_in_project([job.path for job in jobs], settings, compiled.written)
    terminal = RunTerminal.of(arguments)
    again: CompileAgain = partial(_compiled_again, compiled)
    if getattr(arguments, "defer", None) is not None:
        deferral = deferral_of(arguments, settings, compiled, {job.name for job in jobs})
        if not terminal.is_quiet and (names := deferral.names(plans)):
            print(f"read in {arguments.defer}: {', '.join(names)}", file=sys.stderr)
        plans, again = tuple(map(deferral.apply, plans)), partial(_deferred_again, compiled, deferral)
    if getattr(arguments, "together", False):
        return _run_together(arguments, compiled, jobs, plans)
    from engine.orchestration.run_project import RunOptions, run_project

    units = _units(compiled, {job.name: plan for job, plan in zip(jobs, plans, strict=True)})
    terminal.report(warning for plan in plans for warning in plan.warnings if warning.code != "PEN4030")
    is_full = getattr(arguments, "full_refresh", False)
    request = RunRequest(
        arguments.run_id or new_run_id(), is_fresh=arguments.run_id is None, is_full=is_full,
        range=getattr(arguments, "range", ALL),
    )  # fmt: skip
    state_dir = settings.state_dir or compiled.project.state_dir
    options = RunOptions(
        command, request, terminal, state_dir, again, arguments.master,
        arguments.keep_going, arguments.threads,
    )  # fmt: skip
    tests = partial(_test_job, compiled, settings) if command == "build" else None
    ended = run_project(compiled.graph, units, options, tests)
    _print_table(ended, terminal)
    return ended.exit_code


def _units(compiled: CompiledProject, plans: Mapping[str, Compiled]) -> "dict[str, Unit]":
    """What commits as one, in order: the jobs of a group that are run, and each other job."""
    from engine.orchestration.run_project import Unit

    graph = compiled.graph.selectable()
    parents = {name: graph.ancestors([name]) for name in plans} if compiled.groups else {}
    units = units_of(tuple(plans), compiled.groups, parents)
    return {
        name: Unit(jobs, plans[name] if jobs == (name,) else group_of([plans[job] for job in jobs]))
        for name, jobs in units.items()
    }


def _run_together(
    arguments: Namespace, compiled: CompiledProject, jobs: Sequence[ProjectJob], plans: Sequence[Compiled]
) -> int:
    """Run the jobs as one, which is committed as a whole or not at all."""
    group, terminal = group_of(plans), RunTerminal.of(arguments)
    terminal.report(warning for warning in group.warnings if warning.code != "PEN4030")
    if arguments.check:
        print(f"checked {len(plans)} jobs: they can be committed together")
        return 0
    require_spark("running a job")
    from engine.orchestration.run_listed import run_listed

    request = RunRequest(arguments.run_id or new_run_id(), is_fresh=arguments.run_id is None)
    code = run_listed([group], request, terminal, compile_again=lambda job: job, master=arguments.master)
    state = arguments.state_dir or compiled.project.state_dir
    if local_path(state) is not None:
        status = JobStatus.ERROR if code else JobStatus.SUCCESS
        statuses = {job.name: status for job in jobs}
        record_state(layout_at(None, state), "run", statuses, {job.name: compiled.graph.jobs[job.name] for job in jobs})
    return code


def _compiled_again(project: CompiledProject, job: Compiled) -> Compiled:
    (compiled,) = compile_in_project([job.path], job.settings, project.written)
    return compiled


def _deferred_again(project: CompiledProject, deferral: Deferral, job: Compiled) -> Compiled:
    return deferral.apply(_compiled_again(project, job))


def _refuse_errors(compiled: CompiledProject, jobs: Sequence[ProjectJob]) -> None:
    """Raises a `JobError` with the errors of the jobs, and those between them and others."""
    diagnostics = Diagnostics()
    files = {str(job.path) for job in jobs}
    diagnostics.extend(item for job in jobs for item in job.diagnostics if item.severity.value == "error")
    diagnostics.extend(item for item in compiled.diagnostics if any(span.file in files for span in places_of(item)))
    diagnostics.raise_errors()


def _test_job(
    compiled: CompiledProject, settings: Settings, spark: "SparkSession", name: str
) -> tuple[int, int, tuple[Diagnostic, ...]]:
    """Run the tests of a job: how many passed and failed, and the errors."""
    found = Diagnostics()
    tests = tests_of(compiled.graph.jobs[name].path, found)
    outcomes = [_tested(test, compiled, settings, spark) for test in tests]
    failed = sum(bool(errors) for errors in outcomes) + found.has_errors
    return len(outcomes) - failed, failed, (*found, *(error for errors in outcomes for error in errors))


def _tested(
    test: JobTest, compiled: CompiledProject, settings: Settings, spark: "SparkSession"
) -> tuple[Diagnostic, ...]:
    from engine.testing.run_tests import run_test_on

    found = Diagnostics()
    own = replace(of_all_jobs(settings), variables={**settings.variables, **test.variables})
    job = compile_with(test.job, own, compiled.written, found)
    if job is None:
        return tuple(item for item in found if item.severity is Severity.ERROR)
    return run_test_on(spark, job, test)


def _print_table(ended: "ProjectRun", terminal: RunTerminal) -> None:
    """One line for each job, and one that says how all of them ended."""
    runs = ended.runs
    counts = {status: sum(len(run.jobs) for run in runs if run.status is status) for status in JobStatus}
    if not terminal.is_quiet:
        table = Table(box=None, pad_edge=False)
        for heading in ("job", "status", "tests", "rows read", "rows written", "seconds"):
            table.add_column(heading, justify="left" if heading in ("job", "status") else "right")
        for run in runs:
            name = run.name if run.jobs == (run.name,) else f"{run.name} ({', '.join(run.jobs)})"
            tests = "" if run.tests is None or not sum(run.tests) else f"{run.tests[0]} of {sum(run.tests)}"
            read = _total(run.result.reads) if run.result else ""
            written = _total(run.result.writes) if run.result else ""
            table.add_row(name, run.status.value, tests, read, written, f"{run.seconds:.1f}")
        console().print(table)
    if not terminal.is_quiet or ended.exit_code:
        summary = ", ".join(f"{count} {status.value}" for status, count in counts.items() if count)
        number = sum(len(run.jobs) for run in runs)
        print(f"{number} job{'s' * (number != 1)}: {summary}")
    if any(run.status is not JobStatus.SUCCESS for run in runs):
        print("`penstock retry` runs again what failed or was skipped", file=sys.stderr)


def _total(counts: Iterable[ReadCount] | Iterable[WriteCount]) -> str:
    numbers = [count.rows for count in counts if count.rows is not None]
    return f"{sum(numbers):,}" if numbers else ""
