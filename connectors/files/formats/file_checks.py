"""Checks the options and columns of file connectors: what a format has, and what its files can hold."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.shown_names import shown_name
from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BINARY, STRING, Array, Map, Struct, has_unknown
from connectors.files.file_options import BROUGHT_CODECS, CODECS_OF_FORMAT, file_format, misplaced
from connectors.files.file_types import can_hold, is_xml_name, unfit_for_avro
from connectors.files.formats.chosen_files import modified_bound
from connectors.files.values.delimited import is_written_as_csv
from connectors.shared.tolerated import report_without_effect
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import local_path
from connectors.storage.table_directories import CONNECTORS, table_format

if TYPE_CHECKING:
    pass


def check_format(options: Options, names: tuple[str, ...], diagnostics: Diagnostics) -> None:
    """Report options, of these names, and codecs that the format does not have."""
    kind = file_format(options)
    for name in misplaced(options, names):
        report_without_effect(name, f"`{name}` has no meaning for {kind} files", None, options, diagnostics)
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
    elif codec and codec.lower() in BROUGHT_CODECS.get(kind, ()):
        message = f"`{codec}` of {kind} files needs a library that Spark does not bring"
        help = "add its jar by `spark.jars` in `env`, or take another codec: zstd, snappy"
        diagnostics.warning("PEN4033", message, options.span("compress_codec"), help)


def warn_of_table(options: Options, diagnostics: Diagnostics) -> None:
    """Warn of a directory of this machine that is a table of a lakehouse: its files hold rows that the table has
    deleted or replaced."""
    path = local_path(options.string("path"))
    found = table_format(LocalFiles(), os.path.abspath(path)) if path is not None else None
    if found is not None:
        message = f"`{options['path']}` is a table of {found}: its files may hold rows that it has deleted or replaced"
        help = f"read it with the connector `{found}`" if found in CONNECTORS else None
        diagnostics.warning("PEN4502", message, options.span("path"), help)


def check_encoding(options: Options, diagnostics: Diagnostics) -> None:
    """Report a character set without a byte order for json files of one row a line, which Spark would refuse in the
    run."""
    encoding = options.string("encoding")
    if file_format(options) == "json" and encoding.lower() in ("utf-16", "utf-32") and not options.flag("multi_line"):
        message = f"{encoding} has no byte order, which Spark needs to find the lines of json files"
        diagnostics.error("PEN2004", message, options.span("encoding"), f'encoding = "{encoding}LE", or "{encoding}BE"')


def check_names(options: Options, diagnostics: Diagnostics) -> None:
    """Report `csv_columns_by_name` without headers, or with types that are read from rows in the run."""
    if not options.flag("csv_columns_by_name") or file_format(options) != "csv":
        return
    place = options.span("csv_columns_by_name")
    if not options.flag("csv_use_header_line"):
        message = "`csv_columns_by_name` needs headers"
        diagnostics.error("PEN2011", message, place, "add `csv_use_header_line = true`")
    elif options.flag("infer_schema"):
        message = "`csv_columns_by_name` excludes `infer_schema`"
        help = "declare the columns in `schema`, or lock their types: `penstock schema sync`"
        diagnostics.error("PEN2011", message, place, help)


def check_modified(options: Options, diagnostics: Diagnostics) -> None:
    """Report bounds of modification times that are no times, and such bounds for archives."""
    for name in ("file_filter_modified_start", "file_filter_modified_end"):
        if not options.get(name):
            continue
        try:
            modified_bound(options, name)
        except ValueError:
            help = f'{name} = "2024-02-29 12:30:00"'
            diagnostics.error("PEN2004", f"`{options[name]}` is not a time", options.span(name), help)
        if options.string("archive_compress_codec").lower() != "none":
            message = f"`{name}` cannot choose files in archives: those are unpacked for each run"
            diagnostics.error("PEN2011", message, options.span(name), "choose the archives by `file_filter_pattern`")


def check_types(kind: str, data: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """Report types that such files cannot hold; Spark would report them only when the job runs."""
    if kind == "binary":
        names = {column.name.lower(): column.type for column in data}
        if names.get("data") != BINARY or names.get("relativepath") != STRING:
            message = "binary files are written from the columns `data` (binary) and `relativePath` (string)"
            diagnostics.error("PEN4003", message, options.span("file_format_type"))
        return
    is_lenient = options.seatunnel is not None or options.flag("types_as_text")  # types as text, as in SeaTunnel
    for column in data:
        if kind == "avro" and (unfit := unfit_for_avro(column)):
            message = f"avro files cannot hold the column `{column.name}`: {unfit}"
            help = "give it a name of letters, digits and `_`, a letter or `_` first"
            diagnostics.error("PEN4003", message, options.span("file_format_type"), help)
        if kind == "xml" and not is_xml_name(column.name):
            message = (
                f"xml files cannot hold the column `{shown_name(column.name)}`: it cannot be the name of an element"
            )
            help = "give it a name of letters, digits, `_`, `-` and `.`, a letter first"
            diagnostics.error("PEN4003", message, options.span("file_format_type"), help)
        if not is_lenient and not has_unknown(column.type) and not can_hold(kind, column.type):
            message = f"{kind} files cannot hold the column `{column.name}` of type {column.type}"
            cast = f"to_json({column.name})" if isinstance(column.type, Array | Map | Struct) else "cast it to string"
            help = f"{cast}, or `types_as_text = true`"
            diagnostics.error("PEN4003", message, options.span("file_format_type"), help)


def check_empty_lines(data: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """Report a single column of text that may be an empty line, which Spark's csv writer omits; lines with a header or
    in another character set are written by it."""
    if file_format(options) != "text" or len(data) != 1 or not is_written_as_csv(options) or options.get("null_format"):
        return
    (column,) = data
    if column.nullable or column.type == STRING:
        message = f"rows in which `{column.name}` is NULL or empty are not written: their lines would be empty"
        help = 'give NULL a text: null_format = "NULL"'
        diagnostics.warning("PEN4034", message, options.span("file_format_type"), help)


def known_columns(option: str, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> set[str]:
    """The columns that an option lists, in lower case; those that the table lacks, or that it lists twice, are
    reported."""
    names = options.strings(option)
    repeated = next((name for name, count in Counter(map(str.lower, names)).items() if count > 1), None)
    if repeated is not None:
        diagnostics.error("PEN2004", f"`{option}` lists the column `{repeated}` twice", options.span(option))
    for name in dict.fromkeys(names):
        if table.column(name) is None:
            hint = did_you_mean(name, table.schema.names)
            diagnostics.error("PEN3004", f"no column `{name}` in `{table.path}`", options.span(option), hint)
    return {name.lower() for name in names}
