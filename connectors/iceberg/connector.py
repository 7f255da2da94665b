"""Iceberg tables of a warehouse or a catalog: rows are written once, and one snapshot makes them the table's."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, RunError, run_error
from catalog.options import Option, Options
from catalog.quoting import parse_name, quote_text
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, TablePath
from connectors.commits.marks import MarkState, WriteMark
from connectors.files.committing.file_target import check_directory
from connectors.files.file_schema import UnknownSchemaError
from connectors.iceberg import many_tables, staging
from connectors.iceberg.changed_columns import refuse_widening
from connectors.iceberg.iceberg_options import (
    AT_OPTIONS,
    SINK_OPTIONS,
    SOURCE_OPTIONS,
    branch_of,
    check_sink,
    check_time_travel,
)
from connectors.iceberg.iceberg_staged import WORK, IcebergStaged
from connectors.iceberg.iceberg_table import IcebergTable, opened
from connectors.iceberg.partitioning import check_partitions
from connectors.iceberg.seatunnel_options import completed
from connectors.iceberg.session_catalog import open_catalog
from connectors.iceberg.snapshot_range import RANGE, rows_of_range
from connectors.iceberg.sorting import check_sort
from connectors.iceberg.statements import planned
from connectors.iceberg.table_address import (
    address_of,
    check_address,
    folder_of,
    local_folder,
    path_of,
    root_of,
    target_of,
)
from connectors.iceberg.table_metadata import (
    Metadata,
    has_partitions,
    local_columns,
    local_times,
    main_snapshot,
    mark_of,
    table_of,
    times_of,
)
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table, refuse_missing_columns
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    SupportsClone,
    SupportsCounts,
    SupportsKeptRows,
    SupportsKnownTable,
    SupportsMarks,
    SupportsStagedTable,
    SupportsStatements,
)
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    SupportsHeldPosition,
    SupportsIncremental,
    SupportsStreaming,
    SupportsTablePatterns,
    SupportsTableSets,
)
from connectors.lakehouse.versions import refuse_for_versions
from connectors.lakehouse.write_modes import CAPABILITIES, keyed_write_mode, refuse_without_partitions
from connectors.shared.active_session import active_session
from connectors.shared.spark_jars import spark_jar
from connectors.shared.staged import Staged
from connectors.shared.tolerated import report_tolerated
from connectors.storage.filesystem import files_at
from connectors.storage.object_store import OBJECT_STORES, store_jars, store_needs
from connectors.storage.table_directories import refuse_other_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ONE_WRITER: Final = (
    "on an object store, a warehouse without a catalog has no atomic commit: another program that writes the table at "
    "the same time may lose rows; name the table in a catalog"
)


class Iceberg(
    Source,
    SupportsTableSets,
    SupportsTablePatterns,
    SupportsIncremental,
    SupportsHeldPosition,
    SupportsStreaming,
    Sink[IcebergStaged],
    SupportsKnownTable,
    SupportsStatements,
    SupportsCounts[IcebergStaged],
    SupportsMarks,
    SupportsKeptRows[IcebergStaged],
    SupportsStagedTable[IcebergStaged],
    SupportsClone,
):
    name: ClassVar[str] = "Iceberg"
    tested_against: ClassVar[tuple[str, ...] | None] = ("local disks", "moto, a server of S3's protocol")
    doc: ClassVar[str] = "Reads and writes Iceberg tables, of a directory (a warehouse) or of any catalog of Spark's."
    maven: ClassVar[tuple[str, ...]] = (spark_jar("iceberg"),)
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = IcebergStaged
    sink_capabilities: ClassVar[SinkCapabilities] = CAPABILITIES

    def jars(self, options: Options) -> tuple[str, ...]:
        return (*self.maven, *store_jars(root_of(options)))

    def staged_jars(self, staged: IcebergStaged) -> tuple[str, ...]:
        return (*self.maven, *store_jars(staged.address.folder or ""))

    def needs(self, options: Options) -> tuple[str, ...]:
        return store_needs(root_of(options))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        on_store = (folder_of(options) or "").startswith(OBJECT_STORES)
        return (_ONE_WRITER,) if on_store else ()

    def completed(self, options: Options) -> Options:
        return completed(options)

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        return many_tables.tables_of_warehouse(options, diagnostics)

    def table_path(self, options: Options) -> TablePath | None:
        return path_of(options)

    def table_pattern(self, options: Options) -> re.Pattern[str] | None:
        return many_tables.catalog_tables_pattern(options)

    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        return many_tables.tables_of_catalog(spark, options)

    def of_table(self, options: Options, path: str) -> Options:
        return many_tables.of_table(options, path)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_time_travel(options, diagnostics)
        if not many_tables.check_tables(options, diagnostics):
            return (CatalogTable.unknown("iceberg"),)
        declared = declared_table(options, "iceberg", diagnostics)
        _refuse_times(options, declared, diagnostics)
        if declared:
            with suppress(UnknownSchemaError):
                names = [column.name for column in _recorded_table(options).columns]
                refuse_missing_columns(declared, names, options, diagnostics)
            return (declared,)
        try:
            return (_recorded_table(options),)
        except UnknownSchemaError as cause:
            help = "name its columns: `schema { fields { name = type } }`, or lock them: `penstock schema sync`"
            message = f"the columns of `{_shown(options)}` are not known: {cause.reason}"
            report_tolerated(options, diagnostics, "PEN4002", message, options.span("table_path"), help=help)
            return (CatalogTable.unknown("iceberg"),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        from pyspark.errors.exceptions.captured import UnsupportedOperationException

        address = _address(spark, task.options)
        if any(task.options.get(name) is not None for name in RANGE):
            return task.selected(rows_of_range(spark, address, task.options))
        try:
            return task.selected(spark.sql(f"SELECT * FROM {address}{_as_of(task.options)}"))
        except UnsupportedOperationException as error:
            if _TIMES not in str(error):
                raise
        return task.selected(_without_times(spark, task))

    def held_position(self, spark: "SparkSession", options: Options) -> str | None:
        with opened(spark, address_of(spark, options)) as table:
            metadata = table.metadata()
            return f"{metadata['table-uuid']} {main_snapshot(metadata)} {sorted(metadata.get('refs', {}).items())}"

    def stream_obstacle(self, options: Options) -> str | None:
        fixed = next((name for name in (*AT_OPTIONS, *RANGE) if options.get(name) is not None), None)
        if fixed:
            return f"`{fixed}` reads one state of the table"
        folder = local_folder(options)
        with suppress(UnknownSchemaError):
            if folder is not None and (times := local_times(folder)):
                return f"its column `{times[0]}` is of Iceberg's type time, which Spark cannot read"
        return None

    def stream_identity(self, options: Options) -> str:
        return target_of(options) or ""

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """The rows of the first snapshot that is left, then those that are appended. Snapshots that overwrite or delete
        rows fail the stream, as Iceberg has it."""
        with active_session(spark, spark._jsparkSession):  # whose setting says that `${…}` in a name is no variable
            df = spark.readStream.table(_address(spark, task.options))
        return task.selected(df)

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return target_of(options)

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        return keyed_write_mode(options, table)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        if check_address(options, diagnostics) and (warehouse := options.optional_string("warehouse")):
            check_directory(warehouse, options.span("warehouse"), diagnostics)
        check_partitions(options, table, diagnostics)
        check_sort(options, table, diagnostics)
        check_sink(options, table, diagnostics)

    def target(self, options: Options) -> str | None:
        return target_of(options)

    def known_table(self, options: Options) -> CatalogTable | None:
        folder = local_folder(options) if target_of(options) else None
        with suppress(UnknownSchemaError):
            return None if folder is None else CatalogTable.of("target", local_columns(folder, {}))
        return None

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        address = address_of(spark, task.options)
        with opened(spark, address) as table:
            if address.folder is not None:
                refuse_other_table(*files_at(spark, address.folder), "Iceberg", task.options.span("table"))
            if not table.exists():
                _refuse_without_partitions(task, None)
                return TargetState(exists=False)
            metadata = table.metadata()
            found = table_of(metadata)
            refuse_widening(found, task)
            _refuse_without_partitions(task, metadata)
            _refuse_for_versions(found, task)
            asks_for_rows = task.asks_for_rows
            has_rows = not asks_for_rows or not table.session.table(address.sql).isEmpty()
        return TargetState(True, has_rows, found, incarnation=str(metadata["table-uuid"]))

    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        assert spark is not None, "Iceberg's tables are read with Spark"
        with opened(spark, address_of(spark, task.options)) as table:
            if not table.exists():
                return WriteMark(MarkState.ABSENT)
            return mark_of(table.metadata(), task.identity, WORK, branch_of(task.options), task.micro_batch)

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        return tuple(planned(task, state, actions))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> IcebergStaged:
        return staging.prepare(spark, task, actions)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: IcebergStaged) -> IcebergStaged:
        return staging.stage(spark, df, task, prepared)

    def written(self, staged: IcebergStaged) -> tuple[int, int] | None:
        return None if staged.rows is None else (staged.rows, staged.bytes)

    def commit(self, spark: "SparkSession", staged: IcebergStaged, run: RunContext) -> None:
        staging.commit(spark, staged)

    def kept(self, spark: "SparkSession", staged: IcebergStaged, task: WriteTask) -> IcebergStaged | None:
        return staging.kept(spark, staged, task)

    def way_to_clone(self, options: Options, original: Options) -> str | None:
        branch = branch_of(options)
        is_same = target_of(options) == target_of(original)
        return f"branch `{branch}`" if branch is not None and is_same else None

    def leaves_original(self, options: Options) -> bool:
        return branch_of(options) is not None

    def clone(self, spark: "SparkSession", options: Options, original: Options, *, replaces: bool) -> None:
        branch, address = branch_of(options) or "", address_of(spark, options)
        with opened(spark, address) as table:
            metadata = table.metadata()
            if branch in metadata.get("refs", {}) and not replaces:
                message = f"the branch `{branch}` of `{address}` is there already"
                raise run_error("PEN1667", message, options.span("to_branch"), "`--replace` replaces it")
            table.reset_branch(branch, main_snapshot(metadata))

    def stages_table(self, options: Options, mode: WriteMode) -> bool:
        """A merge is staged on a branch, and what replaces the table as files; replaced partitions are staged alone."""
        return mode not in (WriteMode.APPEND, WriteMode.OVERWRITE_PARTITIONS)

    def staged_table(self, spark: "SparkSession", staged: IcebergStaged, columns: Sequence[str]) -> "DataFrame":
        return staging.staged_table(spark, staged, columns)

    def abort(self, spark: "SparkSession", staged: IcebergStaged, run: RunContext) -> None:
        staging.abort(spark, staged)


connector = Iceberg()
_TIMES: Final = "Spark does not support time fields"


def _address(spark: "SparkSession", options: Options) -> str:
    """The table's name in this session, whose catalog it sets."""
    address = address_of(spark, options)
    open_catalog(spark, spark._jsparkSession, address.catalog, address.settings, address.secrets)
    return address.sql


