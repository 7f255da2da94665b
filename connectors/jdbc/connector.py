"""Databases by JDBC: tables and queries read in parallel, rows written in one transaction for each database."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics, run_error
from catalog.options import Option, Options
from catalog.quoting import quote
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath, TableSchema
from catalog.types.datatypes import STRING, Decimal
from connectors.commits.marks import MarkState, WriteMark
from connectors.interface.incremental import NewRows, Since, incremental_of, new_rows, until_now
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    PendingCommit,
    SupportsCounts,
    SupportsGroupCommit,
    SupportsKeptRows,
    SupportsMarks,
    SupportsStatements,
)
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    ConnectionLimit,
    SupportsConnectionLimit,
    SupportsIncremental,
    SupportsTablePatterns,
)
from connectors.jdbc.connection import check_connection, connection_of, jars_of
from connectors.jdbc.database import connected
from connectors.jdbc.describe import describe_table, tables_like
from connectors.jdbc.dialect import Dialect
from connectors.jdbc.known_dialects import DIALECTS, dialect_of
from connectors.jdbc.reading import describe, read
from connectors.jdbc.source_options import SOURCE_OPTIONS, check_source, named_table, partitions, reading_of
from connectors.jdbc.table_location import location_of
from connectors.jdbc.table_names import parse_table_name, path_of, quoted_name
from connectors.jdbc.writing import ledger, staging
from connectors.jdbc.writing.commit import abort, begin_commit, commit_group
from connectors.jdbc.writing.jdbc_staged import JdbcStaged, credentials_of
from connectors.jdbc.writing.load import loads_by_copy
from connectors.jdbc.writing.sink_options import (
    SINK_OPTIONS,
    check_sink,
    completed,
    default_write_mode,
    in_case,
    plan_of,
    target_of,
)
from connectors.jdbc.writing.write_plan import WritePlan
from connectors.matching.table_patterns import as_table, pattern_in
from connectors.shared.staged import Credentials

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Jdbc(
    Source,
    SupportsTablePatterns,
    SupportsConnectionLimit,
    SupportsIncremental,
    Sink[JdbcStaged],
    SupportsStatements,
    SupportsCounts[JdbcStaged],
    SupportsGroupCommit[JdbcStaged],
    SupportsMarks,
    SupportsKeptRows[JdbcStaged],
):
    name: ClassVar[str] = "Jdbc"
    tested_against: ClassVar[tuple[str, ...] | None] = (
        "PostgreSQL 18",
        "MariaDB by its own driver and MySQL's",
        "SQLite",
    )
    experimental: ClassVar[tuple[str, ...]] = tuple(
        f"{dialect.name}'s own server" if dialect.tested_as else dialect.name
        for dialect in DIALECTS
        if not dialect.is_tested
    )
    doc: ClassVar[str] = (
        "Reads and writes databases: PostgreSQL, MariaDB, MySQL, SQLite and others. All sinks of one database commit "
        "in one transaction."
    )
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True, is_cheap=False)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=tuple(DataSaveMode),
        write_modes=(WriteMode.APPEND, WriteMode.UPSERT, WriteMode.CHANGELOG),
        fills_columns=True,
        row_kind_modes=(WriteMode.CHANGELOG,),
    )
    staged_type = JdbcStaged

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        mark = diagnostics.mark()
        check_connection(options, diagnostics)
        check_source(options, diagnostics)
        table = declared_table(options, "jdbc", diagnostics) or CatalogTable.unknown("jdbc")
        return (table if mark.has_errors else named_table(options, table),)

    def jars(self, options: Options) -> tuple[str, ...]:
        return jars_of(options)

    def table_path(self, options: Options) -> TablePath | None:
        name = options.optional_string("table_path")
        try:
            return None if name is None or options.flag("use_regex") else path_of(parse_table_name(name))
        except ValueError:
            return None  # `tables` reports it

    def table_pattern(self, options: Options) -> re.Pattern[str] | None:
        return pattern_in(options, "table_path")

    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        pattern = self.table_pattern(options)
        assert pattern is not None, "is called where there is one"
        with connected(spark, connection_of(options)) as database:
            return tuple(quoted_name(name[-2:]) for name in tables_like(database, pattern.pattern))

    def of_table(self, options: Options, path: str) -> Options:
        return as_table(options, "table_path", path)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        return describe(spark, reading_of(options, 1))

    def connection_limit(self, options: Options) -> ConnectionLimit | None:
        most = options.optional_integer("max_connections")
        return None if most is None else ConnectionLimit(connection_of(options).place, most, partitions(options))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        reading = reading_of(task.options, spark.sparkContext.defaultParallelism)
        df = read(spark, reading, task.table, is_lossless=task.options.seatunnel is None)
        return df.select(*map(quote, task.columns)) if task.columns else df

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        asked = incremental_of(task.options)
        assert asked is not None, "is called where the job asks for it"
        rows = self.read(spark, task)
        if task.options.optional_string("partition_column") is not None and since.until is None:
            reading = reading_of(task.options, 1)  # without a check of each row, the database looks for the greatest
            since = until_now(read(spark, reading, task.table, is_lossless=False), asked, since)
        # databases order texts by their language, Spark by their bytes
        return new_rows(rows, asked, since, by_bytes=True)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_sink(options, table, diagnostics)

    def credentials(self, options: Options) -> Credentials:
        return credentials_of(connection_of(options))

    def completed(self, options: Options) -> Options:
        return completed(options)

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        return default_write_mode(options, table)

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        name = options.optional_string("table_path")
        return _location(options, lambda: () if name is None else parse_table_name(name))

    def target(self, options: Options) -> str | None:
        return _location(options, lambda: target_of(options))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        connection = connection_of(options)
        dialect = connection.dialect
        loads = "PostgreSQL's COPY" if loads_by_copy(connection) else "batches of INSERTs"
        notes = [f"rows are loaded into a staging table by {loads}; one transaction of {dialect.name} commits them"]
        if not dialect.has_transactional_ddl and {Action.CREATE, Action.DROP_AND_CREATE} & set(actions):
            notes.append(f"{dialect.name} commits DDL at once: a killed commit may leave the new table without rows")
            if dialect.run_lock is None:
                notes.append("a driver that was paused for longer than its lease may still run this DDL")
        if not dialect.is_tested:
            notes.append(f"experimental: Penstock's tests do not run against {dialect.name}")
        return tuple(notes)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        connection, name = connection_of(task.options), target_of(task.options)
        with connected(spark, connection) as database:
            table = describe_table(database, name)
            if table is None and task.schema_save_mode is SchemaSaveMode.IGNORE:
                message = f"`{connection.place}` has no table `{'.'.join(name)}`, and IGNORE creates none"
                raise run_error("PEN4006", message, task.options.span("table"))
            if table is None and not connection.dialect.undoes_created_tables:
                message = f"`{connection.place}` has no table `{'.'.join(name)}`, and {connection.dialect.name}"
                help = "create the table first; `penstock explain` shows the columns of the rows"
                what = "could not take back that a run creates it"
                raise run_error("PEN4006", f"{message} {what}", task.options.span("table"), help)
            if table is None:
                return TargetState(exists=False)
            has_rows = True
            if task.asks_for_rows:
                quoted = database.dialect.quote_path(name)
                has_rows = bool(database.query(f"select 1 from {quoted}", most=1))
            own = ledger.incarnation(database, name)
        if task.options.get("query") is not None:  # its placeholders take the rows' columns in their own order
            return TargetState(True, has_rows, incarnation=own)
        return TargetState(True, has_rows, _as_seen(table, task.table, connection.dialect), incarnation=own)

    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        assert spark is not None, "the driver is loaded by Spark"
        target = target_of(task.options)
        with connected(spark, connection_of(task.options)) as database:
            if describe_table(database, target) is None:  # dropped with its rows, whatever the ledger says
                return WriteMark(MarkState.ABSENT)
            return ledger.mark(database, task.identity, target, task.micro_batch)

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        if task.table.is_open:
            return ()
        plan = _plan(task)
        is_new = {Action.CREATE, Action.DROP_AND_CREATE} & set(actions)
        with connected(spark, plan.connection) as database:
            return staging.planned(database, plan, self.prepare(spark, task, actions), None if is_new else state.table)

    def staging_statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        return () if task.table.is_open else staging.planned_staging(_plan(task), self.prepare(spark, task, actions))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> JdbcStaged:
        isolation = task.options.optional_string("isolation_level")
        return staging.prepare(connection_of(task.options), target_of(task.options), task, tuple(actions), isolation)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: JdbcStaged) -> JdbcStaged:
        plan = _plan(task)
        names = [in_case(name, task.options) for name in df.columns]
        return staging.stage(spark, df if names == df.columns else df.toDF(*names), plan, prepared)

    def written(self, staged: JdbcStaged) -> tuple[int, None] | None:
        return None if staged.rows is None else (staged.rows, None)

    def commit(self, spark: "SparkSession", staged: JdbcStaged, run: RunContext) -> None:
        commit_group(spark, [staged], run)

    def begin_commit(self, spark: "SparkSession", group: Sequence[JdbcStaged], run: RunContext) -> PendingCommit | None:
        return begin_commit(spark, group, run)

    def commit_group(self, staged: JdbcStaged) -> str:
        return f"{staged.url} {staged.user or ''}"

    def commit_all(self, spark: "SparkSession", group: Sequence[JdbcStaged], run: RunContext) -> None:
        commit_group(spark, group, run)

    def kept(self, spark: "SparkSession", staged: JdbcStaged, task: WriteTask) -> JdbcStaged | None:
        return staging.kept(spark, staged, task)

    def abort(self, spark: "SparkSession", staged: JdbcStaged, run: RunContext) -> None:
        abort(spark, staged, run)

    def staged_jars(self, staged: JdbcStaged) -> tuple[str, ...]:
        dialect = dialect_of(staged.url)
        return (dialect.maven,) if dialect is not None and dialect.driver == staged.driver else ()


connector = Jdbc()


def _plan(task: WriteTask) -> WritePlan:
    return plan_of(task.options, task.table, task.primary_keys, task.write_mode is not WriteMode.APPEND)


def _as_seen(target: CatalogTable, incoming: CatalogTable, dialect: Dialect) -> CatalogTable:
    """The target with the types that its columns accept: a text column accepts JSON, a NUMERIC any decimal."""
    columns = tuple(_column_as_seen(column, incoming.column(column.name), dialect) for column in target.columns)
    return replace(target, schema=TableSchema(columns, target.schema.primary_key, target.schema.constraint_keys))


def _column_as_seen(column: Column, incoming: Column | None, dialect: Dialect) -> Column:
    if incoming is None:
        return column
    takes_json = column.type == STRING and dialect.holds_as_text(incoming.type)
    is_unbounded = column.type == Decimal(38, 18) and column.scale is None and isinstance(incoming.type, Decimal)
    return replace(column, type=incoming.type) if takes_json or is_unbounded else column


def _location(options: Options, name: Callable[[], tuple[str, ...]]) -> str | None:
    """Where the table is; None where the options, which need not be checked yet, name none."""
    if not check_connection(options, Diagnostics()):
        return None
    try:
        named = name()
    except ValueError:
        return None
    return location_of(connection_of(options), named)
