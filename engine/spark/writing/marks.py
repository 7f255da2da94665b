"""Compares what targets have recorded of a run with what its state directory says: one of them may be lost or old."""

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError, RunError
from connectors.commits.marks import MarkState, WriteMark, other_work
from connectors.interface.run_context import RunContext
from connectors.interface.sink_abilities import SupportsMarks
from engine.plan.building.write_nodes import replaces
from engine.plan.nodes import Write
from engine.spark.failures.errors import SPARK_ERRORS, as_run_error, placed
from engine.spark.writing.run_contexts import context_of
from engine.spark.writing.sink_checks import SinkCheck, task_of
from engine.state.journal import Recorded


def written_before(
    spark: SparkSession,
    checks: Sequence[SinkCheck],
    run_id: str,
    works: Mapping[str, str],
    *,
    batch: int | None = None,
) -> frozenset[str]:
    """The ids of the writes whose targets have their marks, although the state directory knows nothing of them.

    `works`: what each stands for; `batch`: the number of a micro-batch. Raises a `RunError` with all marks that stand
    for other work (PEN5221).
    """
    diagnostics, run, found = Diagnostics(), context_of(spark, run_id), set()
    for check in checks:
        try:
            mark = _mark(spark, check.write, run, work=works.get(check.write.id, ""), batch=batch)
        except PenstockError as error:
            diagnostics.extend(placed(error, check.write).diagnostics)
            continue
        if mark.state is not MarkState.FOUND:
            continue
        if not mark.stands_for(works.get(check.write.id, "")):
            diagnostics.extend(placed(other_work(run_id, check.write.target), check.write).diagnostics)
        found.add(check.write.id)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    return frozenset(found)


def refuse_lost(
    spark: SparkSession,
    writes: Sequence[Write],
    run_id: str,
    recorded: Recorded,
    known: Mapping[str, str],
    *,
    batch: int | None = None,
    help: str = "another run id writes them again; or restore the target",
) -> None:
    """Raise PEN5222 where a target lacks what the state directory says that the run has committed to it.

    `known`: the ids under which the writes were committed, by their ids of now.
    """
    diagnostics, run = Diagnostics(), context_of(spark, run_id)
    for write in writes:
        if write.id not in known or _is_without_rows(recorded, known[write.id], write):
            continue
        try:
            mark = _mark(spark, write, run, known[write.id], batch=batch)
            if mark.state is MarkState.ABSENT and not (replaces(write) and _exists(spark, write, run)):
                diagnostics.extend([_lost(run_id, write, help)])
        except PenstockError as error:
            diagnostics.extend(placed(error, write).diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def shows_all(writes: Sequence[Write], run_id: str, known: Mapping[str, str]) -> bool:
    """Whether all targets have the marks of these writes, as far as can be seen without Spark."""
    run = context_of(None, run_id)
    for write in writes:
        sink = write.connector
        if not isinstance(sink, SupportsMarks):
            continue
        if not sink.shows_marks_without_spark(write.options):
            return False
        if _mark(None, write, run, known.get(write.id)).state is not MarkState.FOUND:
            return False
    return True


def _mark(
    spark: SparkSession | None,
    write: Write,
    run: RunContext,
    write_id: str | None = None,
    *,
    work: str = "",
    batch: int | None = None,
) -> WriteMark:
    sink = write.connector
    if not isinstance(sink, SupportsMarks):
        return WriteMark(MarkState.UNKNOWN)
    try:
        return sink.mark(spark, task_of(write, run, write_id, work, batch))
    except SPARK_ERRORS as error:
        raise as_run_error(error, write) from error


def _exists(spark: SparkSession, write: Write, run: RunContext) -> bool:
    try:
        return write.connector.inspect(spark, task_of(write, run)).exists
    except SPARK_ERRORS as error:
        raise as_run_error(error, write) from error


def _is_without_rows(recorded: Recorded, write_id: str, write: Write) -> bool:
    """Whether nothing was committed, which some targets do not record."""
    if not recorded.is_staged(write_id):
        return False
    return getattr(recorded.place(write_id, write.connector.staged_type), "rows", None) == 0


def _lost(run_id: str, write: Write, help: str) -> Diagnostic:
    message = (
        f"run `{run_id}` has committed its rows to `{write.target}`, which lacks them now: it was dropped, restored or "
        "replaced since"
    )
    return Diagnostic("PEN5222", message, write.options.span("path"), help)