def _refuse_without_partitions(task: WriteTask, metadata: Metadata | None) -> None:
    """`metadata` of the table, None for a new one."""
    is_new = metadata is None or task.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA
    has_any = bool(task.options.strings("partition_by")) if metadata is None or is_new else has_partitions(metadata)
    diagnostics = Diagnostics()
    refuse_without_partitions(has_any, None if is_new else _shown(task.options), task.options, diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _refuse_for_versions(found: CatalogTable, task: WriteTask) -> None:
    replaces = task.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA or task.data_save_mode is DataSaveMode.DROP_DATA
    if task.write_mode is WriteMode.SCD2 and not replaces:
        diagnostics = Diagnostics()
        refuse_for_versions(found, _shown(task.options), task.options, diagnostics)
        if diagnostics.has_errors:
            raise RunError(diagnostics)


def _recorded_table(options: Options) -> CatalogTable:
    """The table as its directory has it; raises `UnknownSchemaError`."""
    folder = local_folder(options)
    if folder is None:
        raise UnknownSchemaError("its catalog is not asked before the run")
    if options.get("as_of_timestamp") is not None:
        raise UnknownSchemaError("only the run knows which snapshot `as_of_timestamp` means")
    at = {name: options.get(name) for name in AT_OPTIONS}
    return CatalogTable.of(parse_name(options.string("table"))[-1], local_columns(folder, at))


def _refuse_times(options: Options, declared: CatalogTable | None, diagnostics: Diagnostics) -> None:
    """Report columns of a table in a directory that Spark cannot read, unless the job leaves them out."""
    folder = local_folder(options)
    with suppress(UnknownSchemaError):
        times = local_times(folder) if folder is not None else []
        if error := _unread_times(times, declared, options):
            diagnostics.extend([error])


def _unread_times(times: Sequence[str], declared: CatalogTable | None, options: Options) -> Diagnostic | None:
    """The error (PEN4421) of reading a table with these columns of type `time`; None where it can be read."""
    fixed = next((name for name in (*AT_OPTIONS, *RANGE) if options.get(name) is not None), None)
    unread = [name for name in times if declared is None or declared.column(name) is not None]
    if not times or not (unread or fixed):
        return None
    name, span = (unread or times)[0], options.span("table_path" if options.get("table_path") else "table")
    message = f"`{_shown(options)}` has the column `{name}` of Iceberg's type time, which Spark cannot read"
    help = "name the other columns to read: `schema { fields { name = type } }`"
    if fixed and not unread:
        help = f"leave `{fixed}` out: only the latest snapshot of such a table can be read"
    return Diagnostic("PEN4421", message, span, help)


def _without_times(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """The rows of a table that has columns of type `time`, without them. Raises PEN4421 where the job reads one."""
    table = IcebergTable(spark, spark._jsparkSession, address_of(spark, task.options))
    error = _unread_times(times_of(table.metadata()), None if task.table.is_open else task.table, task.options)
    if error is not None:
        raise RunError([error])
    return table.rows_without_times()


def _shown(options: Options) -> str:
    return options.optional_string("table_path") or options.string("table")


def _as_of(options: Options) -> str:
    if options.get("snapshot_id") is not None:
        return f" VERSION AS OF {options.integer('snapshot_id')}"
    if (time := options.optional_string("as_of_timestamp")) is not None:
        return f" TIMESTAMP AS OF {quote_text(time)}"
    named = options.optional_string("branch") or options.optional_string("tag")
    return "" if named is None else f" VERSION AS OF {quote_text(named)}"
