"""What a write without rows stages where a target has partitions: Spark's writers leave nothing then.

    data/day=2024-02-01/part-….parquet      no rows; all rows have this day, so it replaces what the day has
    data/day=__HIVE_DEFAULT_PARTITION__/…   no rows, in a new target: its files hold its columns

A file next to the directories would have the partition columns twice for its readers.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from catalog.quoting import quote
from catalog.types.typenames import to_ddl
from connectors.files.committing.file_staged import PARTITIONS, REPLACE, FileStaged
from connectors.shared.constant_columns import constant_columns
from connectors.shared.spark_types import columns_of
from connectors.storage.filesystem import Files, as_uri, files_at
from connectors.storage.paths import is_hidden

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Writer = Callable[["DataFrame", str, list[str]], None]
"""Writes rows into a directory (a URI), partitioned by columns."""


def stage_empty_partition(
    spark: "SparkSession",
    df: "DataFrame",
    files: Files,
    prepared: FileStaged,
    *,
    by: list[str],
    keeps_columns: bool,
    write: Writer,
) -> None:
    """Write a file without rows into the partition that all rows would have been in; or into any, if the target is new.

    Stages nothing where it would replace no partition of the target: the partition is not known, or rows are added.
    `keeps_columns`: whether the partition columns are in the files, too.
    """
    values = constant_columns(df, by)
    is_known = len(values) == len(by)
    if _has_data(spark, prepared) and prepared.mode != REPLACE and not (prepared.mode == PARTITIONS and is_known):
        return
    _, staging = files_at(spark, prepared.staging)
    folder = _folder_of(spark, df, files, f"{staging}/partition", values, by=by, write=write)
    empty = spark.createDataFrame([], df.schema).coalesce(1)
    write(empty if keeps_columns else empty.drop(*by), as_uri(f"{staging}/data/{folder}"), [])


def _folder_of(
    spark: "SparkSession",
    df: "DataFrame",
    files: Files,
    scratch: str,
    values: dict[str, str],
    *,
    by: list[str],
    write: Writer,
) -> str:
    """The directory of a row with these values of its partition columns, as the sink names it."""
    row = [
        f"cast({values.get(column.name, 'null')} as {to_ddl(column.type)}) as {quote(column.name)}"
        for column in columns_of(df.schema)
    ]
    write(spark.range(1).selectExpr(*row), as_uri(scratch), by)
    found = [name for name in files.files(scratch) if not is_hidden(name.rpartition("/")[2])]
    files.delete(scratch)
    return found[0].rpartition("/")[0]


def _has_data(spark: "SparkSession", prepared: FileStaged) -> bool:
    files, target = files_at(spark, prepared.target)
    names = files.files(target) if files.exists(target) else []
    return any(not any(is_hidden(part) for part in name.split("/")) for name in names)
