"""The table of a file source: of its files, its directories and the columns that its options choose."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column, TableSchema
from catalog.types.datatypes import STRING
from connectors.files.declared_files import header_of
from connectors.files.file_options import file_format
from connectors.files.file_schema import (
    UnknownSchemaError,
    UnreadableFileError,
    UnreadSchemaError,
    file_columns,
    unfit_name,
)
from connectors.files.formats.chosen_files import FileList, listed
from connectors.files.formats.read_files import open_files
from connectors.files.partition_columns import partition_columns
from connectors.interface.schema_option import declared_table
from connectors.shared.spark_types import columns_of
from connectors.storage.paths import data_files, local_path, near_path, spark_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from connectors.files.formats.file_checks import known_columns


def chosen_columns(table: CatalogTable, options: Options, diagnostics: Diagnostics) -> CatalogTable:
    """The table of `read_columns`, in their order."""
    names = options.strings("read_columns")
    if not names or table.is_open:
        return table
    known_columns("read_columns", table, options, diagnostics)
    columns = list({column.name: column for name in names if (column := table.column(name))}.values())
    if options.seatunnel is not None:  # SeaTunnel keeps the columns of directories
        columns += [column for key in table.partition_keys if (column := table.column(key)) and column not in columns]
    return replace(table, schema=TableSchema(tuple(columns)), partition_keys=())


def table_of_files(options: Options, files: Sequence[str], diagnostics: Diagnostics) -> CatalogTable:
    """The table as the files have it; unknown where they cannot be read, which is reported."""
    if file_format(options) == "text" or _is_text_in_seatunnel(options, files):
        name = "content" if options.seatunnel else "value"
        return CatalogTable.of("local_file", (Column(name, STRING),))
    has_header = options.flag("csv_use_header_line") or options.integer("skip_header_row_number") == 1

    try:
        if local_path(options.string("path")) is None:
            if options.seatunnel is not None:
                raise UnreadSchemaError("its file system is not read before the run")
            raise UnknownSchemaError("its file system is not read before the run")
        if options.seatunnel is not None and not files and file_format(options) in ("parquet", "orc", "avro"):
            raise UnreadSchemaError("no file is there")
        read_header = partial(header_of, options) if has_header else None
        if read_header and options.flag("csv_columns_by_name"):
            read_header = partial(_all_headers, options, files)
        columns = file_columns(file_format(options), files, read_header)
        if why := unfit_name([column.name for column in columns]):
            raise UnknownSchemaError(why)
        return CatalogTable.of("local_file", columns)
    except UnreadSchemaError as cause:
        near = near_path(options.string("path"))
        help = f"did you mean `{near}`?" if near else "Spark reads them when the job runs"
        message = f"the columns of `{options['path']}` are not checked: {cause.reason}"
        diagnostics.warning("PEN4002", message, options.span("path"), help)
        return CatalogTable.unknown("local_file")
    except UnknownSchemaError as cause:
        near = near_path(options.string("path"))
        named = "name its columns: `schema { fields { name = type } }`, in SQL `CREATE TABLE name (column type, …)`"
        if isinstance(cause, UnreadableFileError):
            named = (
                "check that the file is whole, and that `file_format_type` is its format: a run cannot read it either"
            )
        elif not files and (path := local_path(options.string("path"))) is not None:
            named = f"it means `{os.path.abspath(path)}`, from where the command is run; if files come later, {named}"
        elif files and options.flag("csv_use_header_line"):
            named += ", and skip its header: `skip_header_row_number = 1` in place of `csv_use_header_line`"
        help = f"did you mean `{near}`?" if near else named
        message = f"the columns of `{options['path']}` are not known: {cause.reason}"
        diagnostics.error("PEN4002", message, options.span("path"), help)
        return CatalogTable.unknown("local_file")


def _all_headers(options: Options, files: Sequence[str], first: str) -> list[str]:
    """The names of the headers of all files, those of the first one first."""
    by_name: dict[str, str] = {}
    for file in (first, *files):
        by_name |= {name.lower(): name for name in header_of(options, file) if name.lower() not in by_name}
    return list(by_name.values())


def _is_text_in_seatunnel(options: Options, files: Sequence[str]) -> bool:
    """Whether SeaTunnel takes the rows for lines of text: those of a csv without a schema, and of an empty folder."""
    if options.seatunnel is None:
        return False
    path = local_path(options.string("path"))
    is_empty = path is not None and not files and os.path.isdir(path)
    return is_empty or (file_format(options) == "csv" and not options.flag("csv_use_header_line"))


def local_files(options: Options) -> list[str]:
    """The files of a source, if they are local."""
    path = local_path(options.string("path"))
    return data_files(path) if path is not None else []


def with_partitions(table: CatalogTable, options: Options, parts: Sequence[Column]) -> CatalogTable:
    """The table with the columns of its directories after those of its files."""
    if not parts or table.is_open or not options.flag("parse_partition_from_path"):
        return table
    new = tuple(column for column in parts if table.column(column.name) is None)
    keys = tuple(column.name for column in parts)
    if options.seatunnel is not None:  # in SeaTunnel they are strings
        new = tuple(replace(column, type=STRING) for column in new)
    schema = replace(table.schema, columns=(*table.columns, *new))
    return replace(table, schema=schema, partition_keys=tuple(schema.column(key).name for key in keys))  # type: ignore[union-attr]


def with_folders(spark: "SparkSession", table: CatalogTable, options: Options) -> CatalogTable:
    """A table whose directories were not visible before the run, with their columns."""
    parts = partition_columns(*listed(spark, spark_path(options.string("path"))))
    return chosen_columns(with_partitions(replace(table, is_open=False), options, parts), options, Diagnostics())


def found_columns(
    spark: "SparkSession", options: Options, chosen: FileList | None
) -> tuple[tuple[Column, ...], tuple[Column, ...], tuple[str, ...]]:
    """Of files that were not visible before the run: their columns as Spark reads them, those of their directories, and
    the names of the columns that the options choose. An empty directory has lines of text, as in SeaTunnel."""
    root, files = listed(spark, spark_path(options.string("path")))
    if not files:
        table = CatalogTable.of("local_file", (Column("content", STRING),))
        return table.columns, (), table.schema.names
    in_files = columns_of(open_files(spark, options, chosen).schema)
    held = CatalogTable.of("local_file", in_files)
    table = with_partitions(held, options, partition_columns(root, files))
    of_path = tuple(column for column in table.columns if held.column(column.name) is None)
    return in_files, of_path, chosen_columns(table, options, Diagnostics()).schema.names


def file_order(table: CatalogTable, options: Options) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """The columns in the order of the files, without those that `read_columns` omits, then those of directories."""
    known = declared_table(options, "local_file", Diagnostics())
    if known is None or not known.columns:
        known = table_of_files(options, local_files(options), Diagnostics())
    if known.is_open:
        known = table
    own = {column.name.lower(): column for column in table.columns}
    in_files = tuple(own.get(column.name.lower(), column) for column in known.columns)
    return in_files, tuple(column for column in table.columns if known.column(column.name) is None)
