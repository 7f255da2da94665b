"""Removes what a run has staged; its targets are unchanged."""

from collections.abc import Iterable

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, Severity
from engine.plan.nodes import Write
from engine.spark.failures.errors import SPARK_ERRORS, reason
from engine.spark.writing.open_run import OpenRun
from engine.state.journal import RunOutcome

CONNECTOR_ERRORS = (*SPARK_ERRORS, OSError, PenstockError)
"""Exceptions that the steps of connectors may raise."""


def abort(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> None:
    """Remove what these writes staged, before the others are committed."""
    taken = run.journal.begin_abort()
    for write in writes:
        if write.id not in taken:
            write.connector.abort(spark, run.places[write.id], run.context)
        run.staged.discard(write.id)


def abort_all(spark: SparkSession, run: OpenRun) -> tuple[Diagnostic, ...]:
    """Remove everything that was staged; the targets are unchanged.

    Gives warnings (PEN5011) of what cannot be removed: the run then stays open, and the next one or `resume` ends it.
    It does not raise such errors, which would hide the error for which the run is aborted. What another process has
    taken over from a run that was paused is left to it.
    """
    left: list[Diagnostic] = []
    try:
        taken = run.journal.begin_abort()
    except CONNECTOR_ERRORS as error:
        return (_left(run.run_id, "the journal", error),)
    for check in run.checks:
        if check.write.id in taken:
            continue
        try:
            check.write.connector.abort(spark, run.places[check.write.id], run.context)
        except CONNECTOR_ERRORS as error:
            left.append(_left(run.run_id, check.write.connector.name, error))
    if not left:
        try:
            run.journal.end(RunOutcome.ROLLED_BACK)
        except OSError as error:
            left.append(_left(run.run_id, "the journal", error))
    return tuple(left)


def left_to_tasks(run_id: str, pipelines: Iterable[str]) -> tuple[Diagnostic, ...]:
    """The warning for a run whose staged rows are not removed yet: tasks of these pipelines may still write some."""
    names = ", ".join(f"`{name}`" for name in sorted(pipelines))
    message = f"tasks of {names} have not ended, so that what run `{run_id}` staged is not removed yet"
    return (Diagnostic("PEN5011", message, None, _removed_by(run_id), Severity.WARNING),)


def _left(run_id: str, what: str, error: BaseException) -> Diagnostic:
    message = f"what {what} staged in run `{run_id}` cannot be removed: {reason(error)}"
    return Diagnostic("PEN5011", message, None, _removed_by(run_id), Severity.WARNING)


def _removed_by(run_id: str) -> str:
    return f"the next run removes it, or `penstock run --resume {run_id}`; the target is as it was"
