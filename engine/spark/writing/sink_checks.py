"""Checks every sink before a run: inspects its target and determines the save-mode actions; changes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError, RunError
from catalog.options import schema_evolutions, store_assignment
from catalog.tables.evolution import SchemaEvolution, StoreAssignment, fits
from catalog.tables.narrowing import not_wider, remedy_of
from catalog.tables.savemode import Action, TargetState, WritePreview, plan_actions
from catalog.tables.table import CatalogTable
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.interface.sink_abilities import SupportsStatements
from engine.plan.nodes import Write
from engine.spark.failures.environment_errors import unwritable
from engine.spark.failures.errors import SPARK_ERRORS, as_run_error, placed
from engine.spark.writing.run_contexts import context_of

DRY_RUN: Final = "dry-run"


@dataclass(frozen=True, eq=False, slots=True)
class SinkCheck:
    """The result of a check: the target's state, and the actions of the commit, in order."""

    write: Write
    state: TargetState
    actions: tuple[Action, ...]


def previews(spark: SparkSession, writes: Sequence[Write]) -> dict[str, WritePreview]:
    """What each write, by its id, finds at its target and would do there; raises as `check` does."""
    by_write = {}
    for checked in check(spark, writes, looks_for_rows=True):
        write = checked.write
        preview, sink = WritePreview(checked.state, checked.actions), write.connector
        if isinstance(sink, SupportsStatements):
            asked = spark, task_of(write, context_of(spark, DRY_RUN)), checked.state, checked.actions
            try:
                preview = replace(
                    preview, statements=sink.statements(*asked), staging_statements=sink.staging_statements(*asked)
                )
            except SPARK_ERRORS as error:
                raise as_run_error(error, write) from error
        by_write[write.id] = preview
    return by_write


def check(
    spark: SparkSession, writes: Sequence[Write], run_id: str = DRY_RUN, *, looks_for_rows: bool = False
) -> tuple[SinkCheck, ...]:
    """Inspect every target; raises `RunError` with all errors that prevent the run (PEN4003, PEN4006, PEN4007,
    PEN5005)."""
    diagnostics = Diagnostics()
    run = context_of(spark, run_id)
    checks = []
    for write in writes:
        try:
            state = write.connector.inspect(spark, replace(task_of(write, run), looks_for_rows=looks_for_rows))
        except PenstockError as error:
            diagnostics.extend(placed(error, write).diagnostics)
            continue
        except SPARK_ERRORS as error:
            diagnostics.extend(as_run_error(error, write).diagnostics)
            continue
        except OSError as error:
            diagnostics.extend(unwritable(error, write).diagnostics)
            continue
        actions = plan_actions(write.schema_save_mode, write.data_save_mode, write.write_mode, state)
        diagnostics.extend(_obstacles(write, state, actions))
        checks.append(SinkCheck(write, state, actions))
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    return tuple(checks)


def task_of(
    write: Write, run: RunContext, write_id: str | None = None, work: str = "", batch: int | None = None
) -> WriteTask:
    """The task of a write; `write_id`: the one that it had when it was committed; `batch`: of a
    stream's micro-batch."""
    return WriteTask(
        write.options,
        write.table,
        write.schema_save_mode,
        write.data_save_mode,
        write.write_mode,
        run,
        write_id or write.id,
        batch_id=batch,
        work=work,
    )


def _obstacles(write: Write, state: TargetState, actions: tuple[Action, ...]) -> Iterable[Diagnostic]:
    if Action.FAIL_MISSING in actions:
        help = "schema_save_mode = CREATE_SCHEMA_WHEN_NOT_EXIST"
        yield Diagnostic("PEN4006", f"the target of `{write.name}` does not exist", write.options.span("path"), help)
    if Action.FAIL_HAS_ROWS in actions:
        help = "data_save_mode = APPEND_DATA adds the rows to those"
        yield Diagnostic(
            "PEN4007", f"the target of `{write.name}` already holds rows", write.options.span("path"), help
        )
    target = kept_table(state, actions)
    if target is not None and not write.table.is_open:
        yield from misfits(write, write.table, target)


def misfits(write: Write, rows: CatalogTable, target: CatalogTable) -> tuple[Diagnostic, ...]:
    """The errors (PEN4003) of rows of these columns in a target that is kept."""
    evolution = str(write.options.get("schema_evolution") or "fail").lower()
    found = []
    for problem in fits(rows.schema, target.schema, evolution):
        help = remedy_of(problem, rows, target, schema_evolutions(write.connector.sink_options))
        message = f"rows of `{write.name}` do not fit its target: {problem}"
        found.append(Diagnostic("PEN4003", message, write.span, help))
    if store_assignment(write.options) is StoreAssignment.STRICT:
        for refused in not_wider(rows, target, SchemaEvolution(evolution)):
            message = f"rows of `{write.name}` do not fit its target: {refused}, which is not wider"
            found.append(Diagnostic("PEN4003", message, write.span, refused.remedy))
    return tuple(found)


def kept_table(state: TargetState, actions: tuple[Action, ...]) -> CatalogTable | None:
    """The schema that the rows must fit, if the target is kept."""
    keeps = Action.KEEP in actions or Action.NO_SCHEMA_CHANGE in actions
    return state.table if keeps and state.exists else None
