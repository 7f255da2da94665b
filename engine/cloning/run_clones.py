"""Makes the planned clones, one after the other; what is there already stays, unless the user says otherwise."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from connectors.interface.sink_abilities import SupportsClone
from engine.cloning.planned_clones import PlannedClone
from engine.runtime.run_request import RunRequest
from engine.state.file_names import run_ids
from engine.state.run_state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_clones(
    spark: "SparkSession",
    clones: Sequence[PlannedClone],
    run_id: str,
    *,
    replaces: bool,
    show: Callable[[PlannedClone], None],
) -> None:
    """Raises PEN1667, before anything is written, where a target has rows and the user has not said that it may be
    replaced; and the error of the first clone that cannot be made. Those before it are there."""
    from engine.runtime.execute import run_job

    if not replaces:
        _refuse_rows(spark, clones)
    names = [clone.write.name for clone in clones]
    for clone, own_id in zip(clones, run_ids(run_id, names, [clone.job for clone in clones]), strict=True):
        if clone.sample is None:
            _clone(spark, clone, replaces=replaces)
        else:
            result = run_job(spark, clone.sample, RunRequest(own_id))
            if result.state is not State.FINISHED:
                raise RunError(result.diagnostics) if result.diagnostics else result.errors[0]
        show(clone)


def _clone(spark: "SparkSession", clone: PlannedClone, *, replaces: bool) -> None:
    from engine.spark.failures.errors import SPARK_ERRORS, as_run_error
    from engine.spark.session import pipeline_session

    assert isinstance(clone.write.connector, SupportsClone), f"`{clone.write.name}` has a way to be cloned"
    session = pipeline_session(spark, {})
    try:
        clone.write.connector.clone(session, clone.write.options, clone.original.options, replaces=replaces)
    except SPARK_ERRORS as error:
        raise as_run_error(error, clone.write) from error


def _refuse_rows(spark: "SparkSession", clones: Sequence[PlannedClone]) -> None:
    """A clone makes its target; a sample may fill one that has no rows. A branch is refused by its table."""
    from engine.spark.failures.errors import SPARK_ERRORS, as_run_error
    from engine.spark.writing.run_contexts import context_of
    from engine.spark.writing.sink_checks import task_of

    diagnostics, run = Diagnostics(), context_of(spark, "clone")
    for clone in clones:
        write = clone.write
        if clone.is_branch:
            continue
        try:
            state = write.connector.inspect(spark, replace(task_of(write, run), looks_for_rows=True))
        except SPARK_ERRORS as error:
            raise as_run_error(error, write) from error
        if state.exists and (state.has_rows or clone.sample is None):
            message = f"`{clone.target}` is there already{', and has rows' if state.has_rows else ''}"
            refused = run_error("PEN1667", message, write.span, "`--replace` replaces all of its rows")
            diagnostics.extend(refused.diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
