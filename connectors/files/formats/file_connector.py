"""The file connector: LocalFile uses it unchanged, the others adapt paths and settings to their file system."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option, Options
from catalog.quoting import quote
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TableSchema
from catalog.types.datatypes import BIGINT, BINARY, STRING, UNKNOWN
from connectors.commits.marks import WriteMark
from connectors.files.column_drift import check_json_fields, warn_of_drift
from connectors.files.committing import file_commit, file_target
from connectors.files.committing.file_staged import FileStaged, found_mark, staged_data
from connectors.files.committing.target_rows import has_rows, local_table, target_table
from connectors.files.declared_files import check_declared, warn_of_missing_path
from connectors.files.file_options import SINK_OPTIONS, SOURCE_OPTIONS, file_format, partition_columns_of
from connectors.files.formats.arrivals import MODIFICATION_TIME, arrived, check_arrivals, files_text
from connectors.files.formats.chosen_files import FileList, chosen_files
from connectors.files.formats.file_checks import (
    check_empty_lines,
    check_encoding,
    check_format,
    check_modified,
    check_names,
    check_types,
    known_columns,
    warn_of_table,
)
from connectors.files.formats.read_files import open_files, read_files, stream_of_files
from connectors.files.formats.read_text import with_plain_delimiters
from connectors.files.formats.readers import FileSet
from connectors.files.formats.run_drift import report_drift
from connectors.files.formats.source_tables import (
    chosen_columns,
    file_order,
    found_columns,
    local_files,
    table_of_files,
    with_folders,
    with_partitions,
)
from connectors.files.formats.write_files import rename_files, write_files
from connectors.files.partition_columns import partition_columns
from connectors.files.table_folders import table_folders
from connectors.interface.incremental import NewRows, Since, incremental_of
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table, declares_columns
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.sink_abilities import (
    SupportsKeptRows,
    SupportsKnownTable,
    SupportsMarks,
    SupportsStagedRows,
    SupportsStatements,
)
from connectors.interface.source import ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import (
    SupportsHeldPosition,
    SupportsIncremental,
    SupportsSizeEstimate,
    SupportsStreaming,
    SupportsTableSets,
    SupportsUntypedColumns,
)
from connectors.shared.spark_jars import spark_jar
from connectors.shared.staged import Credentials, Staged
from connectors.storage.filesystem import files_at
from connectors.storage.object_store import StoreSettings, store_jars, store_needs, write_without_renames
from connectors.storage.paths import local_path, size_of, spark_path, target_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FileConnector(
    Source,
    SupportsTableSets,
    SupportsUntypedColumns,
    SupportsSizeEstimate,
    SupportsIncremental,
    SupportsHeldPosition,
    Sink[FileStaged],
    SupportsStatements,
    SupportsKnownTable,
    SupportsStagedRows[FileStaged],
    SupportsMarks,
    SupportsKeptRows[FileStaged],
):
    """Reads and writes files; a file system overrides `located` and `hadoop_settings`."""

    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = FileStaged
    aborts_without_spark: ClassVar[bool] = True
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.OVERWRITE_PARTITIONS),
    )

    def completed(self, options: Options) -> Options:
        return with_plain_delimiters(options)

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        return table_folders(options, diagnostics)

    def is_untyped(self, options: Options) -> bool:
        return file_format(options) == "csv" and not declares_columns(options)

    def located(self, options: Options) -> Options:
        """The options with `path` as Spark reads it: a local path, or a URI."""
        return options

    def hadoop_settings(self, options: Options) -> Mapping[str, str]:
        """Hadoop's settings for the file system of these options."""
        return {}

    def credentials(self, options: Options) -> Credentials:
        return self.store_settings(options).credentials

    def store_settings(self, options: Options) -> StoreSettings:
        """The same for the file system of `path` alone."""
        return StoreSettings.of(self.located(options).string("path"), self.hadoop_settings(options))

    def jars(self, options: Options) -> tuple[str, ...]:
        of_store = store_jars(self.located(options).string("path"), is_written=_is_written(options))
        of_format = (spark_jar("avro"),) if file_format(options) == "avro" else ()
        return tuple(dict.fromkeys((*self.maven, *of_store, *of_format)))

    def needs(self, options: Options) -> tuple[str, ...]:
        return store_needs(self.located(options).string("path"), is_written=_is_written(options))

    def staged_jars(self, staged: FileStaged) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.maven, *store_jars(staged.target))))

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        options = self.located(options)
        check_format(options, _SOURCE_NAMES, diagnostics)
        check_encoding(options, diagnostics)
        check_arrivals(options, diagnostics)
        check_modified(options, diagnostics)
        check_names(options, diagnostics)
        if file_format(options) == "binary":
            return (BINARY_TABLE,)
        if file_format(options) == "xml" and not options.get("xml_row_tag"):
            help = 'xml_row_tag = "RECORD"'
            diagnostics.error("PEN2005", "an xml source needs `xml_row_tag`", options.span("file_format_type"), help)
        is_archive = options.string("archive_compress_codec").lower() != "none"
        files = [] if options.is_foreseen else local_files(options)
        if not files and not options.is_foreseen:
            warn_of_missing_path(options, diagnostics)
        warn_of_table(options, diagnostics)
        parts = partition_columns(local_path(options.string("path")) or "", files)
        files = [] if is_archive else files
        mark = diagnostics.mark()
        table = declared_table(options, "local_file", diagnostics)
        if table is not None and table.columns:
            check_declared(table, options, files, parts, diagnostics)
        else:
            table = table_of_files(options, files, diagnostics)
            if options.flag("infer_schema") and file_format(options) == "csv":
                unknown = (replace(column, type=UNKNOWN, options={}) for column in table.columns)
                table = replace(table, schema=TableSchema(tuple(unknown)))
        if declares_columns(options):
            check_json_fields(table, options, files, diagnostics)
        if not mark.has_errors:
            warn_of_drift(table, options, files, parts, diagnostics)
        check_types(file_format(options), table.columns, options, diagnostics)
        if options.seatunnel is not None and options.seatunnel.is_open:
            message = f"no file at `{options['path']}` is visible: columns that `schema` lacks must be its directories'"
            help = "SeaTunnel reads `in/day=1/a.csv` with the column `day`"
            diagnostics.warning("PEN4002", message, options.span("path"), help)
            table = replace(table, is_open=True)
        return (chosen_columns(with_partitions(table, options, parts), options, diagnostics),)

    def has_unseen_columns(self, options: Options) -> bool:
        is_read = options.seatunnel is not None and options.flag("parse_partition_from_path")
        return is_read and declares_columns(options) and not local_files(self.located(options))

    def own_order(self, options: Options) -> Column | None:
        return MODIFICATION_TIME

    def repeats_within_lag(self, options: Options) -> bool:
        asked = incremental_of(options)
        return asked is not None and asked.column is not None

    def input_bytes(self, options: Options, table: CatalogTable) -> int | None:
        options = self.located(options)
        path = local_path(options.string("path"))
        return None if path is None else size_of(local_files(options))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        return self._read(spark, task, self._open(spark, task.options))

    def read_new(self, spark: "SparkSession", task: ScanTask, since: Since) -> NewRows:
        asked = incremental_of(task.options)
        if asked is None or asked.column is not None:
            return super().read_new(spark, task, since)
        options = self._open(spark, task.options)
        files, reached = arrived(spark, options, asked, since)
        return NewRows(self._read(spark, task, options, files), lambda: reached)

    def held_position(self, spark: "SparkSession", options: Options) -> str | None:
        return files_text(spark, self._open(spark, options))

    def _read(
        self, spark: "SparkSession", task: ScanTask, options: Options, chosen: FileList | None = None
    ) -> "DataFrame":
        table = task.table
        if table.is_open and declares_columns(options):
            table = with_folders(spark, table, options)
        if table.is_open and options.seatunnel is not None:
            in_files, of_path, names = found_columns(spark, options, chosen)
        elif table.is_open or (self.is_untyped(options) and options.flag("infer_schema")):
            df = open_files(spark, options, chosen)
            return task.selected(df)
        else:
            (in_files, of_path), names = file_order(table, options), table.schema.names
        if local_path(self.located(task.options).string("path")) is None:  # else validation has seen the files
            chosen = chosen or chosen_files(spark, options)
            for warning in report_drift(FileSet(spark, options, *chosen, in_files, of_path, False), table):
                task.report(warning)
        df = read_files(spark, options, in_files, of_path, chosen)
        return df.select(*(quote(name) for name in task.columns or names))

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        options = self.located(options)
        check_format(options, _SINK_NAMES, diagnostics)
        file_target.check_path(options, diagnostics)
        if table.is_open:
            return
        kept = known_columns("sink_columns", table, options, diagnostics)
        by = partition_columns_of(options)
        for name in by:
            if table.column(name) is None or (kept and name.lower() not in kept):
                hint = did_you_mean(name, table.schema.names)
                diagnostics.error(
                    "PEN4008", f"no column `{name}` to partition the files by", options.span("partition_by"), hint
                )
        written = [column for column in table.columns if not kept or column.name.lower() in kept]
        parts = {name.lower() for name in by}
        if by and file_format(options) in ("excel", "binary"):
            message = f"{file_format(options)} files cannot be in directories by `partition_by`"
            diagnostics.error("PEN2011", message, options.span("partition_by"))
        data = [column for column in written if column.name.lower() not in parts]
        if not data and written and not options.flag("is_partition_field_write_in_file"):
            diagnostics.error(
                "PEN4008", "all columns are in `partition_by`: the files would be empty", options.span("partition_by")
            )
        check_types(file_format(options), data, options, diagnostics)
        check_empty_lines(data, options, diagnostics)
        if options["write_mode"] == WriteMode.OVERWRITE_PARTITIONS.value and not parts:
            help = 'partition_by = ["column"]'
            diagnostics.error("PEN2011", "overwrite_partitions needs `partition_by`", options.span("write_mode"), help)

    def target(self, options: Options) -> str | None:
        return target_folder(self.located(options).string("path"))

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return self.target(options)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        path = self.located(options).string("path")
        return () if local_path(path) else file_target.caveats(actions, path)

    def known_table(self, options: Options) -> CatalogTable | None:
        options = self.located(options)
        here = local_path(options.string("path"))
        table = None if here is None else local_table(here, options)
        parts = {name.lower() for name in partition_columns_of(options)}
        if table is None or not parts:
            return table
        columns = tuple(  # names of directories have no types
            replace(column, type=UNKNOWN) if column.name.lower() in parts else column for column in table.columns
        )
        return replace(table, schema=replace(table.schema, columns=columns))

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        task = self._opened(spark, task)
        return file_target.inspect(
            spark,
            task,
            schema=lambda path: target_table(spark, path, task),
            has_rows=lambda path: has_rows(spark, path, task.options),
        )

    def mark(self, spark: "SparkSession | None", task: WriteTask) -> WriteMark:
        options = self.located(task.options) if spark is None else self._opened(spark, task).options
        files, target = files_at(spark, options.string("path"))
        return found_mark(files, task.identity, target, task.micro_batch)

    def shows_marks_without_spark(self, options: Options) -> bool:
        return local_path(self.located(options).string("path")) is not None

    def statements(
        self, spark: "SparkSession", task: WriteTask, state: TargetState, actions: Sequence[Action]
    ) -> tuple[str, ...]:
        return file_target.statements(replace(task, options=self.located(task.options)), actions)

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> FileStaged:
        return file_commit.prepare(spark, self._opened(spark, task), actions, self.store_settings(task.options))

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: FileStaged) -> FileStaged:
        task = self._opened(spark, task)
        options = task.options
        if names := options.strings("sink_columns"):
            df = df.select(*(quote(name) for name in names))
        parts = partition_columns_of(options)
        if count := options.optional_integer("file_count"):
            df = df.repartition(count, *parts) if parts else df.coalesce(count)

        def write(frame: "DataFrame", folder: str, by: list[str]) -> None:
            self.write_staged(spark, frame, task, folder, by=by, target=prepared.target)

        return file_commit.stage(spark, df, task, prepared, by=parts, write=write)

    def write_staged(
        self, spark: "SparkSession", df: "DataFrame", task: WriteTask, folder: str, *, by: Sequence[str], target: str
    ) -> None:
        """Write the rows as files into a staging directory (a URI)."""
        write_without_renames(df.sparkSession, folder)
        write_files(spark, df, folder, by, task.options)
        rename_files(spark, folder, target, by, options=task.options, run_id=task.run_id)

    def _open(self, spark: "SparkSession", options: Options) -> Options:
        """Prepare the session for the file system, and return the options for Spark."""
        self.store_settings(options).apply(spark)
        return self.located(options)

    def _opened(self, spark: "SparkSession", task: WriteTask) -> WriteTask:
        return replace(task, options=self._open(spark, task.options))

    def keeps_rows(self, options: Options) -> bool:
        """Not with partition directories, whose names do not preserve a column's type."""
        left_out = options.strings("sink_columns") or partition_columns_of(options)
        return file_format(options) in ("parquet", "orc") and not left_out

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: FileStaged) -> "DataFrame":
        return spark.read.format(file_format(task.options)).load(staged_data(spark, staged))

    def commit(self, spark: "SparkSession", staged: FileStaged, run: RunContext) -> None:
        file_commit.commit(spark, staged, run)

    def kept(self, spark: "SparkSession", staged: FileStaged, task: WriteTask) -> FileStaged | None:
        return file_commit.kept(spark, staged, task)

    def abort(self, spark: "SparkSession", staged: FileStaged, run: RunContext) -> None:
        file_commit.abort(spark, staged, run)


