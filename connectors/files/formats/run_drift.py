"""Compares files that validation does not see, those of other machines, with the declared columns as a run reads them.

The rules are those of local files (`column_drift`). Of many files the first, the last and two between are looked at.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from connectors.files.column_drift import check_json_fields, report_held, report_json, warn_of_drift
from connectors.files.declared_files import check_declared
from connectors.files.file_options import file_format
from connectors.files.formats.readers import FileSet, load, plain_reader
from connectors.files.json_fields import MOST_ROWS, names_of
from connectors.files.partition_columns import partition_columns
from connectors.interface.schema_option import declares_columns, refuse_missing_columns
from connectors.shared.spark_types import columns_of
from connectors.storage.paths import data_files, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOOKED_AT: Final = 4
_TYPED: Final = ("parquet", "orc", "avro")


def report_drift(files: FileSet, table: CatalogTable) -> Diagnostics:
    """Warnings of columns that differ between the files and the table; raises `RunError` where Spark would read a
    declared column, or one of another case, as NULL in every row."""
    diagnostics, kind = Diagnostics(), file_format(files.options)
    if not files.paths or table.is_open or not declares_columns(files.options) or kind not in (*_TYPED, "json", "csv"):
        return diagnostics
    copies = local_path(files.options.string("path"))
    if copies is not None:
        found = data_files(copies)
        _check_copies(table, files.options, found, _parts(files, copies, found), diagnostics)
    elif kind != "csv":  # Spark compares the headers of those itself
        _check_remote(files, table, kind, diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)
    return diagnostics


def _check_copies(
    table: CatalogTable, options: Options, found: Sequence[str], parts: Sequence[Column], diagnostics: Diagnostics
) -> None:
    check_declared(table, options, found, parts, diagnostics)
    check_json_fields(table, options, found, diagnostics)
    if not diagnostics.has_errors:
        warn_of_drift(table, options, found, parts, diagnostics)


def _check_remote(files: FileSet, table: CatalogTable, kind: str, diagnostics: Diagnostics) -> None:
    listed = _listed(files)
    chosen = _sample(listed)
    if kind == "json":
        if not files.options.flag("multi_line"):
            report_json(table, files.options, {file: _json_names(files, file) for file in chosen}, diagnostics)
        return
    held = {file: columns for file in chosen if (columns := _columns(files, file, kind))}
    parts = _parts(files, files.root or files.options.string("path"), listed)
    names = [column.name for columns in held.values() for column in columns]
    names += [column.name for column in parts]
    if held:
        is_certain = len(held) == len(listed)
        refuse_missing_columns(table, dict.fromkeys(names), files.options, diagnostics, is_certain=is_certain)
    if not diagnostics.has_errors:
        report_held(table, files.options, held, parts, diagnostics)


def _parts(files: FileSet, root: str, found: Sequence[str]) -> list[Column]:
    """The columns of directories, also those that are declared among the others."""
    known = {column.name.lower() for column in files.of_path}
    more = (column for column in partition_columns(root, found) if column.name.lower() not in known)
    return [*files.of_path, *more]


def _listed(files: FileSet) -> list[str]:
    """The files that Spark would read; it lists them, and opens none."""
    opened = plain_reader(files.spark, files.options, "binaryFile", files.root, files.of_path)
    return sorted(row["path"] for row in files.load(opened).where("length > 0").select("path").collect())


def _sample(found: Sequence[str]) -> list[str]:
    step = (len(found) - 1) / (_LOOKED_AT - 1)
    return list(dict.fromkeys(found[round(index * step)] for index in range(_LOOKED_AT))) if found else []


def _columns(files: FileSet, file: str, kind: str) -> list[Column]:
    opened = files.spark.read.format(kind).option("recursiveFileLookup", "true")
    return list(columns_of(load(opened, [file]).schema))


def _json_names(files: FileSet, file: str) -> dict[str, None]:
    lines: DataFrame = load(files.spark.read.format("text"), [file]).limit(MOST_ROWS)
    return dict.fromkeys(name for row in lines.collect() for value in _parsed(row[0]) for name in names_of(value))


def _parsed(line: str) -> Iterator[Any]:
    try:
        yield json.loads(line)
    except ValueError:  # a broken row is an error of the run, with its line
        return
