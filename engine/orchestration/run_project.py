"""Runs jobs of a project side by side in one Spark application, in dependency order."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError
from catalog.diagnostics.unexpected_errors import unexpected_error
from engine.compile import Compiled
from engine.intervals.job_ledgers import CompileAgain
from engine.orchestration.run_in_order import run_in_order
from engine.orchestration.run_intervals import run_intervals
from engine.project.job_graph import JobGraph
from engine.project.recorded_state import JobStatus, record_state
from engine.runtime.application import application, refuse_differing_settings
from engine.runtime.attendant import StopsWithOthers
from engine.runtime.execute import run_job
from engine.runtime.interrupts import InterruptedRun, Interrupts
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest
from engine.state.file_names import run_ids
from engine.state.layout import layout_at
from engine.state.run_state import State
from engine.state.state_dir import check_writable
from engine.terminal.run_terminal import RunTerminal
from engine.terminal.signals import interrupts_of_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a command runs jobs. `command`: the one that `penstock retry` repeats. `request`: each job gets a run id of
    its own from that one. `state_dir`: where it is recorded how the jobs ended. `compile_again`: as for
    `run_listed`."""

    command: str
    request: RunRequest
    terminal: RunTerminal
    state_dir: str
    compile_again: CompileAgain
    master: str | None = None
    keeps_going: bool = False
    workers: int = 4


@dataclass(slots=True)
class JobRun:
    """A job of a command as it ended, or a group of `jobs` that commit as one. `seconds`: with its tests."""

    name: str
    jobs: tuple[str, ...]
    status: JobStatus = JobStatus.SKIPPED
    result: JobResult | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    seconds: float = 0.0
    tests: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ProjectRun:
    """How all jobs of a command ended, and the signal that stopped it."""

    runs: tuple[JobRun, ...]
    interrupted_by: int | None = None

    @property
    def exit_code(self) -> int:
        if self.interrupted_by is not None:
            return 128 + self.interrupted_by
        return int(any(run.status is not JobStatus.SUCCESS for run in self.runs))


TestJob = Callable[["SparkSession", str], tuple[int, int, tuple[Diagnostic, ...]]]
"""Runs the tests of a job: how many passed and failed, and the errors."""


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """What commits as one: a job, or a group of `jobs`, compiled as one."""

    jobs: tuple[str, ...]
    compiled: Compiled


def run_project(
    graph: JobGraph, units: Mapping[str, Unit], options: RunOptions, test_job: TestJob | None = None
) -> ProjectRun:
    """Run jobs and groups, in an order in which each comes after those that it needs; `units` has that order.

    With `test_job`, the tests of a job run before it, and it is not run if one of them fails.
    """
    jobs = tuple(unit.compiled for unit in units.values())
    for state in dict.fromkeys(job.state_dir for job in jobs):
        options.terminal.report(check_writable(state))
    refuse_differing_settings(jobs)
    runs = {name: JobRun(name, unit.jobs) for name, unit in units.items()}
    parents = _parents(graph, units)
    announce = options.terminal.starting_spark
    with application(jobs, options.master, announce=announce) as spark, interrupts_of_project() as stop:
        runner = _Runner(spark, units, options, stop, test_job, runs)
        ended = run_in_order(
            tuple(units), parents, runner.run, workers=options.workers, keeps_going=options.keeps_going,
            is_stopped=lambda: stop.received is not None,
        )  # fmt: skip
        for name, status in ended:
            runs[name].status = status
            _show(runs[name], options.terminal)
        layout = layout_at(spark, options.state_dir)
        statuses = {name: run.status for run in runs.values() for name in run.jobs}
        record_state(layout, options.command, statuses, {name: graph.jobs[name] for name in statuses})
    return ProjectRun(tuple(runs.values()), stop.received)


def _parents(graph: JobGraph, units: Mapping[str, Unit]) -> dict[str, frozenset[str]]:
    """The units that each one needs, also by jobs that are not run."""
    selectable = graph.selectable()
    of_job = {job: name for name, unit in units.items() for job in unit.jobs}
    return {
        name: frozenset(of_job[job] for job in selectable.ancestors(unit.jobs) if job in of_job) - {name}
        for name, unit in units.items()
    }


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs one job, or one group, in a thread of its own."""

    spark: "SparkSession"
    units: Mapping[str, Unit]
    options: RunOptions
    stop: Interrupts
    test_job: TestJob | None
    runs: Mapping[str, JobRun]
    lock: Lock = field(default_factory=Lock)

    def run(self, name: str) -> bool:
        run, started = self.runs[name], monotonic()
        try:
            return self.tested(run) and self.ran(run)
        except PenstockError as error:
            run.diagnostics = error.diagnostics
            return False
        except InterruptedRun:
            return False
        except Exception as error:  # noqa: BLE001 (a bug in Penstock, of one job: the others have their own result)
            run.diagnostics = (unexpected_error(error, verbose=self.options.terminal.is_verbose),)
            return False
        finally:
            run.seconds = monotonic() - started

    def tested(self, run: JobRun) -> bool:
        if self.test_job is None:
            return True
        outcomes = [self.test_job(self.spark, job) for job in run.jobs]
        failed = sum(outcome[1] for outcome in outcomes)
        run.tests = (sum(outcome[0] for outcome in outcomes), failed)
        run.diagnostics = tuple(error for outcome in outcomes for error in outcome[2])
        return not failed

    def ran(self, run: JobRun) -> bool:
        names = list(self.units)
        run_id = run_ids(self.options.request.run_id, names, names)[names.index(run.name)]
        request = replace(self.options.request, run_id=run_id)
        compiled, attendant = self.units[run.name].compiled, StopsWithOthers(self.stop)
        if compiled.plan.env.interval is None:
            run.result = run_job(self.spark, compiled, request, attendant)
        else:
            run.result = run_intervals(
                self.spark, compiled, request, attendant,
                compile_again=self.options.compile_again, show=self.options.terminal.show_interval,
            )  # fmt: skip
        run.diagnostics = (*run.result.warnings, *run.result.diagnostics)
        return run.result.state is State.FINISHED


def _show(run: JobRun, terminal: RunTerminal) -> None:
    if not terminal.is_quiet:
        jobs = "" if run.jobs == (run.name,) else f": {', '.join(run.jobs)}"
        print(f"{run.status.value:<8} {run.name}{jobs} ({run.seconds:.1f} s)", file=sys.stderr, flush=True)
    terminal.report(run.diagnostics)
