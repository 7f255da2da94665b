"""Ends killed runs: a run that had decided to commit is finished, every other one is rolled back.

By `resume`, or by the next run with the same state directory."""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

from pyspark.sql import SparkSession

import connectors
from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError, RunError, Severity, run_error
from connectors.commits.claiming import HeldClaim, HeldError
from connectors.commits.run_owner import is_this_process
from connectors.interface.base import Connector
from connectors.interface.source_abilities import SupportsAcknowledgement
from connectors.shared.running_tasks import CANCEL_SECONDS, tag_of_run, wait_for_tasks
from connectors.shared.staged import Credentials
from engine.spark.failures.errors import SPARK_ERRORS, reason
from engine.spark.starting.jars import has_jar
from engine.spark.writing.commit_groups import (
    StagedWrite,
    commit_group,
    commit_groups,
)
from engine.spark.writing.open_run import ways_to_end
from engine.spark.writing.run_contexts import context_of
from engine.state.interval_ledger import record_done
from engine.state.journal import Journal, Recorded, RunOutcome, journal_in, open_journals_in
from engine.state.layout import StateLayout
from engine.state.recorded_runs import killed_runs, unreadable_runs
from engine.state.run_claims import claim_run, holder, is_abandoned, mark_of, release, still_running
from engine.state.watermarks import move

NO_CREDENTIALS: Final[Credentials] = {}
_CONTINUED_SECONDS: Final = 7 * 24 * 3600
"""How long other jobs leave a killed run alone that can be continued."""


def resume(
    spark: SparkSession | None, layout: StateLayout, run_id: str, credentials: Credentials = NO_CREDENTIALS
) -> RunOutcome:
    """End a killed run: finish it where it had decided to commit, else roll it back. `credentials`: those of the jobs
    of this session, since a journal has none.

    Raises PEN5008 if there is no such run or it has ended, PEN5302 if it is running, and a `RunError` with all that
    keeps it from being ended: completed steps stay completed.
    """
    log = journal_in(layout, run_id)
    recorded = log.read()
    if recorded is None:
        known = [log.run_id for log in open_journals_in(layout)]
        help = f"runs that can be resumed: {', '.join(known)}" if known else "no run can be resumed"
        raise run_error("PEN5008", f"no run `{run_id}` in `{layout.root}`", None, help)
    if recorded.outcome is not None:
        raise run_error("PEN5008", f"run `{run_id}` has ended: it was {recorded.outcome.value}")
    help = f"where that process is gone for certain, `penstock runs --forget {run_id}` dismisses the run"
    if not recorded.is_claimed and (mark := holder(log, recorded)) is not None:
        raise still_running("PEN5302", run_id, mark, help)
    try:
        return _end(spark, log, credentials)
    except HeldError as error:
        raise still_running("PEN5302", run_id, error.claim.owner, help) from error


def finish_decided(
    spark: SparkSession, layout: StateLayout, run_id: str, credentials: Credentials = NO_CREDENTIALS
) -> None:
    """Finish a run that is to be continued, where it had decided to commit; nothing if it has finished. Raises PEN5008
    and PEN5302 as `resume`."""
    recorded = journal_in(layout, run_id).read()
    if recorded is not None and recorded.outcome is RunOutcome.FINISHED:
        return
    if recorded is None or recorded.outcome is not None or recorded.is_decided:
        resume(spark, layout, run_id, credentials)


def abort_staged(
    spark: SparkSession,
    log: Journal,
    recorded: Recorded,
    claim: HeldClaim,
    credentials: Credentials,
    *,
    kept: Collection[str],
) -> None:
    """Remove what a run of which this process has the claim staged, but for the writes `kept`. Raises a `RunError` with
    what cannot be removed, or not yet (PEN5011)."""
    _refuse_running_tasks(spark, log, recorded)
    diagnostics, run = Diagnostics(), context_of(spark, log.run_id, claim)
    for write_id, name in recorded.writes.items():
        if recorded.has_place(write_id) and write_id not in kept:
            with _collected(diagnostics, log, name):
                write = _staged_write(log, recorded, write_id, credentials)
                write.sink.abort(spark, write.staged, run)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def roll_back(layout: StateLayout, run_id: str) -> bool:
    """Remove what a cancelled run of this process staged on this machine's disk, once Java and its tasks have ended.

    Returns False where that needs Spark: the run stays open.
    """
    log = journal_in(layout, run_id)
    recorded = log.read()
    if recorded is None or recorded.outcome is not None or recorded.is_decided:
        return False
    sinks = [connectors.sink(name) for name in recorded.writes.values()]
    if not all(sink is not None and sink.aborts_without_spark for sink in sinks):
        return False
    try:
        _end(None, log, NO_CREDENTIALS)
    except (PenstockError, HeldError, OSError, ValueError):  # ValueError: a staging directory elsewhere than here
        return False
    return True


