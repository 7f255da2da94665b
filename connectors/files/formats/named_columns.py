"""Reads csv files whose columns are found by the names of their own headers: in any order, with more or fewer columns.

Spark finds the columns of a csv file by their positions in one schema. Files of the same header are read together, each
such set in its own order of columns.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.quoting import quote
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import STRING
from catalog.types.typenames import to_ddl
from connectors.files.declared_files import header_of
from connectors.files.file_schema import UnknownSchemaError, unfit_name
from connectors.files.formats.readers import FileSet, load, plain_reader
from connectors.storage.paths import local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_UNREAD: Final = "__unread_"


def by_header_names(files: FileSet, more: Sequence[Column], given: Mapping[str, str]) -> "DataFrame":
    """The rows with the columns of the files, by their headers, `more`, which Spark's reader fills, and those of paths.

    A column that a file lacks is NULL in its rows. Raises PEN5004 for a header with a name that comes twice, or none.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for file in _listed(files):
        if names := _header(files, file, given):
            groups.setdefault(names, []).append(file)
    if not groups:
        return files.spark.createDataFrame([], columns_to_ddl([*files.in_files, *more, *files.of_path]))
    rows = (_group(files, names, paths, more, given) for names, paths in groups.items())
    return reduce(lambda first, other: first.unionByName(other), rows)


def _listed(files: FileSet) -> list[str]:
    """The files that Spark would read; it lists them, and opens none."""
    opened = plain_reader(files.spark, files.options, "binaryFile", files.root, files.of_path)
    return sorted(row["path"] for row in files.load(opened).where("length > 0").select("path").collect())


def _header(files: FileSet, file: str, given: Mapping[str, str]) -> tuple[str, ...]:
    """The names of a file's header; none where the file has no line."""
    place = files.options.span("path")
    try:
        names = _names(files, file, given)
    except UnknownSchemaError as cause:
        raise run_error("PEN5004", f"the header of `{file}` cannot be read: {cause.reason}", place) from cause
    if names and (why := unfit_name(names)):
        help = "give each column of the header a name of its own"
        raise run_error("PEN5004", f"the header of `{file}` does not name its columns: {why}", place, help)
    return tuple(names)


def _names(files: FileSet, file: str, given: Mapping[str, str]) -> list[str]:
    local = local_path(file)
    if local is not None and local.endswith((".csv", ".txt", ".gz")):
        return header_of(files.options, local)
    first = {**given, "header": "false", "enforceSchema": "true", "mode": "PERMISSIVE"}
    row = load(files.spark.read.format("csv").options(**first), [file]).first()
    return [] if row is None else [str(name or "").removeprefix("\ufeff") for name in row]


def _group(
    files: FileSet, names: Sequence[str], paths: Sequence[str], more: Sequence[Column], given: Mapping[str, str]
) -> "DataFrame":
    """The rows of the files that have one header."""
    by_name = {column.name.lower(): column for column in files.in_files}
    held = {name.lower() for name in names}
    in_file = [by_name.get(name.lower(), Column(f"{_UNREAD}{place}", STRING)) for place, name in enumerate(names)]
    opened = files.reader("csv").options(**{**given, "header": "true", "enforceSchema": "true"})
    df = load(opened.schema(columns_to_ddl([*in_file, *more, *files.of_path])), paths)
    found = [
        quote(column.name)
        if column.name.lower() in held
        else f"cast(null as {to_ddl(column.type)}) as {quote(column.name)}"
        for column in files.in_files
    ]
    return df.selectExpr(*found, *(quote(column.name) for column in (*more, *files.of_path)))
