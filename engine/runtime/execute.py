"""Run a job: check, stage the pipelines side by side, commit, count."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, Severity
from catalog.masks import Masks
from engine.compile import Compiled
from engine.plan.credentials import credentials_of
from engine.plan.nodes import Node, Plan
from engine.runtime.application import state_dir_of
from engine.runtime.incremental_targets import IncrementalReads, refuse_lost_targets, refuse_shared_watermarks
from engine.runtime.interrupts import InterruptedRun, Interrupts, interrupts
from engine.runtime.job_events import JobEvents, with_events
from engine.runtime.job_execution import JobExecution
from engine.runtime.results import JobResult, committed_before
from engine.spark.lower import Arrived
from engine.spark.streaming.batch_plans import BatchPlans
from engine.spark.writing.open_run import begin, refuse_unfinished
from engine.spark.writing.recover import end_earlier_attempt, recover
from engine.spark.writing.sink_checks import check
from engine.state import ledger
from engine.state.incremental_reads import JobFile, incremental_scans, reads_of
from engine.state.journal import journal_in
from engine.state.layout import StateLayout, layout_at
from engine.state.recorded_runs import uncommitted, unwritten
from engine.state.run_state import State
from engine.state.state_dir import unwritable
from engine.state.watermarks import HighWatermark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def new_run_id() -> str:
    """A new run id; run ids sort by time."""
    return f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def run_job(
    spark: "SparkSession",
    compiled: Compiled,
    run_id: str,
    state_dir: str | None = None,
    *,
    is_quiet: bool = False,
    is_verbose: bool = False,
    is_fresh: bool = False,
    received: Interrupts | None = None,
    is_full: bool = False,
) -> JobResult:
    """Run one job until it succeeds or fails; raises only errors that prevent its start, and `InterruptedRun`.

    `state_dir`: where the run is recorded; it overrides the job's setting. The job's listeners receive each state.
    `is_fresh`: the run id was made for this run, so that no target has rows of an earlier one. `received`: the signal
    that the main thread has received, for a run in another thread. `is_full`: incremental sources are read from the
    start.
    """
    run = partial(
        _run_job, spark, compiled, run_id, state_dir, is_quiet=is_quiet, is_verbose=is_verbose, is_fresh=is_fresh,
        shared=received, is_full=is_full,
    )  # fmt: skip
    return with_events(compiled.plan, run_id, run)


def _run_job(
    spark: "SparkSession",
    compiled: Compiled,
    run_id: str,
    state_dir: str | None,
    events: JobEvents,
    *,
    is_quiet: bool,
    is_verbose: bool,
    is_fresh: bool,
    shared: Interrupts | None,
    is_full: bool,
) -> JobResult:
    plan, started = compiled.plan, monotonic()
    state = state_dir_of(compiled, state_dir)
    layout = layout_at(spark, state)
    entry = ledger.RunRecord(run_id, plan.env.name, str(compiled.path), State.RUNNING, ledger.now())
    recovery_warnings = recover(spark, state, compiled.settings.credentials, job=plan.env.name)
    meant = compiled.meaning
    missing = uncommitted(spark, state, run_id, plan.writes, meant)
    if not missing:
        return replace(committed_before(plan, run_id), warnings=recovery_warnings)
    plan = replace(plan, writes=missing)
    incremental = _incremental(compiled, layout, run_id, is_full=is_full)
    refuse_unfinished(spark, state, incremental.keys)
    checks = check(spark, plan.writes, run_id, looks_for_rows=is_full)
    refuse_lost_targets(incremental, checks)
    sources = {key.path_in_state(layout): key.source for key in incremental.keys}
    try:
        run = begin(spark, checks, run_id, state, plan.env.name, incremental=sources, plan=meant, is_fresh=is_fresh)
    except OSError as error:
        raise unwritable(state, error) from error
    if run is None:  # another process has just finished it
        return replace(committed_before(plan, run_id), warnings=recovery_warnings)
    _record(layout, entry, plan.env.masks)
    try:
        with interrupts(shared) as received:
            try:
                execution = JobExecution(
                    spark,
                    plan,
                    run,
                    received,
                    started,
                    incremental=incremental,
                    events=events,
                    is_quiet=is_quiet,
                    is_verbose=is_verbose,
                )
                result = execution.result()
            except Exception as error:
                if received.received is None or isinstance(error, PenstockError):
                    raise
                raise InterruptedRun(received.received, is_clean=False) from error  # the signal ended Java as well
            warnings = (*recovery_warnings, *result.warnings)
            written = len(compiled.plan.writes) - len(missing)
            result = replace(result, warnings=warnings, interrupted_by=received.received, done=written)
    except BaseException as error:
        run.release()
        ended = State.CANCELED if isinstance(error, KeyboardInterrupt) else State.FAILED
        _record(layout, _ended(entry, ended, monotonic() - started, str(error), {}), plan.env.masks)
        raise
    run.release()
    messages = "; ".join(f"[{diagnostic.code}] {diagnostic.message}" for diagnostic in result.diagnostics)
    ended_run = _ended(entry, result.state, result.seconds, messages, result.counts)
    unrecorded = _record(layout, ended_run, plan.env.masks)
    return replace(result, warnings=(*result.warnings, *unrecorded))


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
    state: str,
    arrived: Mapping[Node, Arrived],
    *,
    plans: BatchPlans | None,
    is_fresh: bool,
) -> JobResult:
    """Stage and commit one micro-batch of a stream, as a run of its own that is in no ledger. Does nothing if it is
    committed already; raises what keeps it from starting. `is_fresh`: as for `begin`."""
    end_earlier_attempt(spark, state, run_id, credentials_of(plan))
    missing = unwritten(spark, state, run_id, plan.writes)
    if not missing:
        return committed_before(plan, run_id)
    plan, whole = replace(plan, writes=missing), plan
    run = begin(
        spark, check(spark, missing, run_id), run_id, state, plan.env.name, is_of_stream=True, is_fresh=is_fresh
    )
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
            is_quiet=True,
            arrived=arrived,
            plans=plans,
        ).result()
    finally:
        run.release()


def _record(layout: StateLayout, run: ledger.RunRecord, masks: Masks) -> tuple[Diagnostic, ...]:
    """Record how a run ended; returns a warning if that fails, since the run has ended anyway."""
    try:
        ledger.record(layout, run, masks)
    except OSError as error:
        message = f"the end of run `{run.run_id}` cannot be recorded in `{layout.root}`: {error.strerror or error}"
        return (Diagnostic("PEN5313", message, severity=Severity.WARNING),)
    return ()


def _ended(
    entry: ledger.RunRecord, state: State, seconds: float, error: str, counts: Mapping[str, object]
) -> ledger.RunRecord:
    return ledger.RunRecord(
        entry.run_id,
        entry.job,
        entry.file,
        state,
        entry.started,
        ledger.now(),
        round(seconds, 3),
        error or None,
        counts,
    )