def recover(
    spark: SparkSession,
    layout: StateLayout,
    credentials: Credentials = NO_CREDENTIALS,
    *,
    job: str | None = None,
    but: str | None = None,
) -> tuple[Diagnostic, ...]:
    """End all killed runs of this state directory whose connectors this session has; not the run `but`, and of other
    jobs than `job` none that `run --resume ID --continue` may go on with.

    Gives warnings of those that cannot be ended, or only by the user (PEN5010): they stay as they are, and keep no
    other run back. A run that another process is ending is left to it.
    """
    warnings = [warning for log, error in unreadable_runs(layout) for warning in _as_warnings(error, log.run_id, None)]
    for log, recorded in killed_runs(layout, job):
        if log.run_id == but or (job not in (None, recorded.job) and _may_continue(recorded)):
            continue
        if not _has_jars(spark, log, recorded):
            continue
        try:
            with suppress(HeldError):
                _end(spark, log, credentials)
        except RunError as error:
            warnings += _as_warnings(error, log.run_id, recorded.job)
        except (*SPARK_ERRORS, OSError) as error:
            message = f"run `{log.run_id}` cannot be ended: {reason(error)}"
            warnings += _as_warnings(run_error("PEN5011", message, None, ways_to_end(log.run_id)), log.run_id, None)
    return tuple(warnings)


def _may_continue(recorded: Recorded) -> bool:
    """Whether a killed run has staged what its user may still want, for some days."""
    age = time.time() - float(recorded.steps["begin"].get("at") or 0)
    return not recorded.is_decided and recorded.has_bases and age < _CONTINUED_SECONDS


def end_earlier_attempt(
    spark: SparkSession, layout: StateLayout, run_id: str, credentials: Credentials = NO_CREDENTIALS
) -> None:
    """End what an earlier attempt of a run has left open, before the run is begun again."""
    log = journal_in(layout, run_id)
    recorded = log.read()
    if recorded is not None and recorded.outcome is None and is_abandoned(log, recorded):
        with suppress(HeldError):  # another process does
            _end(spark, log, credentials)


def _as_warnings(error: RunError, run_id: str, job: str | None) -> list[Diagnostic]:
    of_job = "" if job is None else f" of the job `{job}`"
    note = f"run `{run_id}`{of_job} was killed, and stays as it is"
    return [
        replace(diagnostic, severity=Severity.WARNING, notes=(*diagnostic.notes, note))
        for diagnostic in error.diagnostics
    ]


def connectors_to_recover(layout: StateLayout) -> Mapping[Connector, tuple[str, ...]]:
    """The connectors of killed runs, and the jars with which a session can end them."""
    needed: dict[Connector, tuple[str, ...]] = {}
    for log, recorded in killed_runs(layout):
        for connector, jars in _needed_jars(log, recorded):
            needed[connector] = (*needed.get(connector, ()), *jars)
    return needed


def _needed_jars(log: Journal, recorded: Recorded) -> Iterator[tuple[Connector, tuple[str, ...]]]:
    """The installed connectors of a run, each with the jars that are needed to end its reads and writes."""
    for write_id, name in recorded.writes.items():
        sink = connectors.sink(name)
        if sink is None:
            continue
        jars = sink.maven
        if recorded.has_place(write_id):
            with suppress(RunError):  # unreadable steps are reported when the run is ended
                jars = sink.staged_jars(_staged_write(log, recorded, write_id, NO_CREDENTIALS).staged)
        yield sink, jars
    for name in recorded.unacknowledged.values() if recorded.is_decided else ():
        source = connectors.source(name)
        if source is not None:
            yield source, source.maven


