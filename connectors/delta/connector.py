"""Delta Lake tables by path: rows are written once, and one transaction makes them the table's."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError, did_you_mean, run_error
from catalog.options import Option, Options
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import Action, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import has_unknown
from connectors.commits.marks import WriteMark
from connectors.delta import change_feed, committing, removing, staging, table_schema
from connectors.delta.clustering import check_clustering
from connectors.delta.delta_log import NoVersionError, holds_log, latest_columns, latest_commit, latest_metadata
from connectors.delta.delta_marks import mark_in
from connectors.delta.delta_options import SINK_OPTIONS, SOURCE_OPTIONS, check_sink
from connectors.delta.delta_staged import DeltaStaged
from connectors.delta.obstacles import refuse_for_table
from connectors.delta.statements import table_syntax
from connectors.delta.transaction import DeltaTable
from connectors.files.committing import file_target
from connectors.files.file_schema import UnknownSchemaError
from connectors.files.file_types import can_hold
from connectors.files.table_folders import table_folders
from connectors.interface.incremental import NewRows, Since, incremental_of, new_rows
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table, refuse_missing_columns
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    SupportsClone,
    SupportsCounts,
    SupportsKeptRows,
    SupportsKnownTable,
    SupportsMaintenance,
    SupportsMarks,
    SupportsStagedRows,
    SupportsStatements,
)
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    SupportsHeldPosition,
    SupportsIncremental,
    SupportsStreaming,
    SupportsTableSets,
)
from connectors.lakehouse.statements import planned
from connectors.lakehouse.write_modes import CAPABILITIES, keyed_write_mode
from connectors.shared.spark_jars import spark_jar
from connectors.shared.staged import Credentials, Staged
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.local_files import LocalFiles
from connectors.storage.object_store import store_jars, store_needs
from connectors.storage.paths import local_path, spark_path, target_folder
from connectors.storage.table_directories import refuse_other_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ONE_WRITER: Final = (
    "on S3, Delta serializes the commits of one Spark application only: another application that writes the table at "
    "the same time needs `spark.delta.logStore.s3a.impl`"
)


class Delta(
    Source,
    SupportsTableSets,
    SupportsIncremental,
    SupportsHeldPosition,
    SupportsStreaming,
    Sink[DeltaStaged],
    SupportsKnownTable,
    SupportsStatements,
    SupportsCounts[DeltaStaged],
    SupportsStagedRows[DeltaStaged],
    SupportsMaintenance[DeltaStaged],
    SupportsMarks,
    SupportsKeptRows[DeltaStaged],
    SupportsClone,
):
    name: ClassVar[str] = "Delta"
    tested_against: ClassVar[tuple[str, ...] | None] = ("local disks", "moto, a server of S3's protocol")
    doc: ClassVar[str] = "Reads and writes Delta Lake tables, local or of any Hadoop file system."
    maven: ClassVar[tuple[str, ...]] = (spark_jar("delta"),)
    session_settings: ClassVar[Mapping[str, str]] = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = DeltaStaged
    sink_capabilities: ClassVar[SinkCapabilities] = CAPABILITIES

    def jars(self, options: Options) -> tuple[str, ...]:
        return (*self.maven, *store_jars(options.string("path")))

    def needs(self, options: Options) -> tuple[str, ...]:
        return store_needs(options.string("path"))

    def staged_jars(self, staged: DeltaStaged) -> tuple[str, ...]:
        return (*self.maven, *store_jars(staged.target))

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        return table_folders(options, diagnostics, holds_log)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        if options.get("version") is not None and options.get("timestamp") is not None:
            diagnostics.error("PEN2011", "`version` and `timestamp` exclude each other", options.span("timestamp"))
        change_feed.check_bounds(options, diagnostics)
        is_feed = options.flag("read_change_feed")
        if declared := declared_table(options, "delta", diagnostics):
            _check_declared(declared, options, diagnostics)
            return (replace(declared, has_row_kind=is_feed),)
        try:
            return (_recorded_table(options, diagnostics),)
        except NoVersionError as cause:
            _report_no_version(cause, options, diagnostics)
            return (CatalogTable.unknown("delta"),)
        except UnknownSchemaError as cause:
            help = "name its columns: `schema { fields { name = type } }`, in SQL `CREATE TABLE name (column type, …)`"
            message = f"the columns of `{options['path']}` are not known: {cause.reason}"
            diagnostics.error("PEN4002", message, options.span("path"), help)
            return (CatalogTable.unknown("delta"),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        staging.store_settings(task.options).apply(spark)
        reader = spark.read.format("delta")
        for option, spark_name in (("version", "versionAsOf"), ("timestamp", "timestampAsOf")):
            if task.options.get(option) is not None:
                reader = reader.option(spark_name, str(task.options[option]))
        is_feed = task.options.flag("read_change_feed")
        if is_feed:
            reader = change_feed.bounded(reader, task.options)
        df = reader.load(spark_path(task.options.string("path")))
        return change_feed.with_row_kinds(df, task.names) if is_feed else task.selected(df)

    def held_position(self, spark: "SparkSession", options: Options) -> str | None:
        staging.store_settings(options).apply(spark)
        return latest_commit(spark, options.string("path"))

    def own_order(self, options: Options) -> Column | None:
        return change_feed.VERSION if options.flag("read_change_feed") else None

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        asked = incremental_of(task.options)
        if asked is None or not task.options.flag("read_change_feed"):
            return super().read_new(spark, task, since)
        # of a feed without new versions, Delta would say that its first version is out of range
        spark.conf.set("spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled", "true")
        options = change_feed.options_since(task.options, asked, since)
        by_version = replace(asked, column=change_feed.VERSION.name)
        return new_rows(self.read(spark, replace(task, options=options)), by_version, since)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        table = super().describe(spark, options)
        columns = [column for column in table.columns if column.name != ROW_KIND]
        return CatalogTable.of(table.path.table, columns)

    def stream_obstacle(self, options: Options) -> str | None:
        if options.flag("read_change_feed"):
            return "its change feed is only read by batch jobs"
        fixed = next((name for name in ("version", "timestamp") if options.get(name) is not None), None)
        return f"`{fixed}` reads one state of the table" if fixed else None

    def stream_identity(self, options: Options) -> str:
        return spark_path(options.string("path"))

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        staging.store_settings(task.options).apply(spark)
        df = spark.readStream.format("delta").load(spark_path(task.options.string("path")))
        return task.selected(df)

    def credentials(self, options: Options) -> Credentials:
        return staging.store_settings(options).credentials

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        return keyed_write_mode(options, table)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        file_target.check_path(options, diagnostics, "Delta")
        for name in options.strings("partition_by"):
            if not table.is_open and table.column(name) is None:
                hint = did_you_mean(name, table.schema.names)
                diagnostics.error(
                    "PEN4008", f"no column `{name}` to partition the table by", options.span("partition_by"), hint
                )
        for column in table.columns:
            if not has_unknown(column.type) and not can_hold("delta", column.type):
                message = f"Delta tables cannot hold the column `{column.name}` of type {column.type}"
                diagnostics.error("PEN4003", message, options.span("path"), "cast it to string")
        check_clustering(options, table, diagnostics)
        check_sink(options, table, diagnostics)
        place = local_path(options.string("path"))
        if place is not None and not os.path.exists(os.path.join(place, "_delta_log")):
            if os.path.isdir(place) and (names := removing.foreign_files(LocalFiles(), place)):
                message = f"`{options['path']}` holds files that are not a Delta table, such as `{names[0]}`"
                diagnostics.error("PEN5005", message, options.span("path"), "write to another `path`")
            table_schema.refuse_for_new_table(table.columns, options, diagnostics)
        elif place is not None:
            with suppress(UnknownSchemaError):  # the run asks Spark
                refuse_for_table(latest_metadata(place), options, diagnostics, table)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        statements = staging.after_commit(options.mapping("after_commit"))
        notes = tuple(f"after the commit: {text.replace('{table}', 'the table')}" for text in statements)
        return (*notes, _ONE_WRITER) if options.string("path").startswith("s3a:") else notes

    def target(self, options: Options) -> str | None:
        return target_folder(options.string("path"))

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return self.target(options)

    def known_table(self, options: Options) -> CatalogTable | None:
        path = local_path(options.string("path"))
        if path is None or not holds_log(path):
            return None
        with suppress(UnknownSchemaError):
            return table_schema.table_of(latest_metadata(path))
        return None

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        staging.store_settings(task.options).apply(spark)
        files, target = files_at(spark, task.options.string("path"))
        refuse_other_table(files, target, "Delta", task.options.span("path"))
        delta = DeltaTable(spark, as_uri(target))
        metadata = delta.found()
        if metadata is None:
            if files.is_file(target) or removing.foreign_files(files, target):
                message = f"`{target}` holds files that are not a Delta table"
                raise run_error("PEN5005", message, task.options.span("path"))
            _check_new_columns(task.table.columns, task.options)
            return TargetState(exists=False)
        _refuse(lambda diagnostics: refuse_for_table(metadata, task.options, diagnostics, task.table))
        table = table_schema.table_of(metadata)
        if "delta.columnMapping.mode" not in metadata.get("configuration", {}):
            is_new = task.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA
            new = [column for column in task.table.columns if is_new or table.column(column.name) is None]
            _check_new_columns(new, task.options)
        has_rows = not task.asks_for_rows or not spark.read.format("delta").load(as_uri(target)).isEmpty()
        return TargetState(True, has_rows, table, incarnation=str(metadata["id"]))

    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        assert spark is not None, "Delta's log is read with Spark"
        staging.store_settings(task.options).apply(spark)
        table = DeltaTable(spark, as_uri(files_at(spark, task.options.string("path"))[1]))
        return mark_in(table, task.identity, task.work, task.micro_batch)

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        return tuple(planned(task, state, actions, table_syntax(task)))

    def way_to_clone(self, options: Options, original: Options) -> str | None:
        """It has the files of the original, until either of them writes others. One that replaces rows takes two
        commits; the first deletes them, and they stay in the history of the table."""
        fixed = ("version", "timestamp", "read_change_feed")
        return None if any(original.get(name) for name in fixed) else "shallow clone"

    def clone(self, spark: "SparkSession", options: Options, original: Options, *, replaces: bool) -> None:
        for each in (original, options):
            staging.store_settings(each).apply(spark)
        target, source = (_table_sql(files_at(spark, each.string("path"))[1]) for each in (options, original))
        if replaces and DeltaTable(spark, as_uri(files_at(spark, options.string("path"))[1])).exists():
            spark.sql(f"DELETE FROM {target}\n")  # Delta replaces a table without rows alone
        verb = "CREATE OR REPLACE TABLE" if replaces else "CREATE TABLE"
        spark.sql(f"{verb} {target} SHALLOW CLONE {source}\n")

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> DeltaStaged:
        return staging.prepare(spark, task, actions)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: DeltaStaged) -> DeltaStaged:
        return staging.stage(spark, df, task, prepared)

    def written(self, staged: DeltaStaged) -> tuple[int, int] | None:
        return None if staged.rows is None else (staged.rows, staged.bytes)

    def keeps_rows(self, options: Options) -> bool:
        """Not if several rows of a key are resolved to one, nor if directories of a new table hold columns."""
        is_keyed = options.choice("write_mode", WriteMode).needs_key
        is_plain = options.choice("schema_evolution", SchemaEvolution) is SchemaEvolution.FAIL
        return is_plain and not is_keyed and not options.strings("partition_by")

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: DeltaStaged) -> "DataFrame":
        return staging.staged_rows(spark, staged)

    def commit(self, spark: "SparkSession", staged: DeltaStaged, run: RunContext) -> None:
        committing.commit(spark, staged, run)

    def maintain(self, spark: "SparkSession", staged: DeltaStaged, run: RunContext) -> None:
        committing.maintain(spark, staged)

    def kept(self, spark: "SparkSession", staged: DeltaStaged, task: WriteTask) -> DeltaStaged | None:
        return staging.kept(spark, staged, task)

    def abort(self, spark: "SparkSession", staged: DeltaStaged, run: RunContext) -> None:
        removing.abort(spark, staged)


def _table_sql(path: str) -> str:
    return f"delta.`{as_uri(path).replace('`', '``')}`"


connector = Delta()


def _recorded_table(options: Options, diagnostics: Diagnostics) -> CatalogTable:
    """The table, or its change feed, as its log has it; raises `UnknownSchemaError`."""
    path = local_path(options.string("path"))
    if path is None:
        raise UnknownSchemaError("its file system is not read before the run")
    if options.get("timestamp") is not None:
        raise UnknownSchemaError("only Spark knows which version `timestamp` means")
    metadata = latest_metadata(path, options.get("version"))
    columns = table_schema.table_of(metadata).columns
    table = CatalogTable.of(os.path.basename(path.rstrip("/")) or "delta", columns)
    if not options.flag("read_change_feed"):
        return table
    enabled = metadata.get("configuration", {}).get("delta.enableChangeDataFeed", "")
    change_feed.check_enabled(enabled, options, diagnostics)
    return change_feed.feed_of(table)


def _check_new_columns(columns: Sequence[Column], options: Options) -> None:
    _refuse(lambda diagnostics: table_schema.refuse_for_new_table(columns, options, diagnostics))


def _refuse(check: Callable[[Diagnostics], None]) -> None:
    diagnostics = Diagnostics()
    check(diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _check_declared(table: CatalogTable, options: Options, diagnostics: Diagnostics) -> None:
    """Report declared columns that the log lacks, if it can be read: the run would fail."""
    path = local_path(options.string("path"))
    if path is None or options.get("timestamp") is not None:
        return
    try:
        names = [column.name for column in latest_columns(path, options.optional_integer("version"))]
    except NoVersionError as cause:
        _report_no_version(cause, options, diagnostics)
        return
    except UnknownSchemaError:
        return
    if options.flag("read_change_feed"):
        names += [column.name for column in change_feed.COMMIT_COLUMNS]
    refuse_missing_columns(table, names, options, diagnostics)


def _report_no_version(cause: NoVersionError, options: Options, diagnostics: Diagnostics) -> None:
    message = f"the Delta table `{options['path']}` has no version {options['version']}"
    diagnostics.error("PEN4002", message, options.span("version"), cause.known)