class StreamedFileConnector(FileConnector, SupportsStreaming):
    """Files of a file system of Hadoop, which Spark also reads as they arrive."""

    def stream_obstacle(self, options: Options) -> str | None:
        if str(options["archive_compress_codec"]).lower() != "none":
            return "archives are unpacked as a whole"
        if options.get("filename_extension") or (options.seatunnel is not None and options.get("file_filter_pattern")):
            return "files are chosen by `path` alone"
        local = local_path(str(self.located(options)["path"]))
        if any(character in str(options["path"]) for character in "*?[{") or (local and os.path.isfile(local)):
            return "`path` must be a folder: new files are found in it"
        return "the types of a CSV are read from its rows" if options.flag("infer_schema") else None

    def streamed_rows_obstacle(self, options: Options, table: CatalogTable) -> str | None:
        if options.flag("csv_columns_by_name"):
            return "its files are read by their headers: `csv_columns_by_name`"
        if table.is_open:
            return "its columns are not known: give it a `schema`"
        if file_format(self.located(options)) == "excel":
            return "workbooks are read as a whole"
        bound = next(
            (name for name in ("file_filter_modified_start", "file_filter_modified_end") if options.get(name)), None
        )
        return f"it has no `{bound}`" if bound else None

    def streamed_rows(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        options = self._open(spark, task.options)
        in_files, of_path = file_order(task.table, options)
        df = read_files(spark, options, in_files, of_path, is_stream=True)
        return df.select(*(quote(name) for name in task.columns or task.table.schema.names))

    def stream_identity(self, options: Options) -> str:
        return spark_path(self.located(options).string("path"))

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        return stream_of_files(spark, self._open(spark, task.options))

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        """The rows of the files that have arrived, read as in batch."""
        options = self._open(spark, task.options)
        files = sorted(str(row.path) for row in batch.collect())
        return self._read(spark, task, options, (files, spark_path(options.string("path"))))


BINARY_TABLE: Final = CatalogTable.of(
    "local_file", (Column("data", BINARY), Column("relativePath", STRING), Column("partIndex", BIGINT))
)
"""What binary files are as rows: each file's bytes and its path below the source's."""


_SOURCE_NAMES: Final = tuple(option.name for option in SOURCE_OPTIONS)
_SINK_NAMES: Final = tuple(option.name for option in SINK_OPTIONS)


def _is_written(options: Options) -> bool:
    """Whether these are the options of a sink."""
    return "data_save_mode" in options.values
