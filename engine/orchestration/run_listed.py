"""Runs the listed jobs one after the other, in one Spark application that starts when the first job needs it."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, PenstockError, RunError
from catalog.diagnostics.unexpected_errors import unexpected_error
from engine.compile import Compiled
from engine.intervals.job_ledgers import CompileAgain
from engine.orchestration.run_intervals import nothing_due, run_intervals
from engine.plan.nodes import Plan, Scan
from engine.runtime.answer_early import answered
from engine.runtime.application import application, clean_up_cancelled, refuse_differing_settings
from engine.runtime.execute import run_job
from engine.runtime.interrupts import InterruptedRun
from engine.runtime.results import JobResult
from engine.runtime.run_request import RunRequest
from engine.runtime.streaming.run_stream import run_stream
from engine.state.file_names import run_ids
from engine.state.run_state import State
from engine.state.state_dir import check_writable
from engine.terminal.run_terminal import RunTerminal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_listed(
    jobs: Sequence[Compiled],
    request: RunRequest,
    terminal: RunTerminal,
    *,
    compile_again: CompileAgain,
    master: str | None = None,
    keeps_going: bool = False,
) -> int:
    """Run the jobs; returns the exit code. Of several jobs, each gets a run id of its own from that of the request.

    `compile_again`: the plan of a job as its sources are now, after the jobs before it; raises a `JobError`.
    """
    for state in dict.fromkeys(job.state_dir for job in jobs):
        terminal.report(check_writable(state))
    refuse_differing_settings(jobs)
    listed = _ListedJobs(jobs, request, terminal, compile_again, master, keeps_going)
    try:
        with listed.application:
            code = listed.run()
    except InterruptedRun as interrupt:
        code = listed.clean_up(interrupt)
    terminal.show_jobs([str(job.path) for job in jobs], listed.ended)
    return code


@dataclass(eq=False, slots=True)
class _ListedJobs:
    """The jobs while they are run. `running`: the last one begun, and its run id; `ended`: whether each succeeded, by
    its file."""

    jobs: Sequence[Compiled]
    request: RunRequest
    terminal: RunTerminal
    compile_again: CompileAgain
    master: str | None
    keeps_going: bool
    application: ExitStack = field(default_factory=ExitStack)
    spark: "SparkSession | None" = None
    used_master: str = ""
    running: tuple[Compiled, str] | None = None
    ended: dict[str, bool] = field(default_factory=dict)

    def run(self) -> int:
        """Run them in turn, unless one fails or a signal stops them; returns the exit code."""
        names, files = [job.plan.env.name for job in self.jobs], [job.path.as_posix() for job in self.jobs]
        for job, run_id in zip(self.jobs, run_ids(self.request.run_id, names, files), strict=True):
            self.running = job, run_id
            result = self._result(job, replace(self.request, run_id=run_id))
            self.ended[str(job.path)] = result is not None and result.state is State.FINISHED
            if result is not None and result.interrupted_by is not None and job is not self.jobs[-1]:
                return 128 + result.interrupted_by
            if not self.ended[str(job.path)] and not self.keeps_going:
                break
        return int(not all(self.ended.values()))

    def _result(self, job: Compiled, request: RunRequest) -> JobResult | None:
        """The result, shown; None for an error that other jobs do not wait for."""
        try:
            if self.ended:  # the jobs before may have changed the columns of what this one reads
                planned, job = job, self.compile_again(job)
                refuse_unforeseen(planned.built, job.built)
            result = self._early(job, request) if self.spark is None else None
            result = result or self._on_spark()(job, request)
        except PenstockError as error:
            if not self.keeps_going:
                raise
            self.terminal.report(error.diagnostics)
            return None
        except Exception as error:
            if not self.keeps_going:
                raise
            self.terminal.report((unexpected_error(error, verbose=self.terminal.is_verbose),))
            return None
        self.terminal.show_result(result)
        return result

    def _early(self, job: Compiled, request: RunRequest) -> JobResult | None:
        """The result, where it is known without Spark."""
        if job.plan.env.interval is not None:
            return nothing_due(job, request, self.compile_again)
        return answered(job, request.run_id)

    def _on_spark(self) -> Callable[[Compiled, RunRequest], JobResult]:
        """Runs a job on Spark, which is started first if it is not running."""
        if self.spark is None:
            spark = application(self.jobs, self.master, announce=self.terminal.starting_spark)
            self.spark = self.application.enter_context(spark)
            self.used_master = str(self.spark.sparkContext.master)
        return partial(_run, self.spark, self.terminal, self.compile_again)

    def clean_up(self, interrupt: InterruptedRun) -> int:
        """Remove what the interrupted run has left, once Spark has been stopped; returns the exit code."""
        left = "what it staged is removed"
        if not interrupt.is_clean and not self._rolls_back():
            left = "what it staged is removed by the next run, or by --resume"
        print(f"{interrupt}: the run was cancelled; {left}", file=sys.stderr)
        return interrupt.exit_code

    def _rolls_back(self) -> bool:
        if self.running is None:
            return False
        job, run_id = self.running
        return clean_up_cancelled(run_id, job.state_dir, self.used_master)


def refuse_unforeseen(planned: Plan, now: Plan) -> None:
    """Report PEN5262 where a source has other columns than the jobs before it were to leave, as `explain` shows."""
    diagnostics = Diagnostics()
    there = {node.written_name: node for node in now.nodes() if isinstance(node, Scan)}
    for scan in planned.nodes():
        if not (isinstance(scan, Scan) and scan.options.is_foreseen and scan.written_name in there):
            continue
        found = there[scan.written_name]
        wanted, columns = (
            {column.name.lower(): column.type for column in node.table.columns} for node in (scan, found)
        )
        if wanted != columns and not found.table.is_open:
            differing = [name for name in {**wanted, **columns} if wanted.get(name) != columns.get(name)]
            shown = "; ".join(f"`{name}` {columns.get(name, 'missing')}, not {wanted.get(name)}" for name in differing)
            message = f"`{scan.written_name}` is not what the jobs before it were to leave: {shown}"
            help = "run the job alone, to run it on what is there now"
            diagnostics.error("PEN5262", message, found.options.span(), help)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _run(
    spark: "SparkSession", terminal: RunTerminal, compile_again: CompileAgain, job: Compiled, request: RunRequest
) -> JobResult:
    if job.plan.env.interval is not None:
        return run_intervals(spark, job, request, terminal, compile_again=compile_again, show=terminal.show_interval)
    run = run_stream if job.plan.env.mode == "STREAMING" else run_job
    return run(spark, job, request, terminal)
