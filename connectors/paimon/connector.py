"""Paimon tables on a file system, through pypaimon: rows are written once, and one snapshot makes them the table's."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.options import Option, Options
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath
from catalog.types.datatypes import BIGINT
from connectors.commits.marks import WriteMark
from connectors.files.committing.file_target import check_directory
from connectors.files.file_schema import UnknownSchemaError, foreign_shape
from connectors.interface.incremental import NewRows, Since, incremental_of
from connectors.interface.run_context import RowChanges, RunContext
from connectors.interface.schema_option import declared_table, refuse_missing_columns
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    SupportsCounts,
    SupportsKeptRows,
    SupportsKnownTable,
    SupportsMarks,
    SupportsStatements,
)
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    SupportsHeldPosition,
    SupportsIncremental,
    SupportsStreaming,
    SupportsTableSets,
)
from connectors.lakehouse.write_modes import keyed_write_mode
from connectors.paimon import many_tables, paimon_table
from connectors.paimon.paimon_options import (
    SINK_OPTIONS,
    SOURCE_OPTIONS,
    check_new_table,
    check_sink,
    check_time_travel,
)
from connectors.paimon.paimon_staged import PaimonStaged
from connectors.paimon.scan_table import read_appended, read_table, stream_table
from connectors.paimon.seatunnel_options import completed, seatunnel_write_mode, with_key_of_table
from connectors.paimon.table_address import address_span, check_address, folder_of, path_of, shown
from connectors.paimon.table_files import known_schema, latest_schema, recorded_schema, spans_partitions, table_of
from connectors.paimon.writing import committing, staging
from connectors.paimon.writing.obstacles import refuse_for_table
from connectors.paimon.writing.statements import planned
from connectors.shared.staged import Staged
from connectors.storage.local_files import LocalFiles
from connectors.storage.table_directories import refuse_other_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Paimon(
    Source,
    SupportsTableSets,
    SupportsIncremental,
    SupportsHeldPosition,
    SupportsStreaming,
    Sink[PaimonStaged],
    SupportsKnownTable,
    SupportsStatements,
    SupportsCounts[PaimonStaged],
    SupportsMarks,
    SupportsKeptRows[PaimonStaged],
):
    name: ClassVar[str] = "Paimon"
    tested_against: ClassVar[tuple[str, ...] | None] = ("local disks",)
    doc: ClassVar[str] = (
        "Reads and writes Paimon tables on a file system, by pypaimon in Spark's tasks: tables for appends, and tables "
        "with a primary key."
    )
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(
        column_pushdown=True, filter_pushdown=True, is_cheap=False
    )
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = PaimonStaged
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.UPSERT, WriteMode.OVERWRITE_PARTITIONS, WriteMode.CHANGELOG),
        row_kind_modes=(WriteMode.CHANGELOG, WriteMode.UPSERT),
    )

    def completed(self, options: Options) -> Options:
        found = completed(options)
        is_sink = "schema_save_mode" in options.values
        if options.seatunnel is None or not is_sink or not check_address(found, Diagnostics()):
            return found
        with suppress(RunError, OSError, UnknownSchemaError), foreign_shape("its schema"):
            return with_key_of_table(found, known_schema(folder_of(found)))
        return found

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        return many_tables.tables_of_warehouse(options, diagnostics)

    def table_path(self, options: Options) -> TablePath | None:
        return path_of(options)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_time_travel(options, diagnostics)
        if not many_tables.check_tables(options, diagnostics):
            return (CatalogTable.unknown("paimon"),)
        if declared := declared_table(options, "paimon", diagnostics):
            with suppress(UnknownSchemaError):
                names = _recorded_table(options).schema.names
                named = replace(options, values={**options.values, "path": shown(options)})
                refuse_missing_columns(declared, names, named, diagnostics)
            return (declared,)
        try:
            return (_recorded_table(options),)
        except UnknownSchemaError as cause:
            help = "name its columns: `schema { fields { name = type } }`, or lock them: `penstock schema sync`"
            message = f"the columns of `{shown(options)}` are not known: {cause.reason}"
            diagnostics.error("PEN4002", message, address_span(options), help)
            return (CatalogTable.unknown("paimon"),)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        return _recorded_table(options)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        return task.selected(read_table(spark, task))

    def held_position(self, spark: "SparkSession", options: Options) -> str | None:
        folder = folder_of(options)
        schema = latest_schema(folder)
        return None if schema is None else paimon_table.state_of(folder, schema)

    def own_order(self, options: Options) -> Column | None:
        """Its snapshots; those of a table with a primary key change rows."""
        if incremental_of(options) is None or not check_address(options, Diagnostics()):
            return None
        return None if _has_primary_key(options) else _SNAPSHOT

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        asked = incremental_of(task.options)
        if asked is None or asked.column is not None:
            return super().read_new(spark, task, since)
        return read_appended(spark, task, asked, since)

    def stream_obstacle(self, options: Options) -> str | None:
        fixed = next((name for name in ("snapshot_id", "tag") if options.get(name) is not None), None)
        if fixed:
            return f"`{fixed}` reads one state of the table"
        return "it has a primary key: its snapshots change rows" if _has_primary_key(options) else None

    def stream_identity(self, options: Options) -> str:
        return folder_of(options)

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        """The rows of the table, then those that are appended. Snapshots that replace or remove rows fail the stream,
        as do those that have expired before they were read."""
        return task.selected(stream_table(spark, task))

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return self.target(options)

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        mode = keyed_write_mode(options, table)
        if options.seatunnel is None or not check_address(options, Diagnostics()):
            return mode
        return seatunnel_write_mode(known_schema(folder_of(options)), mode, options, table)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_sink(options, table, diagnostics)
        if not check_address(options, diagnostics):
            return
        check_directory(folder_of(options), address_span(options), diagnostics)
        schema = known_schema(folder_of(options))
        recreates = options.choice("schema_save_mode", SchemaSaveMode) is SchemaSaveMode.RECREATE_SCHEMA
        if schema is None or recreates:
            check_new_table(options, table, diagnostics)
        else:
            with suppress(UnknownSchemaError), foreign_shape("its schema"):  # the run reports what it cannot read
                refuse_for_table(schema, table, options, diagnostics)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        if not options.choice("write_mode", WriteMode).needs_key:
            return ()
        if spans_partitions(known_schema(folder_of(options)) or {}) and not _REPLACES_ALL & set(actions):
            return ("the run fails at its commit if another one writes the table after it has read the table's keys",)
        return ("of two runs that write one key at the same time, either may win",)

    def target(self, options: Options) -> str | None:
        return folder_of(options) if check_address(options, Diagnostics()) else None

    def known_table(self, options: Options) -> CatalogTable | None:
        folder = self.target(options)
        with suppress(RunError, OSError):
            schema = None if folder is None else known_schema(folder)
            return None if schema is None else table_of(schema)
        return None

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        paimon_table.require_pypaimon(task.options.span())
        folder, diagnostics = folder_of(task.options), Diagnostics()
        refuse_other_table(LocalFiles(), folder, "Paimon", address_span(task.options))
        schema = latest_schema(folder)
        if schema is None:
            _refuse_other_files(folder, task.options, diagnostics)
            check_new_table(task.options, task.table, diagnostics)
        else:
            refuse_for_table(schema, task.table, task.options, diagnostics)
        if diagnostics.has_errors:
            raise RunError(diagnostics)
        if schema is None:
            return TargetState(exists=False)
        return TargetState(True, not task.asks_for_rows or paimon_table.has_rows(folder), table_of(schema))

    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        folder = folder_of(task.options)
        with paimon_table.reported(f"the Paimon table `{folder}` cannot be read"):
            return paimon_table.mark_of(folder, task.identity, task.micro_batch)

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        return tuple(planned(task, state, actions))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> PaimonStaged:
        return staging.prepare(task, actions)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: PaimonStaged) -> PaimonStaged:
        return staging.stage(spark, df, task, prepared)

    def written(self, staged: PaimonStaged) -> tuple[int, int] | None:
        return None if staged.rows is None else (staged.rows, staged.bytes)

    def commit(self, spark: "SparkSession", staged: PaimonStaged, run: RunContext) -> None:
        committing.commit(spark, staged)
        if staged.changes:
            run.changes[staged.identity] = RowChanges(*staged.changes)

    def kept(self, spark: "SparkSession", staged: PaimonStaged, task: WriteTask) -> PaimonStaged | None:
        return staging.kept(spark, staged, task)

    def abort(self, spark: "SparkSession", staged: PaimonStaged, run: RunContext) -> None:
        staging.abort(spark, staged)


connector = Paimon()
_REPLACES_ALL: Final = {Action.DROP_AND_CREATE, Action.REPLACE_ROWS}
_SNAPSHOT: Final = Column("snapshot_id", BIGINT)
"""By which `incremental` without a column reads a table."""


def _has_primary_key(options: Options) -> bool:
    schema = known_schema(folder_of(options))
    return bool(schema and schema.get("primaryKeys"))


def _recorded_table(options: Options) -> CatalogTable:
    """The table as its directory has it; raises `UnknownSchemaError`."""
    folder = folder_of(options)
    return table_of(recorded_schema(folder, options), os.path.basename(folder).replace(".", "_") or "paimon")


def _refuse_other_files(folder: str, options: Options, diagnostics: Diagnostics) -> None:
    """A new table is not made among files of another kind."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    others = [name for name in names if name not in ("snapshot", "manifest", "schema", "index", "tag")]
    if os.path.isfile(folder) or any(not _is_staged(os.path.join(folder, name)) for name in others):
        message = f"`{folder}` holds files that are not a Paimon table"
        diagnostics.error("PEN5005", message, address_span(options), "write to another directory")


def _is_staged(path: str) -> bool:
    """Whether a directory holds nothing but what other writes to the new table have staged."""
    if os.path.isfile(path):
        return False
    files = (file for _, _, files in os.walk(path) for file in files)
    return all(file.startswith("penstock-") for file in files)
