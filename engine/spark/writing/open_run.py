"""Opens a run: its journal, and the places where its writes will stage."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Lock
from typing import Any

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import RunError, run_error
from connectors.commits import run_owner as owner
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.shared.staged import Staged
from engine.plan.nodes import Scan, Write
from engine.spark.writing.run_contexts import context_of
from engine.spark.writing.sink_checks import SinkCheck, task_of
from engine.state.journal import Journal, RunOutcome, journal, open_journals
from engine.state.recorded_runs import refuse_held_targets, refuse_run_id, refuse_running, refuse_second_run


@dataclass(eq=False)
class OpenRun:
    """A run that may write: what is staged so far, by write id; its targets were checked in the session `spark`."""

    spark: SparkSession
    run_id: str
    context: RunContext
    journal: Journal
    checks: tuple[SinkCheck, ...]
    tasks: Mapping[str, WriteTask]
    places: dict[str, Staged] = field(default_factory=dict)
    positions: dict[Scan, Staged] = field(default_factory=dict)
    staged: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)


def begin(
    spark: SparkSession,
    checks: Sequence[SinkCheck],
    run_id: str,
    state: str,
    job: str = "",
    *,
    incremental: Collection[str] = (),
    is_of_stream: bool = False,
    is_fresh: bool = False,
) -> OpenRun | None:
    """Open the run's journal; None if this run id has already committed all these writes.

    `state` is the state directory (any Hadoop path). Call `recover` before `check`, so that targets are seen as they
    will stand. `incremental`: the sources whose watermarks the run is to move. `is_of_stream`: a micro-batch,
    whose stream keeps other processes from running the job. `is_fresh`: no process has begun a run of this id before,
    nor one whose journal is lost. Raises PEN5301 if a running process holds the
    run id, PEN5007 if one writes a target that the engine locks,
    PEN5005 if a target can never be one.
    """
    log = journal(spark, state, run_id)
    recorded = log.read()
    done = recorded.done if recorded is not None else frozenset()
    if recorded is not None and recorded.outcome is RunOutcome.FINISHED and all(c.write.id in done for c in checks):
        return None
    refuse_run_id(run_id, recorded)
    if recorded is not None and recorded.is_decided and not (recorded.outcome or owner.is_this_process(recorded.mark)):
        raise run_error("PEN5011", f"run `{run_id}` has begun to commit, and has not ended", None, ways_to_end(run_id))
    if not is_of_stream:
        refuse_second_run(spark, state, run_id, [check.write for check in checks], job)
        log.layout.mark()
    mark = owner.with_jvm(owner.this_process(), _jvm_pid(spark))
    fresh = is_fresh and recorded is None
    context = context_of(spark, run_id)
    tasks = {
        check.write.id: replace(
            task_of(check.write, context),
            scratch=log.paths.staging(check.write.id),
            owner=mark,
            journal=log.uri,
            is_fresh=fresh,
        )
        for check in checks
    }
    places = {
        check.write.id: check.write.connector.prepare(spark, tasks[check.write.id], check.actions) for check in checks
    }
    before = recorded.targets if recorded is not None else {}
    targets = {write_id: before[write_id] for write_id in sorted(done) if write_id in before}
    targets |= {check.write.id: check.write.target for check in checks}
    writes = {check.write.id: check.write.connector.name for check in checks}
    log.begin(mark, writes, job, done=done, incremental=incremental, targets=targets)
    try:
        refuse_held_targets(spark, state, run_id, [check.write for check in checks])
    except RunError:
        log.end(RunOutcome.ROLLED_BACK)  # nothing is staged yet
        raise
    log.prepared(places)
    return OpenRun(spark, run_id, context, log, tuple(checks), tasks, places)


def begin_stream(spark: SparkSession, state: str, run_id: str, writes: Sequence[Write], job: str) -> Journal:
    """The journal of a stream, which stages nothing itself: it shows others that the stream is running. Raises PEN5301
    where it is already."""
    refuse_running(spark, state, run_id, writes, job)
    log = journal(spark, state, run_id)
    log.layout.mark()
    mark = owner.with_jvm(owner.this_process(), _jvm_pid(spark))
    log.begin(mark, {write.id: write.connector.name for write in writes}, job)
    return log


def refuse_unfinished(spark: SparkSession, state: str, job: str, nodes: Collection[str]) -> None:
    """Raise PEN5303 where a run that reads these incremental sources has begun to commit and cannot be finished now:
    their watermarks are about to move, and the rows would be read again."""
    for log in open_journals(spark, state) if nodes else ():
        recorded = log.read()
        moving = {watermark.node for watermark in recorded.watermarks} if recorded else set()
        if recorded and recorded.job == job and not moving.isdisjoint(nodes):
            message = f"run `{log.run_id}` has begun to commit what it read incrementally, and is not finished"
            raise run_error("PEN5303", message, None, f"finish it by `penstock run --resume {log.run_id}`")


def ways_to_end(run_id: str) -> str:
    return (
        f"`penstock run --resume {run_id}` finishes it; where it cannot, `penstock runs --forget {run_id}` dismisses "
        "it and leaves every target as it is"
    )


def _jvm_pid(spark: SparkSession) -> int:
    return _pid(spark.sparkContext._jvm)


@cache
def _pid(jvm: Any) -> int:
    return int(jvm.java.lang.ProcessHandle.current().pid())
