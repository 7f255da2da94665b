"""Which files of a source are read: by path, name, extension and time of change, unpacked from archives."""

import os
import re
from datetime import datetime, timedelta
from fnmatch import fnmatch
from typing import TYPE_CHECKING, TypeAlias

from catalog.iso_time import iso_time
from catalog.options import Options
from catalog.patterns import user_pattern
from connectors.files.file_options import CODECS_OF_FORMAT, TEXT_CODECS, file_format
from connectors.files.formats.archives import unpacked
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.paths import data_files, is_hidden, local_path, spark_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FileList: TypeAlias = tuple[list[str], str | None]
"""Files to read, and the directory from which `column=value` directories count."""


def chosen_files(spark: "SparkSession", options: Options) -> FileList:
    """The paths for Spark, and the directory below which `column=value` directories are columns."""
    path = spark_path(options.string("path"))
    filters = (options.optional_string("file_filter_pattern"), options.optional_string("filename_extension"))
    is_filtered = bool(filters[1]) or (filters[0] is not None and options.seatunnel is not None)
    is_lzo = (
        str(options.get("compress_codec")).lower() == "lzo" and CODECS_OF_FORMAT[file_format(options)] is TEXT_CODECS
    )
    if not is_archive(options) and not is_filtered and not is_lzo:
        return [path], None
    root, found = listed(spark, path)
    if not found and _is_missing(spark, path):
        return [path], None  # Spark reports it
    kept = [file for file in found if passes(file, options)]
    if is_lzo and any(not file.endswith(".lzo") for file in kept):  # SeaTunnel's names end with `.lzo.txt`
        target = unpacked(spark, kept, root, "lzo")
        return [as_uri(file) for file in data_files(target)], as_uri(target)
    if not is_archive(options):
        return [as_uri(file) for file in kept], as_uri(root)
    target = unpacked(spark, kept, root, options.string("archive_compress_codec").lower())
    return [as_uri(target)] if kept else [], as_uri(target)


def listed(spark: "SparkSession", path: str) -> tuple[str, list[str]]:
    """The directory and the files below it."""
    local = local_path(path)
    if local is not None:
        root = local if os.path.isdir(local) else os.path.dirname(re.split(r"[*?\[{]", local)[0]) or "."
        return os.path.realpath(root), [os.path.realpath(file) for file in data_files(local)]
    files, absolute = files_at(spark, path)
    if files.is_file(absolute):
        return absolute.rpartition("/")[0], [absolute]
    names = [name for name in files.files(absolute) if not any(is_hidden(part) for part in name.split("/"))]
    return absolute, [f"{absolute}/{name}" for name in names]


def _is_missing(spark: "SparkSession", path: str) -> bool:
    """Whether nothing is at a path where no file was found; an empty directory is there."""
    local = local_path(path)
    if local is not None:
        return not os.path.isdir(local)
    files, absolute = files_at(spark, path)
    return not files.exists(absolute)


def passes(file: str, options: Options) -> bool:
    name = file.rpartition("/")[2]
    extension = options.optional_string("filename_extension")
    if extension and not name.endswith(extension):
        return False
    pattern = options.optional_string("file_filter_pattern")
    if pattern is None:
        return True
    if options.seatunnel is None:
        return fnmatch(name, pattern)
    matches = user_pattern(pattern).fullmatch
    return matches(name) or matches(file)


def modified_filters(options: Options) -> dict[str, str]:
    """Spark's filters by the time of the last change. Both of its bounds are exclusive."""
    start, end = (
        modified_bound(options, "file_filter_modified_start"),
        modified_bound(options, "file_filter_modified_end"),
    )
    first = {"modifiedAfter": _moment(start - timedelta(milliseconds=1))} if start else {}
    return first | ({"modifiedBefore": _moment(end)} if end else {})


def modified_bound(options: Options, name: str) -> datetime | None:
    """The time that the option names; raises `ValueError` if it is none."""
    text = options.optional_string(name)
    return iso_time(text) if text else None


def _moment(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds") + "Z"


def is_archive(options: Options) -> bool:
    return options.string("archive_compress_codec").lower() != "none"
