"""What the files at a target hold, read in the format of the sink: whether there are rows, and their schema."""

import glob
from typing import TYPE_CHECKING

from catalog.options import Options
from catalog.tables.table import CatalogTable
from connectors.files.file_options import file_format, writer_options
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
    if kind not in ("parquet", "orc"):
        return None
    here = local_path(path)
    files = data_files(glob.escape(here)) if here else []
    try:
        columns = [*file_columns(kind, files, None), *partition_columns(here or "", files)]
    except UnknownSchemaError:
        columns = list(columns_of(spark.read.format(kind).load(path).schema))
    return CatalogTable.of("target", columns)
