"""What the files at a target hold, read in the format of the sink: whether there are rows, and their schema."""

import glob
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING, is_numeric
from connectors.files.file_options import file_format, partition_columns_of, writer_options
from connectors.files.file_schema import UnknownSchemaError, file_columns
from connectors.files.partition_columns import partition_columns
from connectors.interface.sink import WriteTask
from connectors.shared.spark_types import columns_of
from connectors.storage.paths import data_files, local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_rows(spark: "SparkSession", path: str, options: Options) -> bool:
    kind = file_format(options)
    if kind in ("excel", "binary"):
        return True
    given = writer_options(options)
    return not spark.read.format("text" if kind == "text" else kind).options(**given).load(path).isEmpty()


def target_table(spark: "SparkSession", path: str, task: WriteTask) -> CatalogTable | None:
    """The schema of the files at a target, if the format stores one."""
    kind = file_format(task.options)
    if kind not in WITH_SCHEMA:
        return None
    here = local_path(path)
    found = local_table(here, task.options) if here else None
    if found is None:
        found = CatalogTable.of("target", columns_of(spark.read.format(kind).load(path).schema))
    parts = {name.lower() for name in partition_columns_of(task.options)}
    columns = [
        _as_named(column, task.table.column(column.name)) if column.name.lower() in parts else column
        for column in found.columns
    ]
    return CatalogTable.of("target", columns)


def _as_named(column: Column, given: Column | None) -> Column:
    """A column of directories, with the rows' type where its texts are numbers, which texts or other numbers may be,
    too: readers infer the type `int` of `1` and `2`, whatever was written. Directories by dates take dates."""
    if given is None or not is_numeric(column.type):
        return column
    return replace(column, type=given.type) if given.type == STRING or is_numeric(given.type) else column


WITH_SCHEMA: Final = ("parquet", "orc", "avro")
"""Formats whose files hold their schema."""


def local_table(path: str, options: Options) -> CatalogTable | None:
    """The same for files on this machine; None if there are none, or they cannot be read without Spark."""
    kind, files = file_format(options), data_files(glob.escape(path))
    if kind not in WITH_SCHEMA or not files:
        return None
    try:
        of_path = partition_columns(path, files)
        names = {column.name.lower() for column in of_path}  # in files, too: Spark reads those of the directories
        in_files = [column for column in file_columns(kind, files, None) if column.name.lower() not in names]
        return CatalogTable.of("target", [*in_files, *of_path])
    except UnknownSchemaError:
        return None
