"""Run a job: check, stage the pipelines side by side, commit, count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, Severity
from catalog.masks import Masks
from connectors.commits.marks import refuse_other_work, work_of
from connectors.interface.sink import WriteTask
from connectors.storage.filesystem import files_at
from engine.compile import Compiled
from engine.plan.credentials import credentials_of
from engine.plan.nodes import Node, Plan
from engine.runtime.attendant import Attendant, Unattended
from engine.runtime.counting.prometheus import batch_metrics
from engine.runtime.incremental_targets import IncrementalReads, is_first, refuse_lost_targets, refuse_shared_watermarks
from engine.runtime.interrupts import InterruptedRun, Interrupts
from engine.runtime.interval_targets import refuse_lost_intervals
from engine.runtime.job_events import JobEvents, with_events
from engine.runtime.job_execution import JobExecution
from engine.runtime.results import JobResult, committed_before
from engine.runtime.run_request import RunRequest
from engine.spark.failures.lost_java import exit_of_java, lost_java
from engine.spark.lower import Arrived
from engine.spark.streaming.batch_plans import BatchPlans
from engine.spark.writing.keep import Continued, Kept, keep, position_of
from engine.spark.writing.marks import refuse_lost, written_before
from engine.spark.writing.open_run import EarlierAttempt, Keeps, OpenRun, begin, refuse_unfinished
from engine.spark.writing.recover import abort_staged, end_earlier_attempt, finish_decided, recover
from engine.spark.writing.sink_checks import SinkCheck, check
from engine.state import ledger
from engine.state.incremental_reads import JobFile, incremental_scans, reads_of
from engine.state.interval_ledger import DoneInterval
from engine.state.interval_ledger import begun as with_replaced
from engine.state.journal import journal_in
from engine.state.layout import StateLayout, layout_at
from engine.state.recorded_runs import committed_as, uncommitted, unwritten
from engine.state.run_state import State
from engine.state.state_dir import unwritable
from engine.state.watermarks import HighWatermark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_job(
    spark: "SparkSession", compiled: Compiled, request: RunRequest, attendant: Attendant | None = None
) -> JobResult:
    """Run one job until it succeeds or fails; raises only errors that prevent its start, and `InterruptedRun`. The
    job's listeners receive each state."""
    run = partial(_run_job, spark, compiled, request, attendant or Unattended())
    return with_events(compiled.plan, request.run_id, run)


def _run_job(
    spark: "SparkSession", compiled: Compiled, request: RunRequest, attendant: Attendant, events: JobEvents
) -> JobResult:
    started, layout = monotonic(), layout_at(spark, compiled.state_dir)
    continued = request.run_id if request.continues else None
    recovery_warnings = end_killed_runs(spark, compiled, layout, but=continued)
    if continued is not None:
        finish_decided(spark, layout, continued, compiled.settings.credentials)
    begun = _begin(spark, compiled, request, layout)
    if begun is None:
        return replace(committed_before(compiled.plan, request.run_id), warnings=recovery_warnings)
    record = _LedgerRecord.of(compiled, request.run_id, layout, started)
    record.write(begins=True)
    try:
        result = _executed(spark, begun, attendant, events, started)
    except BaseException as error:
        record.failed(error)
        raise
    written = len(compiled.plan.writes) - len(begun.plan.writes)
    result = replace(result, done=written, warnings=(*recovery_warnings, *result.warnings))
    warned = (*record.ended(result), *_write_metrics(spark, compiled.plan, result), *_pruned(compiled, layout))
    return replace(result, warnings=(*result.warnings, *warned))


def _write_metrics(spark: "SparkSession", plan: Plan, result: JobResult) -> tuple[Diagnostic, ...]:
    """Write the job's `metrics_file`; a warning if that fails, since the run has ended."""
    path = plan.env.options.get("metrics_file") if plan.env.options else None
    try:
        if path:
            files, place = files_at(spark, str(path))
            labels = {"job": result.job, "run": result.run_id}
            finished = result.state is State.FINISHED
            files.write(place, batch_metrics(labels, result.counts, finished=finished, seconds=result.seconds))
    except OSError as error:
        message = f"the metrics cannot be written to `{path}`: {error.strerror or error}"
        return (Diagnostic("PEN5054", message, severity=Severity.WARNING),)
    return ()


def end_killed_runs(
    spark: "SparkSession", compiled: Compiled, layout: StateLayout, *, but: str | None = None
) -> tuple[Diagnostic, ...]:
    """End the runs whose processes are gone, as each run does first, but for one; returns warnings of those that cannot
    be ended."""
    return recover(spark, layout, compiled.settings.credentials, job=compiled.plan.env.name, but=but)


