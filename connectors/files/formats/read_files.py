"""Reads files as rows; Spark SQL around Spark's readers adds what they lack."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import STRING, Decimal, parts
from connectors.files.file_options import XML_ATTRIBUTE, file_format
from connectors.files.formats.chosen_files import FileList, chosen_files
from connectors.files.formats.json_lines import refuse_further_values
from connectors.files.formats.named_columns import by_header_names
from connectors.files.formats.read_text import delimited, needs_lines, of_lines
from connectors.files.formats.readers import FILE_DDL, FileSet, given_options, load, plain_reader, reader
from connectors.files.formats.scanned_files import may_hold_blank_rows, may_hold_quotes
from connectors.files.formats.whole_json import reads_whole_json, with_refused_rest
from connectors.files.infer_types import infer_types
from connectors.files.values.delimited import is_delimited
from connectors.files.values.malformed_rows import drops_rows, record_column, without_malformed
from connectors.files.values.stored_values import are_attributes, checked, converted, read_type
from connectors.interface.schema_option import declares_columns
from connectors.shared.spark_types import columns_of
from connectors.storage.filesystem import as_uri
from connectors.storage.paths import local_path, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from connectors.files.formats.readers import Reader

_SPARK_CHARSETS: Final = ("us-ascii", "iso-8859-1", "utf-8", "utf-16be", "utf-16le", "utf-16", "utf-32")


def read_files(
    spark: "SparkSession",
    options: Options,
    in_files: Sequence[Column],
    of_path: Sequence[Column],
    chosen: FileList | None = None,
    *,
    is_stream: bool = False,
) -> "DataFrame":
    """The rows with the columns of files and directories, in their declared types. `is_stream`: a streaming
    DataFrame of the files that arrive in a folder."""
    allow_charset(spark, options)
    paths, root = chosen_files(spark, options) if chosen is None else chosen
    ddl = columns_to_ddl([*in_files, *of_path])
    if not paths:
        return spark.createDataFrame([], ddl)
    kind = file_format(options)
    if kind == "binary":
        return _binary(spark, options, paths, root, is_stream=is_stream)
    if kind == "excel":
        from connectors.files.formats.workbooks import workbook_rows

        return converted(
            workbook_rows(plain_reader(spark, options, "binaryFile", root, of_path), paths, options, in_files),
            in_files,
            of_path,
            options,
        )
    if needs_lines(options) or is_delimited(options, in_files):
        files = FileSet(spark, options, paths, root, in_files, of_path, is_stream)
        lines = of_lines(files) if needs_lines(options) else delimited(files)
        return converted(lines, in_files, of_path, options)
    if not is_stream:
        refuse_further_values(paths, options)
    prefix, is_attribute = (XML_ATTRIBUTE, True) if are_attributes(options) else ("", False)
    stored = [
        Column(prefix + column.name, STRING if is_attribute else read_type(column, options), column.nullable)
        for column in in_files
    ]
    stored += record_column(options)
    is_text = len(in_files) == 1 and in_files[0].type == STRING
    given = _whole_rows(None if is_stream else paths, options, is_text=is_text)
    if kind == "json" and _has_decimals(in_files) and not {"date_format", "datetime_format"} & set(options.places):
        given["locale"] = _STRICT_NUMBERS
    opened = reader(spark, options, kind, root, of_path, is_stream=is_stream).options(**given)
    if kind == "csv" and options.flag("csv_columns_by_name"):
        own, more = stored[: len(in_files)], stored[len(in_files) :]
        files = FileSet(spark, options, paths, root, own, of_path, is_stream)
        return converted(by_header_names(files, more, given), in_files, of_path, options)
    df = load(opened.schema(columns_to_ddl([*stored, *of_path])), paths)
    if reads_whole_json(options):
        df = with_refused_rest(df, reader(spark, options, "text", root, (), is_stream=is_stream), paths, options)
    if is_attribute:
        df = df.selectExpr(
            *(f"{quote(prefix + column.name)} as {quote(column.name)}" for column in in_files),
            *(quote(column.name) for column in (*record_column(options), *of_path)),
        )
    return converted(df, in_files, of_path, options)


_WIDE: Final = ("utf-16", "utf-32")
"""Character sets of which each character has several bytes."""
_STRICT_NUMBERS: Final = "en-CH"
"""A locale in whose numbers a comma means nothing: by default, Spark takes it out of the texts of decimals in JSON, and
`"1,10"` is 110. Its names of months are English."""


def _has_decimals(columns: Sequence[Column]) -> bool:
    return any(isinstance(part, Decimal) for column in columns for part in parts(column.type))


def open_files(spark: "SparkSession", options: Options, chosen: FileList | None = None) -> "DataFrame":
    """The rows of files whose columns only Spark can determine."""
    allow_charset(spark, options)
    paths, root = chosen_files(spark, options) if chosen is None else chosen
    refuse_further_values(paths, options)
    given = _whole_rows(paths, options)
    opened = plain_reader(spark, options, file_format(options), root, ()).options(**given)
    if reads_whole_json(options):
        return with_refused_rest(load(opened, paths), plain_reader(spark, options, "text", root, ()), paths, options)
    if file_format(options) != "csv" or declares_columns(options) or not options.flag("infer_schema"):
        return checked(_without_malformed(load(opened, paths), opened, paths, options), options)
    strings = load(opened, paths)
    of_path = {column.name for column in strings.schema.fields if column.dataType.typeName() != "string"}
    columns = [column for column in infer_types(strings).columns if column.name not in of_path]
    typed = load(opened.schema(columns_to_ddl([*columns, *record_column(options)])), paths)
    return checked(without_malformed(typed, columns, (), options), options)


def _without_malformed(df: "DataFrame", opened: "Reader", paths: Sequence[str], options: Options) -> "DataFrame":
    """The rows that fit the columns that Spark found."""
    if not drops_rows(options):
        return df
    columns = columns_of(df.schema)
    typed = load(opened.schema(columns_to_ddl([*columns, *record_column(options)])), paths)
    return without_malformed(typed, columns, (), options)


def _whole_rows(paths: Sequence[str] | None, options: Options, *, is_text: bool = False) -> dict[str, str]:
    """The reader's options; csv files are read as a whole where Spark would else lose or break rows."""
    given = given_options(options)
    if file_format(options) == "csv" and options.string("encoding").lower().startswith(_WIDE):
        given["multiLine"] = "true"  # Spark finds the lines of other files by single bytes
    elif file_format(options) == "csv" and "multi_line" not in options.places and not options.flag("multi_line"):
        breaks = options.seatunnel is not None and may_hold_quotes(paths, options)
        given["multiLine"] = str(breaks or may_hold_blank_rows(paths, options, is_text=is_text)).lower()
    return given


