"""Runs the intervals of a job that are due, in order or side by side."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from threading import Lock
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError
from engine.compile import Compiled
from engine.intervals.due_intervals import DueRun, due_runs
from engine.intervals.job_ledgers import (
    CompileAgain,
    JobLedgers,
    job_ledgers,
    refuse_incremental,
    refuse_other_ledgers,
    spec_of,
)
from engine.intervals.shown_intervals import stale_warnings
from engine.orchestration.run_in_order import run_in_order
from engine.runtime.attendant import Attendant, StopsWithOthers
from engine.runtime.execute import end_killed_runs, run_job
from engine.runtime.interrupts import InterruptedRun, Interrupts
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest
from engine.state.layout import layout_at, local_layout
from engine.state.recorded_runs import killed_runs
from engine.state.run_state import State
from engine.terminal.signals import interrupts_of_project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ShowRun = Callable[[str, JobResult], None]
"""Shows the result of one run, by the label of its intervals."""


def run_intervals(
    spark: "SparkSession",
    compiled: Compiled,
    request: RunRequest,
    attendant: Attendant,
    *,
    compile_again: CompileAgain,
    show: ShowRun,
) -> JobResult:
    """Do the intervals of a job that are missing, that may have got late rows, or that `request.range` names.

    The result is that of all runs together. A failed run stops those after it; the intervals before it are done.
    """
    refuse_incremental(compiled)
    layout, instant = layout_at(spark, compiled.state_dir), datetime.now(timezone.utc)
    warnings = end_killed_runs(spark, compiled, layout)
    ledgers, spec = job_ledgers(compiled, layout, compile_again), spec_of(compiled)
    if not request.range.is_again:
        refuse_other_ledgers(compiled, layout, ledgers)
    due = _due(compiled, request, ledgers, instant)
    runner = _Runner(spark, compiled, request, attendant, compile_again, show, ledgers, spec.floor(instant))
    first = 1 if spec.concurrency > 1 and not ledgers.done() else 0  # it makes the target, which two runs cannot
    results = runner.in_order(due if spec.concurrency == 1 else due[:first])
    is_going_on = all(result.state is State.FINISHED and result.interrupted_by is None for result in results)
    if spec.concurrency > 1 and is_going_on:
        results += runner.side_by_side(due[first:])
    return _together(compiled, request, results, (*warnings, *stale_warnings(ledgers)))


def nothing_due(compiled: Compiled, request: RunRequest, compile_again: CompileAgain) -> JobResult | None:
    """The result of a job of which no interval is due; None if Spark is needed, as for a state directory elsewhere than
    on this disk, and to end killed runs. Changes nothing."""
    layout = local_layout(compiled.state_dir)
    if layout is None or any(True for _ in killed_runs(layout)):
        return None
    ledgers = job_ledgers(compiled, layout, compile_again)
    if _due(compiled, request, ledgers, datetime.now(timezone.utc)):
        return None
    return _together(compiled, request, (), tuple(stale_warnings(ledgers)))


def _due(compiled: Compiled, request: RunRequest, ledgers: JobLedgers, instant: datetime) -> tuple[DueRun, ...]:
    wanted = replace(request.range, is_again=request.range.is_again or request.is_full)
    return due_runs(spec_of(compiled), ledgers.done(), wanted, instant)


@dataclass(frozen=True, eq=False, slots=True)
class _Runner:
    """Runs of one job; `known`: the end of the last interval that is over."""

    spark: "SparkSession"
    compiled: Compiled
    request: RunRequest
    attendant: Attendant
    compile_again: CompileAgain
    show: ShowRun
    ledgers: JobLedgers
    known: datetime
    lock: Lock = field(default_factory=Lock)

    def in_order(self, due: Iterable[DueRun]) -> tuple[JobResult, ...]:
        results: list[JobResult] = []
        for run in due:
            result = self.run(run, self.attendant)
            results.append(result)
            if result.state is not State.FINISHED or result.interrupted_by is not None:
                break
        return tuple(results)

    def side_by_side(self, due: Sequence[DueRun]) -> tuple[JobResult, ...]:
        """The results, in the order of the intervals; raises the first error of those that could not start."""
        by_label = {self.ledgers.spec.label(run.window): run for run in due}
        results: dict[str, JobResult] = {}
        errors: list[PenstockError] = []

        def run(label: str, attendant: Attendant) -> bool:
            try:
                results[label] = self.run(by_label[label], attendant)
            except PenstockError as error:
                errors.append(error)
                return False
            except InterruptedRun:
                return False
            return results[label].state is State.FINISHED

        with self.attendant_of_threads() as (attendant, stop):
            ended = run_in_order(
                tuple(by_label), dict.fromkeys(by_label, frozenset()), lambda label: run(label, attendant),
                workers=self.ledgers.spec.concurrency, keeps_going=False,
                is_stopped=lambda: stop.received is not None,
            )  # fmt: skip
            for _ in ended:
                pass
            if stop.received is not None:
                raise InterruptedRun(stop.received)
        if errors:
            raise errors[0]
        return tuple(results[label] for label in by_label if label in results)

    @contextmanager
    def attendant_of_threads(self) -> Iterator[tuple[Attendant, Interrupts]]:
        """Attends runs in threads of their own, which stop together."""
        if isinstance(self.attendant, StopsWithOthers):  # of a project, which stops all its jobs
            yield self.attendant, self.attendant.stop
            return
        with interrupts_of_project() as stop:
            yield StopsWithOthers(stop), stop

    def run(self, run: DueRun, attendant: Attendant) -> JobResult:
        label = self.ledgers.spec.label(run.window)
        settings = replace(self.compiled.settings, interval=run.window)
        with self.lock:  # compiling is not made for threads of one job
            compiled = self.compile_again(replace(self.compiled, settings=settings))
        run_id = f"{self.request.run_id}:{label}"
        records = self.ledgers.records(run, run_id, self.known)
        request = replace(self.request, run_id=run_id, is_full=False, intervals=records)
        result = run_job(self.spark, compiled, request, attendant)
        self.show(label, result)
        return result


def _together(
    compiled: Compiled, request: RunRequest, results: Sequence[JobResult], warnings: Sequence[Diagnostic]
) -> JobResult:
    failed = [result for result in results if result.state is not State.FINISHED]
    return JobResult(
        compiled.plan.env.name,
        request.run_id,
        State.FAILED if failed else State.FINISHED,
        sum(result.seconds for result in results),
        tuple(pipeline for result in results for pipeline in result.pipelines),
        tuple(item for result in results for item in result.diagnostics),
        (*warnings, *(item for result in results for item in result.warnings)),
        tuple(error for result in results for error in result.errors),
        next((result.interrupted_by for result in results if result.interrupted_by is not None), None),
        intervals=len(results),
    )