def _pruned(compiled: Compiled, layout: StateLayout) -> tuple[Diagnostic, ...]:
    """Remove the records of old runs, where the job says how long they are kept."""
    keep = compiled.plan.env.keep_runs
    try:
        if keep is not None:
            ledger.prune(layout, keep)
    except OSError as error:
        message = f"old runs in `{layout.root}` cannot be removed: {error.strerror or error}"
        return (Diagnostic("PEN5313", message, severity=Severity.WARNING),)
    return ()


@dataclass(frozen=True, eq=False, slots=True)
class _BegunRun:
    """`plan`: with the writes that no earlier run of this id has committed."""

    plan: Plan
    run: OpenRun
    incremental: IncrementalReads
    intervals: Mapping[str, tuple[DoneInterval, ...]]


def _begin(spark: "SparkSession", compiled: Compiled, request: RunRequest, layout: StateLayout) -> _BegunRun | None:
    """Check the targets and open the run; None if all its writes are committed already."""
    run_id, meant = request.run_id, compiled.meaning
    missing = uncommitted(layout, run_id, compiled.plan.writes, meant)
    recorded = journal_in(layout, run_id).read()
    if recorded is not None and recorded.done:
        refuse_lost(spark, compiled.plan.writes, run_id, recorded, committed_as(recorded, meant))
    if not missing:
        return None
    incremental = _incremental(compiled, layout, run_id, is_full=request.is_full)
    intervals = {write: with_replaced(records, layout) for write, records in request.intervals.items()}
    refuse_unfinished(layout, incremental.keys, tuple(chain.from_iterable(intervals.values())))
    checks = check(spark, missing, run_id, looks_for_rows=request.is_full or is_first(incremental))
    refuse_lost_targets(layout, incremental, checks)
    refuse_lost_intervals(layout, intervals, checks)
    works = {write_id: work_of(write.fingerprint) for write_id, write in meant.writes.items()}
    written = frozenset() if request.is_fresh else written_before(spark, checks, run_id, works)
    checks = tuple(check for check in checks if check.write.id not in written)
    if not checks:
        return None
    plan = replace(compiled.plan, writes=tuple(write for write in missing if write.id not in written))
    sources = {key.path_in_state(layout): key.source for key in incremental.keys}
    try:
        run = begin(
            spark, checks, run_id, layout, plan.env.name, incremental=sources, plan=meant, works=works, written=written,
            is_fresh=request.is_fresh, keeps=_keeps(spark, compiled, plan, incremental) if request.continues else None,
        )  # fmt: skip
    except OSError as error:
        raise unwritable(layout.root, error) from error
    if run is None:  # another process has just finished it
        return None
    return _BegunRun(plan, run, incremental, intervals)


def _keeps(spark: "SparkSession", compiled: Compiled, plan: Plan, incremental: IncrementalReads) -> Keeps:
    credentials = compiled.settings.credentials
    position = partial(position_of, spark, starts=incremental.starts)
    continued = Continued(plan, compiled.meaning, position, credentials)

    def keeps(earlier: EarlierAttempt, checks: Sequence[SinkCheck], tasks: Mapping[str, WriteTask]) -> Kept:
        recorded = earlier.recorded
        kept = keep(spark, earlier.journal, recorded, continued, checks=checks, tasks=tasks)
        abort_staged(spark, earlier.journal, recorded, earlier.claim, credentials, kept=kept.writes)
        return kept

    return keeps


def _executed(
    spark: "SparkSession", begun: _BegunRun, attendant: Attendant, events: JobEvents, started: float
) -> JobResult:
    try:
        with attendant.interrupts() as received:
            execution = JobExecution(
                spark, begun.plan, begun.run, received, started,
                incremental=begun.incremental, intervals=begun.intervals, events=events,
                progress=partial(attendant.progress, spark),
            )  # fmt: skip
            try:
                result = execution.result()
                lost = next((error for error in result.errors if exit_of_java(error) is not None), None)
                if lost is not None:
                    raise lost
            except Exception as error:
                if received.received is None and (code := exit_of_java(error)) is not None:
                    raise lost_java(
                        code,
                        run_id=begun.run.run_id,
                        is_decided=begun.run.journal.is_decided,
                        nodes=begun.plan.nodes(),
                    ) from error
                if received.received is None or isinstance(error, PenstockError):
                    raise
                raise InterruptedRun(received.received, is_clean=False) from error  # the signal ended Java as well
            return replace(result, interrupted_by=received.received)
    finally:
        begun.run.release()