def allow_charset(spark: "SparkSession", options: Options) -> None:
    """Let Spark use any character set of Java in this session; its default is seven."""
    if options.string("encoding").lower() not in _SPARK_CHARSETS:
        spark.conf.set("spark.sql.legacy.javaCharsets", "true")


def _binary(
    spark: "SparkSession", options: Options, paths: Sequence[str], root: str | None, *, is_stream: bool
) -> "DataFrame":
    """One row for each file: its bytes, and its path below the source's."""
    start = root or spark_path(options.string("path"))
    local = local_path(start)
    prefix = as_uri(os.path.realpath(local)) if local is not None else start
    length = len(prefix.rstrip("/")) + 2
    relative = (
        f"if(startswith(replace(path, 'file:///', 'file:/'), {quote_text(prefix.replace('file:///', 'file:/'))}), "
        f"substring(replace(path, 'file:///', 'file:/'), {length - (2 if prefix.startswith('file:///') else 0)}), "
        "element_at(split(path, '/'), -1))"
    )
    name = "element_at(split(path, '/'), -1)"
    opened = reader(spark, options, "binaryFile", root, (), is_stream=is_stream).option("recursiveFileLookup", "true")
    df = load(opened.schema(FILE_DDL) if is_stream else opened, paths)
    return df.selectExpr(
        "content as data", f"coalesce(nullif({relative}, ''), {name}) as relativePath", "0L as partIndex"
    )


def stream_of_files(spark: "SparkSession", options: Options) -> "DataFrame":
    """The paths of files, in the column `path`, as they arrive where the options say."""
    opened = spark.readStream.format("binaryFile").schema(FILE_DDL)
    if not options.flag("parse_partition_from_path"):
        opened = opened.option("recursiveFileLookup", "true")
    if pattern := options.optional_string("file_filter_pattern"):
        opened = opened.option("pathGlobFilter", pattern)
    return opened.load(spark_path(options.string("path"))).select("path")
