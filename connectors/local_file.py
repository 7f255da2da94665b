"""Files of csv, json, parquet, orc and text, on this machine or any Hadoop file system."""

import glob
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from catalog.datatypes import STRING, UNKNOWN, Array, Map, Struct, has_unknown
from catalog.diagnostics import Diagnostics, did_you_mean
from catalog.quoting import quote
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.table import CatalogTable, Column, TableSchema
from catalog.typenames import columns_to_ddl
from connectors.support.files import file_commit
from connectors.support.files.declared_files import check_declared, header_of, warn_of_missing_path
from connectors.support.files.file_commit import FileStaged
from connectors.support.files.file_options import (
    CODECS_OF_FORMAT,
    SINK_OPTIONS,
    SOURCE_OPTIONS,
    file_format,
    misplaced,
    reader_options,
    writer_options,
)
from connectors.support.files.file_schema import (
    UnknownSchemaError,
    data_files,
    file_columns,
    local_path,
    near_path,
    partition_columns,
    spark_path,
    target_folder,
    unfit_name,
)
from connectors.support.files.file_types import can_hold
from connectors.support.files.infer_types import infer_types
from connectors.support.files.table_folders import table_folders
from connectors.support.option import Option, Options
from connectors.support.schema_option import declared_table
from connectors.support.sink import Sink, SinkCapabilities, WriteTask
from connectors.support.source import ScanTask, Source, SourceCapabilities
from connectors.support.spark_types import columns_of
from connectors.support.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class LocalFile(Source, Sink[FileStaged]):
    name: ClassVar[str] = "LocalFile"
    doc: ClassVar[str] = "Reads and writes csv, json, parquet, orc and text files, local or of any Hadoop file system."
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    staged_type: ClassVar[type[Staged]] = FileStaged
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.OVERWRITE_PARTITIONS),
    )

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        return table_folders(options, diagnostics)

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        _check_format(options, SOURCE_OPTIONS, diagnostics)
        if options.integer("skip_header_row_number") > 1:
            diagnostics.error("PEN2004", "at most one line can be skipped", options.span("skip_header_row_number"))
        files = _local_files(options)
        if not files:
            warn_of_missing_path(options, diagnostics)
        parts = partition_columns(local_path(options.string("path")) or "", files)
        table = declared_table(options, "local_file", diagnostics)
        if table is not None:
            check_declared(table, options, files, parts, diagnostics)
        else:
            table = _table_of_files(options, files, diagnostics)
            if options.flag("infer_schema") and file_format(options) == "csv":
                unknown = (replace(column, type=UNKNOWN, options={}) for column in table.columns)
                table = replace(table, schema=TableSchema(tuple(unknown)))
        if file_format(options) != "text":  # whose columns may also come from the path
            _check_types(file_format(options), table.columns, options, diagnostics)
        return (_cut(_with_partitions(table, options, parts), options, diagnostics),)

    def is_untyped(self, options: Options) -> bool:
        return file_format(options) == "csv" and not options.get("schema")

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        options = task.options
        reader = spark.read.format(file_format(options)).options(**reader_options(options))
        if self.is_untyped(options) and options.flag("infer_schema"):
            strings = reader.load(spark_path(options.string("path")))
            parts = {column.name for column in strings.schema.fields if column.dataType.typeName() != "string"}
            columns = [column for column in infer_types(strings).columns if column.name not in parts]
            reader = reader.schema(columns_to_ddl(columns))
        elif not task.table.is_open:
            reader = reader.schema(columns_to_ddl(_file_order(task.table, options)))
        if not options.flag("parse_partition_from_path"):
            reader = reader.option("recursiveFileLookup", "true")
        df = reader.load(spark_path(options.string("path")))
        names = task.columns or (() if task.table.is_open else task.table.schema.names)
        return df.select(*(quote(name) for name in names)) if names else df

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        _check_format(options, SINK_OPTIONS, diagnostics)
        file_commit.check_path(options, diagnostics)
        if table.is_open:
            return
        kept = _known_columns("sink_columns", table, options, diagnostics)
        for name in options.strings("partition_by"):
            if table.column(name) is None or (kept and name.lower() not in kept):
                hint = did_you_mean(name, table.schema.names)
                diagnostics.error(
                    "PEN4008", f"no column `{name}` to partition the files by", options.span("partition_by"), hint
                )
        written = [column for column in table.columns if not kept or column.name.lower() in kept]
        parts = {name.lower() for name in options.strings("partition_by")}
        data = [column for column in written if column.name.lower() not in parts]
        if not data and written:
            diagnostics.error(
                "PEN4008", "all columns are in `partition_by`: the files would be empty", options.span("partition_by")
            )
        _check_types(file_format(options), data, options, diagnostics)
        if options["write_mode"] == WriteMode.OVERWRITE_PARTITIONS.value and not parts:
            help = 'partition_by = ["column"]'
            diagnostics.error("PEN2011", "overwrite_partitions needs `partition_by`", options.span("write_mode"), help)

    def target(self, options: Options) -> str | None:
        return target_folder(options.string("path"))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return () if local_path(options.string("path")) else file_commit.caveats(actions)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        reader = spark.read.format(file_format(task.options)).options(**writer_options(task.options))
        return file_commit.inspect(
            spark,
            task,
            schema=lambda path: _target_table(spark, path, task),
            has_rows=lambda path: not reader.load(path).isEmpty(),
        )

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> FileStaged:
        return file_commit.prepare(spark, task, actions)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: FileStaged) -> FileStaged:
        options = task.options
        if names := options.strings("sink_columns"):
            df = df.select(*(quote(name) for name in names))
        parts = list(options.strings("partition_by"))
        if count := options.optional_integer("file_count"):
            df = df.repartition(count, *parts) if parts else df.coalesce(count)

        def write(frame: "DataFrame", folder: str, by: list[str]) -> None:
            writer = frame.write.format(file_format(options)).options(**writer_options(options)).mode("overwrite")
            (writer.partitionBy(*by) if by else writer).save(folder)

        return file_commit.stage(spark, df, task, prepared, by=parts, write=write, end=self.commit)

    def keeps_rows(self, options: Options) -> bool:
        """Not in directories by partition, whose names do not keep a column's type."""
        left_out = options.strings("sink_columns") or options.strings("partition_by")
        return file_format(options) in ("parquet", "orc") and not left_out

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: FileStaged) -> "DataFrame":
        return spark.read.format(file_format(task.options)).load(file_commit.staged_data(spark, staged))

    def commit(self, spark: "SparkSession", staged: FileStaged) -> None:
        file_commit.commit(spark, staged)

    def abort(self, spark: "SparkSession", staged: FileStaged) -> None:
        file_commit.abort(spark, staged)


