"""Stages writes: rows go where readers do not see them. A step can be repeated for a retry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, RunError, run_error
from catalog.options import store_assignment
from catalog.quoting import quote
from catalog.tables.checked_cast import ROW_NUMBER, checked_cast
from catalog.tables.evolution import SchemaEvolution, StoreAssignment
from catalog.tables.narrowing import left_out_warning
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import WriteMode, plan_actions
from catalog.tables.store_assignment import stored_column
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import is_collated, without_collations
from catalog.types.typenames import to_ddl
from connectors.interface.sink_abilities import SupportsStagedRows
from connectors.shared.select_sql import select_sql
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged
from engine.plan.nodes import AnyNode, Scan, Write
from engine.plan.staged_rules import staged_rules
from engine.spark.failures.environment_errors import unwritable
from engine.spark.failures.errors import SPARK_ERRORS, as_run_error, placed
from engine.spark.writing.open_run import OpenRun
from engine.spark.writing.sink_checks import SinkCheck, kept_table, misfits
from engine.state.state_dir import unwritable as unwritable_state


def stage(
    spark: SparkSession, run: OpenRun, write: Write, df: DataFrame, nodes: Iterable[AnyNode] = ()
) -> tuple[Diagnostic, ...]:
    """Write the rows where readers do not see them; may be called again for a retry, and from any thread.

    `nodes` are the nodes whose work this is: an error is reported at the one that it came from. Raises PEN5304 if the
    target is held by another run, or one has written to it since it was checked; PEN4003 if rows whose columns were not
    known before do not fit it. Gives the warnings about such rows.
    """
    checked = next(check for check in run.checks if check.write is write)
    warnings: tuple[Diagnostic, ...] = ()
    try:
        if write.table.is_open:
            warnings = _judged(write, df, kept_table(checked.state, checked.actions))
        rows = _aligned(df.drop(ROW_KIND) if write.drops_row_kind else df, checked)
        rows = _uncollated(rows, write.table)
        if write.keeps_last:
            rows = _last_of_keys(rows, run.tasks[write.id].primary_keys)
        staged = write.connector.stage(spark, rows, run.tasks[write.id], run.places[write.id])
        _refuse_changed_target(run, checked)
    except SPARK_ERRORS as error:
        raise as_run_error(error, write, nodes) from error
    except PenstockError as error:
        raise placed(error, write) from error.__cause__
    except OSError as error:
        raise unwritable(error, write, run.journal.layout) from error
    with run.lock:
        with journaled(run):
            run.journal.staged(write.id, staged)
        run.places[write.id] = staged
        run.staged.add(write.id)
    return warnings


def _judged(write: Write, df: DataFrame, target: CatalogTable | None) -> tuple[Diagnostic, ...]:
    """What is said of rows whose columns only the run knows, as `check` and `validate` say it of others."""
    if target is None:
        return ()
    rows = CatalogTable.of(write.name, columns_of(df.drop(ROW_KIND).schema))
    if problems := misfits(write, rows, target):
        raise RunError(problems)
    if write.connector.sink_capabilities.fills_columns or write.write_mode is WriteMode.SCD2:
        return ()
    missing = left_out_warning(write.input.name, rows, target, write.options.span())
    return () if missing is None else (missing,)


@contextmanager
def journaled(run: OpenRun) -> Iterator[None]:
    """Report errors of the state directory as such (PEN5313)."""
    try:
        yield
    except OSError as error:
        raise unwritable_state(run.journal.layout.root, error) from error


def staged_rows(spark: SparkSession, run: OpenRun, writes: Iterable[Write]) -> dict[AnyNode, DataFrame]:
    """The staged rows of nodes whose rules are checked on them."""
    found = [
        (write.input, write.connector.staged_rows(spark, run.tasks[write.id], run.places[write.id]))
        for write in writes
        if staged_rules(write) and isinstance(write.connector, SupportsStagedRows)
    ]
    return {node: df for node, df in found if df is not None}


def note_positions(run: OpenRun, positions: Mapping[Scan, Staged]) -> None:
    """Record what was read of sources that are notified after the commit; again after a retry."""
    for scan, position in positions.items():
        with journaled(run):
            run.journal.read_from(scan.id, scan.connector.name, position)
    with run.lock:
        run.positions.update(positions)


def _refuse_changed_target(run: OpenRun, checked: SinkCheck) -> None:
    """The target is this run's alone once its rows are staged; a run that ended before that may have written to it."""
    write = checked.write
    state = write.connector.inspect(run.spark, run.tasks[write.id])
    actions = plan_actions(write.schema_save_mode, write.data_save_mode, write.write_mode, state)
    if actions != checked.actions or kept_table(state, actions) != kept_table(checked.state, checked.actions):
        message = f"the target of `{write.name}` has changed since this run checked it: another writer was faster"
        raise run_error("PEN5304", message, write.options.span("path"), "run the job again")


def _uncollated(df: DataFrame, table: CatalogTable) -> DataFrame:
    """The rows with plain strings: no target keeps the collation of a string, and some refuse it."""
    collated = {column.name.lower(): column.type for column in table.columns if is_collated(column.type)}
    if not collated:
        return df
    columns = []
    for name in df.columns:
        type = collated.get(name.lower())
        value = quote(name) if type is None else f"cast({quote(name)} as {to_ddl(without_collations(type))})"
        columns.append(f"{value} as {quote(name)}")
    return select_sql(df, columns)


def _last_of_keys(df: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The row of each key that is read last."""
    if not keys:
        return df
    number, rank = quote("__penstock_number"), quote("__penstock_rank")
    numbered = df.selectExpr("*", f"monotonically_increasing_id() as {number}")
    window = f"partition by {', '.join(map(quote, keys))} order by {number} desc"
    ranked = numbered.selectExpr("*", f"row_number() over ({window}) as {rank}").where(f"{rank} = 1")
    return ranked.drop("__penstock_number", "__penstock_rank")


def _aligned(df: DataFrame, checked: SinkCheck) -> DataFrame:
    """The rows in the kept target's types and order, so that its files stay of one schema; new columns come last.

    Under `store_assignment = lossless`, a value that a type of the target changes fails the write.
    """
    target = kept_table(checked.state, checked.actions)
    if target is None:
        return df
    options = checked.write.options
    evolution = SchemaEvolution(str(options.get("schema_evolution") or SchemaEvolution.FAIL.value).lower())
    is_lossless = store_assignment(options) is StoreAssignment.LOSSLESS
    rows = {column.name.lower(): column for column in columns_of(df.schema)}
    columns = []
    for column in target.columns:
        given = rows.pop(column.name.lower(), None)
        if given is None and checked.write.connector.sink_capabilities.fills_columns:
            continue
        name = quote(column.name)
        if given is None:
            columns.append(f"cast(null as {to_ddl(column.type)}) as {name}")
            continue
        stored, value = stored_column(column, given.type, evolution), quote(given.name)
        if is_lossless:
            cast = checked_cast(value, given.name, given.type, stored, ROW_NUMBER)
        else:
            cast = f"cast({value} as {to_ddl(stored.type)})"
        columns.append(f"{cast} as {name}")
    return select_sql(df, [*columns, *(quote(column.name) for column in rows.values())])