def _end(spark: SparkSession | None, log: Journal, credentials: Credentials) -> RunOutcome:
    """Claim the run and end it, unless another process has. Raises `HeldError` while one works on it."""
    claim = claim_run(log, mark_of(spark))
    try:
        recorded = log.read()
        if recorded is None:
            return RunOutcome.ROLLED_BACK
        if spark is not None and recorded.outcome is None:
            _refuse_running_tasks(spark, log, recorded)
        return recorded.outcome or _end_claimed(spark, log, recorded, claim, credentials)
    finally:
        release(claim)


def _refuse_running_tasks(spark: SparkSession, log: Journal, recorded: Recorded) -> None:
    """Raise PEN5011 while tasks of a run of this application may still write what ending it would remove."""
    if is_this_process(recorded.mark) and not wait_for_tasks(spark, tag_of_run(log.run_id), CANCEL_SECONDS):
        message = f"tasks of run `{log.run_id}` have not ended, so that what it staged is not removed yet"
        help = f"the next run removes it, or `penstock run --resume {log.run_id}`"
        raise run_error("PEN5011", message, None, help)


def _end_claimed(
    spark: SparkSession | None, log: Journal, recorded: Recorded, claim: HeldClaim, credentials: Credentials
) -> RunOutcome:
    """End every write that can be ended; raises a `RunError` with the errors of the others, and leaves the run open."""
    diagnostics = Diagnostics()
    run = context_of(spark, log.run_id, claim)
    to_commit: list[StagedWrite] = []
    for write_id, name in recorded.writes.items():
        if recorded.has_place(write_id) and not recorded.is_committed(write_id):
            with _collected(diagnostics, log, name):
                write = _staged_write(log, recorded, write_id, credentials)
                if recorded.is_decided and recorded.is_staged(write_id):
                    to_commit.append(write)
                else:
                    write.sink.abort(spark, write.staged, run)  # type: ignore[arg-type]
    for group in commit_groups(to_commit):
        with _collected(diagnostics, log, group[0].sink.name):
            commit_group(spark, group, run, log.committed)
    for scan_id, name in recorded.unacknowledged.items() if recorded.is_decided else ():
        with _collected(diagnostics, log, name):
            source = connectors.source(name)
            if isinstance(source, SupportsAcknowledgement):
                position = recorded.position(scan_id, source.position_type).with_credentials(credentials)
                source.acknowledge(spark, position, run)
                log.acknowledged(scan_id)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    outcome = RunOutcome.FINISHED if recorded.is_decided else RunOutcome.ROLLED_BACK
    move(log.layout, recorded.watermarks)
    record_done(log.layout, recorded.intervals)
    log.end(outcome)
    return outcome


@contextmanager
def _collected(diagnostics: Diagnostics, log: Journal, name: str) -> Iterator[None]:
    """Collect the error of a write, so that the others are still ended."""
    try:
        yield
    except PenstockError as error:
        diagnostics.extend(error.diagnostics)
    except (*SPARK_ERRORS, OSError) as error:
        help = f"{ways_to_end(log.run_id)}; until then only some of its sinks may have the new rows"
        message = f"run `{log.run_id}`, which was interrupted, cannot be ended (`{name}`): {reason(error)}"
        diagnostics.error("PEN5312", message, None, help)


def _staged_write(log: Journal, recorded: Recorded, write_id: str, credentials: Credentials) -> StagedWrite:
    name = recorded.writes[write_id]
    sink = connectors.sink(name)
    if sink is None:
        raise run_error("PEN9003", f"run `{log.run_id}` wrote to `{name}`, a connector that is not installed")
    return StagedWrite(write_id, sink, recorded.place(write_id, sink.staged_type).with_credentials(credentials))


def _has_jars(spark: SparkSession, log: Journal, recorded: Recorded) -> bool:
    needed = dict(_needed_jars(log, recorded))
    is_installed = all(connectors.sink(name) is not None for name in recorded.writes.values())
    return is_installed and all(has_jar(spark, jar) for jars in needed.values() for jar in jars)
