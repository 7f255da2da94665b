"""Runs jobs of a project side by side in one Spark application, in dependency order."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError
from engine.compile import Compiled
from engine.project.job_graph import JobGraph
from engine.project.recorded_state import JobStatus, record_state
from engine.project.running.run_in_order import run_in_order
from engine.runtime.application import application, refuse_differing_settings, state_dir_of
from engine.runtime.execute import run_job
from engine.runtime.interrupts import InterruptedRun, Interrupts
from engine.runtime.results import JobResult
from engine.state.file_names import run_ids
from engine.state.layout import layout_at
from engine.state.run_state import State
from engine.state.state_dir import check_writable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a command runs jobs. `command`: the one that `penstock retry` repeats. `report`: shows diagnostics."""

    command: str
    run_id: str
    report: Callable[[Sequence[Diagnostic]], None]
    master: str | None = None
    state_dir: str | None = None
    is_quiet: bool = False
    is_verbose: bool = False
    is_fresh: bool = True
    keeps_going: bool = False
    workers: int = 4
    is_full: bool = False


@dataclass(slots=True)
class JobRun:
    """A job of a command as it ended. `seconds`: with its tests."""

    name: str
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


def run_project(
    graph: JobGraph, compiled: Mapping[str, Compiled], options: RunOptions, test_job: TestJob | None = None
) -> ProjectRun:
    """Run the jobs, in an order in which each comes after those that it needs; `compiled` has that order.

    With `test_job`, the tests of a job run before it, and it is not run if one of them fails.
    """
    jobs = tuple(compiled.values())
    for state in dict.fromkeys(state_dir_of(job, options.state_dir) for job in jobs):
        check_writable(state)
    refuse_differing_settings(jobs)
    runs = {name: JobRun(name) for name in compiled}
    selectable = graph.selectable()
    parents = {name: selectable.ancestors([name]) for name in compiled}
    with application(jobs, options.master, options.state_dir, is_quiet=options.is_quiet) as spark, _signals() as stop:
        runner = _Runner(spark, compiled, options, stop, test_job, runs)
        ended = run_in_order(
            tuple(compiled), parents, runner.run, workers=options.workers, keeps_going=options.keeps_going,
            is_stopped=lambda: stop.received is not None,
        )  # fmt: skip
        for name, status in ended:
            runs[name].status = status
            _show(runs[name], options)
        layout = layout_at(spark, options.state_dir or graph.project.state_dir)
        statuses = {name: run.status for name, run in runs.items()}
        record_state(layout, options.command, statuses, {name: graph.jobs[name] for name in compiled})
    return ProjectRun(tuple(runs.values()), stop.received)


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs one job in a thread of its own."""

    spark: "SparkSession"
    compiled: Mapping[str, Compiled]
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
        finally:
            run.seconds = monotonic() - started

    def tested(self, run: JobRun) -> bool:
        if self.test_job is None:
            return True
        passed, failed, run.diagnostics = self.test_job(self.spark, run.name)
        run.tests = (passed, failed)
        return not failed

    def ran(self, run: JobRun) -> bool:
        names = list(self.compiled)
        run_id = run_ids(self.options.run_id, names, names)[names.index(run.name)]
        run.result = run_job(
            self.spark, self.compiled[run.name], run_id, self.options.state_dir, is_quiet=True,
            is_verbose=self.options.is_verbose, is_fresh=self.options.is_fresh, received=self.stop,
            is_full=self.options.is_full,
        )  # fmt: skip
        run.diagnostics = (*run.result.warnings, *run.result.diagnostics)
        return run.result.state is State.FINISHED


def _show(run: JobRun, options: RunOptions) -> None:
    if not options.is_quiet:
        print(f"{run.status.value:<8} {run.name} ({run.seconds:.1f} s)", file=sys.stderr, flush=True)
    if run.diagnostics:
        options.report(run.diagnostics)


@contextmanager
def _signals() -> Iterator[Interrupts]:
    """Ctrl-C and SIGTERM: no further job starts, and the running ones stop before they commit."""
    received = Interrupts()

    def handle(number: int, _: FrameType | None) -> None:
        received.received = received.received or number
        print("stopping: running jobs stop before they commit", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
