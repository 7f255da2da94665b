"""Opens Spark's readers of files: which files they read, and with which options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from catalog.options import Options
from catalog.tables.table import Column
from connectors.files.file_options import NO_QUOTE, reader_options
from connectors.files.formats.chosen_files import is_archive, modified_filters
from connectors.storage.paths import readable_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    Reader: TypeAlias = DataFrameReader | DataStreamReader

FILE_DDL: Final = "path string, modificationTime timestamp, length bigint, content binary"
"""The columns of Spark's binaryFile."""


@dataclass(frozen=True, eq=False, slots=True)
class FileSet:
    """Files that are read as one table: `root` is the folder below which directories name the columns `of_path`."""

    spark: "SparkSession"
    options: Options
    paths: Sequence[str]
    root: str | None
    in_files: Sequence[Column]
    of_path: Sequence[Column]
    is_stream: bool

    def reader(self, kind: str) -> "Reader":
        return reader(self.spark, self.options, kind, self.root, self.of_path, is_stream=self.is_stream)

    def load(self, opened: "Reader") -> "DataFrame":
        return load(opened, self.paths)


def plain_reader(
    spark: "SparkSession", options: Options, kind: str, root: str | None, of_path: Sequence[Column]
) -> "DataFrameReader":
    return spark.read.format(kind).options(**_where(options, root, of_path))


def reader(
    spark: "SparkSession",
    options: Options,
    kind: str,
    root: str | None,
    of_path: Sequence[Column],
    *,
    is_stream: bool,
) -> "Reader":
    return (spark.readStream if is_stream else spark.read).format(kind).options(**_where(options, root, of_path))


def _where(options: Options, root: str | None, of_path: Sequence[Column]) -> dict[str, str]:
    """Spark's options for which files are read. It goes into directories that are no `column=value` only if there is
    none of those."""
    found = {}
    is_flat = not of_path and (options.seatunnel is not None or is_archive(options))
    if is_flat or not options.flag("parse_partition_from_path"):
        found["recursiveFileLookup"] = "true"
    elif root is not None:
        found["basePath"] = root
    pattern = options.optional_string("file_filter_pattern")
    if pattern and options.seatunnel is None and not is_archive(options):
        found["pathGlobFilter"] = pattern
    return found | modified_filters(options)


def load(opened: "Reader", paths: Sequence[str]) -> "DataFrame":
    """The rows of files; a stream has one folder."""
    from pyspark.sql.streaming.readwriter import DataStreamReader

    readable = [readable_path(path) for path in paths]
    return opened.load(readable[0]) if isinstance(opened, DataStreamReader) else opened.load(readable)


def given_options(options: Options) -> dict[str, str]:
    found = reader_options(options)
    found.pop("pathGlobFilter", None)
    if found.get("quote") == "":
        found["quote"] = NO_QUOTE
    return found
