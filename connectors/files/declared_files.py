"""Checks the declared `schema` of a file source against its files: a mismatch would fail the run."""

import os
from collections.abc import Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.tables.store_assignment import preserves
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import STRING, has_unknown
from connectors.files.file_options import file_format
from connectors.files.file_schema import UnknownSchemaError, csv_header, file_columns
from connectors.files.file_types import can_read_as
from connectors.interface.schema_option import declares_columns, refuse_missing_columns, refuse_schema
from connectors.storage.paths import local_path, near_path

_FOOTERS: Final = 20
"""The most files whose footers are read; of more files, only the first and the last."""


def warn_of_missing_path(options: Options, diagnostics: Diagnostics) -> None:
    """Report a local path without files (PEN4030): a warning, since CI usually has no data."""
    path = local_path(options.string("path"))
    if path is None or not declares_columns(options):
        return
    near = near_path(options.string("path"))
    help = f"did you mean `{near}`?" if near else "a relative path starts where the command is run"
    diagnostics.warning("PEN4030", f"no file is at `{os.path.abspath(path)}`", options.span("path"), help)


def check_declared(
    table: CatalogTable, options: Options, files: Sequence[str], parts: Sequence[Column], diagnostics: Diagnostics
) -> None:
    """Report declared columns and types that differ from the files; `parts`: the columns of their directories."""
    kind = file_format(options)
    if kind == "csv" and options.flag("csv_use_header_line"):
        _check_headers(table, options, files, parts, diagnostics)
    elif kind == "csv" and not options.integer("skip_header_row_number"):
        _warn_of_header(table, options, files, diagnostics)
    if kind in ("parquet", "orc", "avro") and files:
        _check_footers(table, options, files, parts, diagnostics)


def header_of(options: Options, file: str) -> list[str]:
    """The names in the header of a CSV file; raises `UnknownSchemaError`."""
    delimiter = options.optional_string("field_delimiter") or ","
    return csv_header(file, delimiter, options.string("quote_char"), options.string("encoding"))


def _check_headers(
    table: CatalogTable, options: Options, files: Sequence[str], parts: Sequence[Column], diagnostics: Diagnostics
) -> None:
    of_path = {column.name.lower() for column in parts}
    declared = [name for name in table.schema.names if name.lower() not in of_path]
    if options.flag("csv_columns_by_name"):
        _check_names(table, options, files, of_path, diagnostics)
        return
    for file in sorted({files[0], files[-1]} if files else ()):
        try:
            names = header_of(options, file)
        except UnknownSchemaError:
            continue
        if [name.lower() for name in names] == [name.lower() for name in declared]:
            continue
        if len(names) == 1 and len(declared) > 1:
            message = f"the header of `{file}` is one name, `{names[0]}`, but {len(declared)} columns are declared"
            help = "set `field_delimiter` to what separates its values"
            refuse_schema(message, options.span("schema"), help, options, diagnostics)
        elif {name.lower() for name in declared} - {name.lower() for name in names}:
            refuse_missing_columns(table, [*names, *of_path], options, diagnostics)
        else:
            message = f"the header of `{file}` does not name the declared columns in their order: {_listed(names)}"
            help = "declare these names in this order, or find columns by the names: `csv_columns_by_name = true`"
            refuse_schema(message, options.span("schema"), help, options, diagnostics)
        return


def _check_names(
    table: CatalogTable, options: Options, files: Sequence[str], of_path: set[str], diagnostics: Diagnostics
) -> None:
    """Report declared columns that no file's header names; a warning where there are more files than are looked at."""
    looked_at = files if len(files) <= _FOOTERS else (files[0], files[-1])
    held: list[str] = [*of_path]
    for file in looked_at:
        try:
            held += header_of(options, file)
        except UnknownSchemaError:
            return
    if looked_at:
        is_certain = len(looked_at) == len(files)
        refuse_missing_columns(table, list(dict.fromkeys(held)), options, diagnostics, is_certain=is_certain)


def _warn_of_header(table: CatalogTable, options: Options, files: Sequence[str], diagnostics: Diagnostics) -> None:
    """Report a first line that names the declared columns: without an option it is read as a row."""
    try:
        names = header_of(options, files[0]) if files else []
    except UnknownSchemaError:
        return
    if names and {name.strip().lower() for name in names} <= {name.lower() for name in table.schema.names}:
        message = f"the first line of `{files[0]}` is read as a row, and it names columns: {_listed(names)}"
        help = "`csv_use_header_line = true` takes it for a header"
        refuse_schema(message, options.span("path"), help, options, diagnostics, is_certain=False)


def _check_footers(
    table: CatalogTable, options: Options, files: Sequence[str], parts: Sequence[Column], diagnostics: Diagnostics
) -> None:
    kind = file_format(options)
    looked_at = files if len(files) <= _FOOTERS else (files[0], files[-1])
    mark = diagnostics.mark()
    held: dict[str, Column] = {column.name.lower(): column for column in parts}
    try:
        for file in looked_at:
            columns = file_columns(kind, [file], None)
            _check_column_types(table, file, columns, options, diagnostics)
            held |= {column.name.lower(): column for column in columns}
            if mark.has_errors:
                return
    except UnknownSchemaError:
        return
    names = [column.name for column in held.values()]
    refuse_missing_columns(table, names, options, diagnostics, is_certain=len(looked_at) == len(files))


def _check_column_types(
    table: CatalogTable, file: str, columns: Sequence[Column], options: Options, diagnostics: Diagnostics
) -> None:
    kind = file_format(options)
    for column in columns:
        declared = table.column(column.name)
        if kind == "avro" or declared is None or has_unknown(declared.type):
            continue
        if can_read_as(kind, column.type, declared.type):
            _warn_of_loss(column, declared, file, options, diagnostics)
            continue
        place = options.places.get(f"schema.fields.{declared.name}") or options.span("schema")
        message = f"`{declared.name}` is declared {declared.type}, but `{file}` holds {column.type}"
        help = (
            f"declare it {column.type} and cast it in a query; {kind} files hold their types: `schema` may be left out"
        )
        refuse_schema(message, place, help, options, diagnostics)


def _warn_of_loss(column: Column, declared: Column, file: str, options: Options, diagnostics: Diagnostics) -> None:
    """Warn of a declared type that does not hold every value of the files': Spark reads what does not fit as NULL from
    ORC, and with other digits from Parquet."""
    if preserves(column.type, declared.type) and not (column.type == STRING and declared.type != STRING):
        return
    place = options.places.get(f"schema.fields.{declared.name}") or options.span("schema")
    message = f"`{declared.name}` is declared {declared.type}, but `{file}` holds {column.type}: values may change"
    diagnostics.warning("PEN4503", message, place, f"declare it {column.type}, and cast it in a query")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