connector = LocalFile()


def _check_format(options: Options, spec: Sequence[Option], diagnostics: Diagnostics) -> None:
    kind = file_format(options)
    for name in misplaced(options, tuple(option.name for option in spec)):
        diagnostics.error("PEN2011", f"`{name}` has no meaning for {kind} files", options.span(name))
    codec = options.optional_string("compress_codec")
    if (
        codec
        and codec.lower() not in CODECS_OF_FORMAT[kind]
        and "compress_codec" not in misplaced(options, ("compress_codec",))
    ):
        help = "known: " + ", ".join(f"`{known}`" for known in CODECS_OF_FORMAT[kind])
        diagnostics.error(
            "PEN2004", f"{kind} files cannot be compressed by `{codec}`", options.span("compress_codec"), help
        )


def _check_types(kind: str, data: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """What such files cannot hold; Spark would say so only when the job runs."""
    if kind == "text" and (len(data) != 1 or data[0].type not in (STRING, UNKNOWN)):
        diagnostics.error("PEN4003", "text files hold one column, of type string", options.span("file_format_type"))
        return
    for column in data:
        if not has_unknown(column.type) and not can_hold(kind, column.type):
            message = f"{kind} files cannot hold the column `{column.name}` of type {column.type}"
            help = f"to_json({column.name})" if isinstance(column.type, Array | Map | Struct) else "cast it to string"
            diagnostics.error("PEN4003", message, options.span("file_format_type"), help)


def _known_columns(option: str, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> set[str]:
    names = options.strings(option)
    for name in names:
        if table.column(name) is None:
            hint = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN3004", f"no column `{name}` in `{table.path}`", options.span(option), hint)
    return {name.lower() for name in names}


def _cut(table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable:
    """The table of `read_columns`, in their order."""
    names = options.strings("read_columns")
    if not names or table.is_open:
        return table
    _known_columns("read_columns", table, options, diagnostics)
    columns = tuple(column for name in names if (column := table.column(name)))
    return replace(table, schema=TableSchema(columns), partition_keys=())


def _table_of_files(options: Options, files: Sequence[str], diagnostics: Diagnostics) -> CatalogTable:
    has_header = options.flag("csv_use_header_line") or options.integer("skip_header_row_number") == 1

    try:
        if local_path(options.string("path")) is None:
            raise UnknownSchemaError("its file system is not read before the run")
        read_header = partial(header_of, options) if has_header else None
        columns = file_columns(file_format(options), files, read_header)
        if why := unfit_name([column.name for column in columns]):
            raise UnknownSchemaError(why)
        return CatalogTable.of("local_file", columns)
    except UnknownSchemaError as cause:
        near = near_path(options.string("path"))
        named = "name its columns: `schema { fields { name = type } }`, in SQL `CREATE TABLE name (column type, …)`"
        if files and options.flag("csv_use_header_line"):
            named += ", and skip its header: `skip_header_row_number = 1` in place of `csv_use_header_line`"
        help = f"did you mean `{near}`?" if near else named
        message = f"the columns of `{options['path']}` are not known: {cause.reason}"
        diagnostics.error("PEN4002", message, options.span("path"), help)
        return CatalogTable.unknown("local_file")


def _local_files(options: Options) -> list[str]:
    """The files of a source, where this machine holds them."""
    path = local_path(options.string("path"))
    return data_files(path) if path is not None else []


def _with_partitions(table: CatalogTable, options: Options, parts: Sequence[Column]) -> CatalogTable:
    """The table with the columns that its directories make, after those of its files."""
    if table.is_open or not options.flag("parse_partition_from_path"):
        return table
    new = tuple(column for column in parts if table.column(column.name) is None)
    keys = tuple(column.name for column in parts)
    schema = replace(table.schema, columns=(*table.columns, *new))
    return replace(table, schema=schema, partition_keys=tuple(schema.column(key).name for key in keys))  # type: ignore[union-attr]


def _file_order(table: CatalogTable, options: Options) -> Iterable[Column]:
    """The columns as the files have them: `read_columns` may leave out some, which a csv's reader must still know."""
    declared = declared_table(options, "local_file", Diagnostics())
    if declared is None and options.strings("read_columns") and file_format(options) == "csv":
        declared = _table_of_files(options, _local_files(options), Diagnostics())
    known = declared if declared is not None and not declared.is_open else table
    return (*known.columns, *(column for column in table.columns if known.column(column.name) is None))


def _target_table(spark: "SparkSession", path: str, task: WriteTask) -> CatalogTable | None:
    """The schema of the files that stand at a target, where the format keeps one."""
    kind = file_format(task.options)
    if kind not in ("parquet", "orc"):
        return None
    here = local_path(path)
    files = data_files(glob.escape(here)) if here else []
    try:
        columns = [*file_columns(kind, files, None), *partition_columns(here or "", files)]
    except UnknownSchemaError:
        columns = list(columns_of(spark.read.format(kind).load(path).schema))
    return CatalogTable.of("target", columns)
