"""Commits a run: records the decision in its journal, then commits each sink."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, RunError, Severity, run_error
from connectors.interface.run_context import RunContext
from connectors.interface.sink_abilities import SupportsMaintenance
from connectors.interface.source_abilities import SupportsAcknowledgement
from engine.plan.building.write_nodes import replaces
from engine.plan.nodes import Write, below
from engine.spark.failures.environment_errors import unwritable
from engine.spark.failures.errors import SPARK_ERRORS, as_run_error, placed, reason
from engine.spark.writing.abort import CONNECTOR_ERRORS
from engine.spark.writing.commit_groups import (
    Pending,
    StagedWrite,
    begin_commit,
    cancel,
    commit_group,
    commit_groups,
    finishing_first,
)
from engine.spark.writing.open_run import OpenRun
from engine.state.incremental_reads import written_by
from engine.state.interval_ledger import DoneInterval, record_done, refuse_done_meanwhile
from engine.state.journal import RunOutcome
from engine.state.watermarks import HighWatermark, move, refuse_moved


def commit_all(
    spark: SparkSession,
    run: OpenRun,
    watermarks: Sequence[HighWatermark] = (),
    intervals: Sequence[DoneInterval] = (),
    *,
    stays_open: bool = False,
) -> tuple[Diagnostic, ...]:
    """Decide, then commit the staged writes in the order of the job; those never staged are left as they are.

    Commits that a target may refuse are started before the decision: if one is refused, nothing has changed and the
    caller aborts. They are finished first, since they hold locks. A failure after the decision leaves the journal open:
    the run is finished by `resume`. Returns warnings (PEN5014) of maintenance that failed when the run had ended.
    `watermarks` move when all is committed; raises PEN5305 if another run has moved one. So are `intervals` recorded as
    done, and PEN5420 raised if another run has done one meanwhile. `stays_open`: something else
    that is staged cannot be removed yet; the next run, or `resume`, removes it and ends this one.
    """
    writes = {check.write.id: check.write for check in run.checks if check.write.id in run.staged}
    staged = (StagedWrite(write_id, write.connector, run.places[write_id]) for write_id, write in writes.items())
    groups = tuple(commit_groups(staged))
    refuse_moved(run.journal.layout, watermarks)
    refuse_done_meanwhile(run.journal.layout, intervals)
    pending = _begin_commits(spark, run.context, groups, writes)
    try:
        run.journal.decide(watermarks, intervals)
    except OSError as error:
        cancel(pending)
        raise _unjournaled(run, error) from error
    for group in finishing_first(groups, pending):
        write = writes[group[0].write_id]
        try:
            commit_group(spark, group, run.context, run.journal.committed, pending)
        except SPARK_ERRORS as error:
            raise _unfinished(run.run_id, as_run_error(error, write)) from error
        except PenstockError as error:
            raise _unfinished(run.run_id, placed(error, write)) from error
        except OSError as error:
            raise _unfinished(run.run_id, unwritable(error, write)) from error
    _acknowledge(spark, run, writes.values())
    try:
        move(run.journal.layout, tuple(_with_new_targets(run, watermarks)))
        record_done(run.journal.layout, intervals)
        if not stays_open:
            run.journal.end(RunOutcome.FINISHED)
    except OSError as error:
        raise _unfinished(run.run_id, _unjournaled(run, error)) from error
    return tuple(_maintain(spark, run, writes.values()))


def _with_new_targets(run: OpenRun, watermarks: Iterable[HighWatermark]) -> Iterator[HighWatermark]:
    """The watermarks with what identifies the targets that this run has made."""
    made = {
        written_by(check.write): check
        for check in run.checks
        if watermarks and check.write.id in run.staged and not (check.state.exists or replaces(check.write))
    }
    for watermark in watermarks:
        check = made.get(watermark.key.written)
        if check is None:
            yield watermark
            continue
        try:
            state = check.write.connector.inspect(run.spark, run.tasks[check.write.id])
        except CONNECTOR_ERRORS:  # the next run records it
            yield watermark
        else:
            yield replace(watermark, incarnation=state.incarnation)


def _acknowledge(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> None:
    read = {node for write in writes for node in below(write)}
    for scan, position in run.positions.items():
        if scan not in read or not isinstance(scan.connector, SupportsAcknowledgement):
            continue
        try:
            scan.connector.acknowledge(spark, position, run.context)
            run.journal.acknowledged(scan.id)
        except SPARK_ERRORS as error:
            raise _unfinished(run.run_id, as_run_error(error, scan)) from error
        except PenstockError as error:
            raise _unfinished(run.run_id, error) from error


def _maintain(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> Iterator[Diagnostic]:
    for write in writes:
        if not isinstance(write.connector, SupportsMaintenance):
            continue
        try:
            write.connector.maintain(spark, run.places[write.id], run.context)
        except CONNECTOR_ERRORS as error:
            message = (
                f"the rows of `{write.name}` are committed, but the maintenance of its target failed: {reason(error)}"
            )
            yield Diagnostic("PEN5014", message, write.options.span("after_commit"), None, Severity.WARNING)


def _begin_commits(
    spark: SparkSession, run: RunContext, groups: Iterable[tuple[StagedWrite, ...]], writes: Mapping[str, Write]
) -> Pending:
    """Do the steps that targets may refuse, while the run can still be rolled back."""
    pending: Pending = {}
    for group in groups:
        try:
            begin_commit(spark, group, run, pending)
        except BaseException as error:
            cancel(pending)
            if isinstance(error, SPARK_ERRORS):
                raise as_run_error(error, writes[group[0].write_id]) from error
            if isinstance(error, PenstockError):
                raise placed(error, writes[group[0].write_id]) from error.__cause__
            raise
    return pending


def _unfinished(run_id: str, error: PenstockError) -> RunError:
    help = f"the run has begun to commit; finish it by `penstock run --resume {run_id}`"
    forgets = f"`penstock runs --forget {run_id}`"  # what cannot be finished names this alone
    return RunError([item if forgets in (item.help or "") else _with_help(item, help) for item in error.diagnostics])


def _with_help(diagnostic: Diagnostic, help: str) -> Diagnostic:
    """The remedy, and the diagnostic's own as a note."""
    own = (diagnostic.help,) if diagnostic.help else ()
    return replace(diagnostic, help=help, notes=(*diagnostic.notes, *own))


def _unjournaled(run: OpenRun, error: OSError) -> RunError:
    return run_error("PEN5313", f"the journal `{run.journal.folder}` cannot be written: {error.strerror or error}")