def _incremental(compiled: Compiled, layout: StateLayout, run_id: str, *, is_full: bool) -> IncrementalReads:
    """Where the job's incremental sources begin; raises where that is not known without losing or repeating rows."""
    if not incremental_scans(compiled.plan):
        return IncrementalReads()
    recorded = journal_in(layout, run_id).read()
    decided = recorded.watermarks if recorded is not None and recorded.done else ()
    own = (watermark for watermark in decided if isinstance(watermark, HighWatermark))
    job = JobFile.of(compiled.plan.env.name, compiled.path)
    reads = reads_of(compiled.plan, layout, job, run_id=run_id, decided=own, is_full=is_full)
    incremental = IncrementalReads(reads, is_full)
    refuse_shared_watermarks(compiled, incremental)
    return incremental


def run_batch(
    spark: "SparkSession",
    plan: Plan,
    run_id: str,
    layout: StateLayout,
    arrived: Mapping[Node, Arrived],
    *,
    plans: BatchPlans | None,
    is_fresh: bool,
    work: str,
    batch: int | None = None,
) -> JobResult:
    """Stage and commit one micro-batch of a stream, as a run of its own that is in no ledger. Does nothing if it is
    committed already; raises what keeps it from starting. `is_fresh`: as for `begin`; `work`: what its rows are;
    `batch`: its number, None for what a stream without any rows does."""
    end_earlier_attempt(spark, layout, run_id, credentials_of(plan))
    recorded = journal_in(layout, run_id).read()
    if recorded is not None and recorded.done:
        refuse_other_work(run_id, layout.root, recorded.work, work)
    missing = unwritten(layout, run_id, plan.writes)
    if not missing:
        return committed_before(plan, run_id)
    whole, works = plan, {write.id: work for write in missing}
    checks = check(spark, missing, run_id)
    written = frozenset() if is_fresh else written_before(spark, checks, run_id, works, batch=batch)
    checks = tuple(check for check in checks if check.write.id not in written)
    if not checks:
        return committed_before(whole, run_id)
    plan = replace(plan, writes=tuple(check.write for check in checks))
    run = begin(
        spark, checks, run_id, layout, plan.env.name, works=works, written=written, is_of_stream=True, batch=batch,
        is_fresh=is_fresh,
    )  # fmt: skip
    if run is None:
        return committed_before(whole, run_id)
    events = JobEvents(replace(plan, env=replace(plan.env, listeners=())), run_id)  # they hear of the stream only
    try:
        return JobExecution(
            spark,
            plan,
            run,
            Interrupts(),
            monotonic(),
            incremental=IncrementalReads(),
            events=events,
            progress=partial(Unattended().progress, spark),
            arrived=arrived,
            plans=plans,
        ).result()
    finally:
        run.release()


@dataclass(frozen=True, eq=False, slots=True)
class _LedgerRecord:
    """The record of a run in the ledger, while it runs and when it has ended."""

    layout: StateLayout
    masks: Masks
    run: ledger.RunRecord
    started: float

    @classmethod
    def of(cls, compiled: Compiled, run_id: str, layout: StateLayout, started: float) -> "_LedgerRecord":
        env = compiled.plan.env
        run = ledger.RunRecord(run_id, env.name, str(compiled.path), State.RUNNING, ledger.now())
        return cls(layout, env.masks, run, started)

    def write(self, *, begins: bool = False) -> tuple[Diagnostic, ...]:
        """Write the record; returns a warning if that fails, since the run goes on, or has ended anyway."""
        try:
            (ledger.begin if begins else ledger.record)(self.layout, self.run, self.masks)
        except OSError as error:
            message = f"run `{self.run.run_id}` cannot be recorded in `{self.layout.root}`: {error.strerror or error}"
            return (Diagnostic("PEN5313", message, severity=Severity.WARNING),)
        return ()

    def failed(self, error: BaseException) -> None:
        state = State.CANCELED if isinstance(error, KeyboardInterrupt) else State.FAILED
        self._with_end(state, monotonic() - self.started, str(error), {}).write()

    def ended(self, result: JobResult) -> tuple[Diagnostic, ...]:
        messages = "; ".join(f"[{diagnostic.code}] {diagnostic.message}" for diagnostic in result.diagnostics)
        return self._with_end(result.state, result.seconds, messages, result.counts).write()

    def _with_end(self, state: State, seconds: float, error: str, counts: Mapping[str, object]) -> "_LedgerRecord":
        seconds = round(seconds, 3)
        end = replace(self.run, state=state, ended=ledger.now(), seconds=seconds, error=error or None, counts=counts)
        return replace(self, run=end)
