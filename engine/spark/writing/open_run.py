"""Opens a run: its journal, and the places where its writes will stage."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final, TypeAlias

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits import run_owner as owner
from connectors.commits.claiming import HeldClaim
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.shared.staged import Staged
from engine.plan.meaning.plan_record import PlanRecord
from engine.plan.nodes import Scan, Write
from engine.spark.writing.keep import Kept
from engine.spark.writing.run_contexts import context_of
from engine.spark.writing.sink_checks import SinkCheck, task_of
from engine.state.interval_ledger import DoneInterval
from engine.state.journal import Journal, Recorded, RunOutcome, journal_in, open_journals_in
from engine.state.layout import StateLayout
from engine.state.recorded_runs import claimed, refuse_held_targets, refuse_running, refuse_second_run
from engine.state.run_claims import mark_of, release
from engine.state.watermarks import HighWatermark, WatermarkKey

NO_WORKS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, eq=False, slots=True)
class EarlierAttempt:
    """What an earlier attempt of a run has recorded, and the claim of this process on the run."""

    journal: Journal
    recorded: Recorded
    claim: HeldClaim


Keeps: TypeAlias = Callable[[EarlierAttempt, Sequence[SinkCheck], Mapping[str, WriteTask]], Kept]
"""Takes over what an earlier attempt has staged, and removes the rest."""


@dataclass(eq=False)
class OpenRun:
    """A run that may write: what is staged so far, by write id; its targets were checked in the session `spark`.
    `meant`: what the job means; `kept`: what an earlier attempt has staged."""

    spark: SparkSession
    run_id: str
    context: RunContext
    claim: HeldClaim
    journal: Journal
    checks: tuple[SinkCheck, ...]
    tasks: Mapping[str, WriteTask]
    places: dict[str, Staged] = field(default_factory=dict)
    positions: dict[Scan, Staged] = field(default_factory=dict)
    staged: set[str] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)
    meant: PlanRecord | None = None
    kept: Kept = field(default_factory=Kept)

    def release(self) -> None:
        """Let other processes end the run, where it has not ended."""
        release(self.claim)


def begin(
    spark: SparkSession,
    checks: Sequence[SinkCheck],
    run_id: str,
    layout: StateLayout,
    job: str = "",
    *,
    incremental: Mapping[str, str] | None = None,
    plan: PlanRecord | None = None,
    works: Mapping[str, str] = NO_WORKS,
    written: Collection[str] = (),
    is_of_stream: bool = False,
    batch: int | None = None,
    is_fresh: bool = False,
    keeps: Keeps | None = None,
) -> OpenRun | None:
    """Claim the run and open its journal; None if this run id has already committed all these writes.

    Call `recover` before `check`, so that targets are seen as they are after recovery. `incremental`: the sources whose
    watermarks the run is to move. `plan`: what the job means, `works` what each write stands for, `written` those that
    targets have already. `is_of_stream`: a micro-batch (`batch`: its number), whose stream keeps other processes from
    running the job. `is_fresh`: no process has begun a run of this id before, nor one whose journal is lost. `keeps`:
    called where an earlier attempt has neither decided nor ended. Raises PEN5301 if a running process holds the run id,
    PEN5007 if one writes a target that the engine locks, PEN5005 if a target can never be one. The run is to be
    released at its end.
    """
    ids, mark = {check.write.id for check in checks}, mark_of(spark)
    if _is_finished(journal_in(layout, run_id).read(), ids):
        return None
    claim = claimed(journal_in(layout, run_id), mark)
    try:
        before = journal_in(layout, run_id)  # as it is now that no other process works on the run
        recorded = before.read()
        if _is_finished(recorded, ids):
            release(claim)
            return None
        _refuse_unended(recorded, run_id)
        writes = [check.write for check in checks]
        if not is_of_stream:
            refuse_second_run(layout, run_id, writes, job)
            layout.mark()
        log = before.of_epoch(claim.epoch)
        context = context_of(spark, run_id, claim)
        tasks = {
            write.id: replace(
                task_of(write, context, work=works.get(write.id, ""), batch=batch),
                scratch=log.staging(write.id),
                owner=mark,
                journal=log.uri,
                is_fresh=is_fresh and recorded is None,
                is_of_stream=is_of_stream,
            )
            for write in writes
        }
        kept = Kept()
        if keeps is not None and recorded is not None and recorded.outcome is None:
            kept = keeps(EarlierAttempt(before, recorded, claim), checks, tasks)
        places = _places(spark, checks, tasks, kept)
        work = next(iter(works.values()), "") if is_of_stream else ""
        _log_begin(log, mark, writes, recorded, job, written=written, incremental=incremental, plan=plan, work=work)
        try:
            refuse_held_targets(layout, run_id, writes)
        except RunError:
            log.end(RunOutcome.ROLLED_BACK)  # nothing is staged yet
            raise
        log.prepared(places)
        _record_kept(log, kept)
    except BaseException:
        release(claim)
        raise
    return OpenRun(
        spark, run_id, context, claim, log, tuple(checks), tasks, places,
        positions=dict(kept.positions), staged=set(kept.writes), meant=plan, kept=kept,
    )  # fmt: skip


def _refuse_unended(recorded: Recorded | None, run_id: str) -> None:
    """Another process has decided to commit the run, and has not ended it: PEN5011."""
    if recorded is None or not recorded.is_decided or recorded.outcome or owner.is_this_process(recorded.mark):
        return
    message = f"run `{run_id}` has begun to commit, and has not ended"
    raise run_error("PEN5011", message, None, ways_to_end(run_id))


def _places(
    spark: SparkSession, checks: Sequence[SinkCheck], tasks: Mapping[str, WriteTask], kept: Kept
) -> dict[str, Staged]:
    """Where each write is staged: where an earlier attempt has, or where its connector prepares a place."""
    found = {}
    for check in checks:
        id = check.write.id
        is_kept = id in kept.writes
        found[id] = (
            kept.writes[id].staged if is_kept else check.write.connector.prepare(spark, tasks[id], check.actions)
        )
    return found


def _log_begin(
    log: Journal,
    mark: Mapping[str, Value],
    writes: Sequence[Write],
    recorded: Recorded | None,
    job: str,
    *,
    written: Collection[str],
    incremental: Mapping[str, str] | None,
    plan: PlanRecord | None,
    work: str,
) -> None:
    """Begin the journal, with what earlier attempts of the run have done."""
    done = (recorded.done if recorded is not None else frozenset()) | frozenset(written)
    earlier = recorded.targets if recorded is not None else {}
    targets = {write_id: earlier[write_id] for write_id in sorted(done) if write_id in earlier}
    targets |= {write.id: write.target for write in writes}
    log.begin(
        mark,
        {write.id: write.connector.name for write in writes},
        job,
        done=done,
        incremental=incremental,
        targets=targets,
        is_claimed=True,
        plan=None if plan is None else plan.with_earlier(recorded.plan if recorded is not None else None, done),
        work=work,
    )


def _record_kept(log: Journal, kept: Kept) -> None:
    for scan, position in kept.positions.items():
        log.read_from(scan.id, scan.connector.name, position)
    for write_id, write in kept.writes.items():
        log.staged(write_id, write.staged)
        log.rests_on(write_id, write.basis)


def _is_finished(recorded: Recorded | None, ids: Collection[str]) -> bool:
    """Whether the run has committed all these writes."""
    return recorded is not None and recorded.outcome is RunOutcome.FINISHED and recorded.done.issuperset(ids)


def begin_stream(
    spark: SparkSession, layout: StateLayout, run_id: str, writes: Sequence[Write], job: str
) -> tuple[Journal, HeldClaim]:
    """The journal of a stream, which stages nothing itself: it shows others that the stream is running. Raises PEN5301
    where it is already. The claim is to be released at its end."""
    refuse_running(layout, run_id, writes, job)
    mark = mark_of(spark)
    claim = claimed(journal_in(layout, run_id), mark)
    try:
        log = journal_in(layout, run_id).of_epoch(claim.epoch)
        layout.mark()
        log.begin(mark, {write.id: write.connector.name for write in writes}, job, is_claimed=True)
    except BaseException:
        release(claim)
        raise
    return log, claim


def refuse_unfinished(
    layout: StateLayout, keys: Collection[WatermarkKey], intervals: Collection[DoneInterval] = ()
) -> None:
    """Raise PEN5303 where a run that reads these incremental sources has begun to commit and cannot be finished now:
    their watermarks are about to move, and the rows would be read again. The same of a run of these intervals: its
    rows would later replace newer ones."""
    for log in open_journals_in(layout) if keys or intervals else ():
        recorded = log.read()
        moving = recorded.watermarks if recorded is not None else ()
        doing = {(done.key, done.interval) for done in (recorded.intervals if recorded is not None else ())}
        if any((record.key, record.interval) in doing for record in intervals):
            message = f"run `{log.run_id}` has begun to commit the same interval, and is not finished"
            raise run_error("PEN5303", message, None, f"finish it by `penstock run --resume {log.run_id}`")
        sources = {key.source for key in keys}
        if any(move.key in keys if isinstance(move, HighWatermark) else move.node in sources for move in moving):
            message = f"run `{log.run_id}` has begun to commit what it read incrementally, and is not finished"
            raise run_error("PEN5303", message, None, f"finish it by `penstock run --resume {log.run_id}`")


def ways_to_end(run_id: str) -> str:
    return (
        f"`penstock run --resume {run_id}` finishes it; where it cannot, `penstock runs --forget {run_id}` dismisses "
        "it and leaves every target as it is"
    )
