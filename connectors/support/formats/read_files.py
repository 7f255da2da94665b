"""Reads files as rows; Spark SQL around Spark's readers adds what they lack."""

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from catalog.datatypes import (
    BINARY,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    VARIANT,
    VOID,
    Array,
    DataType,
    Field,
    Map,
    Struct,
    Time,
)  # fmt: skip
from catalog.quoting import quote, quote_text
from catalog.table import Column
from catalog.typenames import columns_to_ddl, to_ddl
from connectors.support.files.file_options import (
    HADOOP_CODECS,
    NO_QUOTE,
    XML_ATTRIBUTE,
    file_format,
    reader_options,
)
from connectors.support.files.file_schema import local_path, spark_path
from connectors.support.files.filesystem import as_uri
from connectors.support.files.infer_types import infer_types
from connectors.support.formats.chosen_files import FileList, chosen_files, is_archive, modified_filters
from connectors.support.formats.delimited import FIELD_DELIMITER, Formats, from_text
from connectors.support.formats.quoted_values import may_hold_quotes
from connectors.support.option import Options
from connectors.support.schema_option import declares_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    Reader: TypeAlias = DataFrameReader | DataStreamReader

_OF_LINES: Final = ("encoding", "lineSep", "pathGlobFilter", HADOOP_CODECS)

_SPARK_CHARSETS: Final = ("us-ascii", "iso-8859-1", "utf-8", "utf-16be", "utf-16le", "utf-16", "utf-32")
_LONGEST_LINE_END: Final = 2
_REFUSING: Final = (
    "if(contains({0}, '\\uFFFD'), validate_utf8(cast(concat(X'FF', cast({0} as binary)) as string)), {0})"
)
"""A text of Spark's csv reader, which has replaced what is not UTF-8. Its text reader keeps the bytes as they are."""


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
        from connectors.support.formats.workbooks import workbook_rows

        return _converted(
            workbook_rows(_reader(spark, options, "binaryFile", root, of_path), paths, options, in_files),
            in_files,
            of_path,
            options,
        )
    if needs_lines(options):
        return _of_lines(spark, options, paths, root, in_files=in_files, of_path=of_path, is_stream=is_stream)
    if is_delimited(options, in_files):
        lines = _delimited(spark, options, paths, root, in_files=in_files, of_path=of_path, is_stream=is_stream)
        return _converted(lines, in_files, of_path, options)
    prefix, is_attribute = (XML_ATTRIBUTE, True) if are_attributes(options) else ("", False)
    stored = [
        Column(prefix + column.name, STRING if is_attribute else stored_type(kind, column.type), column.nullable)
        for column in in_files
    ]
    given = _options(options)
    if kind == "csv" and options.seatunnel is not None and "multi_line" not in options.places:
        given["multiLine"] = str(is_stream or may_hold_quotes(paths, options)).lower()
    reader = _opened(spark, options, kind, root, of_path, is_stream=is_stream).options(**given)
    df = _load(reader.schema(columns_to_ddl([*stored, *of_path])), paths)
    if is_attribute:
        df = df.selectExpr(
            *(f"{quote(prefix + column.name)} as {quote(column.name)}" for column in in_files),
            *(quote(column.name) for column in of_path),
        )
    return _converted(df, in_files, of_path, options)


def open_files(spark: "SparkSession", options: Options, chosen: FileList | None = None) -> "DataFrame":
    """The rows of files whose columns only Spark can determine."""
    allow_charset(spark, options)
    paths, root = chosen_files(spark, options) if chosen is None else chosen
    reader = _reader(spark, options, file_format(options), root, ()).options(**_options(options))
    if file_format(options) != "csv" or declares_columns(options) or not options.flag("infer_schema"):
        return _checked(reader.load(paths), options)
    strings = reader.load(paths)
    parts = {column.name for column in strings.schema.fields if column.dataType.typeName() != "string"}
    columns = [column for column in infer_types(strings).columns if column.name not in parts]
    return _checked(reader.schema(columns_to_ddl(columns)).load(paths), options)


def allow_charset(spark: "SparkSession", options: Options) -> None:
    """Let Spark use any character set of Java in this session; its default is seven."""
    if options.string("encoding").lower() not in _SPARK_CHARSETS:
        spark.conf.set("spark.sql.legacy.javaCharsets", "true")


def is_delimited(options: Options, columns: Sequence[Column]) -> bool:
    """Whether lines of text files are split into columns; not if the schema is a single string."""
    is_line = len(columns) == 1 and columns[0].type == STRING and options.get("field_delimiter") is None
    return file_format(options) == "text" and not (is_line and is_plain(options))


def is_plain(options: Options) -> bool:
    """Whether Spark's own text format reads and writes such lines: UTF-8, without header and NULL."""
    has_header = options.get("enable_header_write") or options.get("skip_header_row_number")
    return options.string("encoding").lower() == "utf-8" and not has_header and not options.get("null_format")


def needs_lines(options: Options) -> bool:
    """Whether Penstock must split the lines: Spark skips at most one, and its line ends have at most two characters."""
    if file_format(options) not in ("csv", "text"):
        return False
    is_wide = options.string("encoding").lower().startswith(("utf-16", "utf-32"))
    return (
        options.integer("skip_header_row_number") > 1
        or len(options.optional_string("row_delimiter") or "") > _LONGEST_LINE_END
        or (is_wide and file_format(options) == "text")
    )


def are_attributes(options: Options) -> bool:
    """Whether the columns of xml files are attributes of their row's element."""
    return file_format(options) == "xml" and options.flag("xml_use_attr_format")


def stored_type(kind: str, type: DataType) -> DataType:
    """The type stored in such files for one that Spark cannot write to them."""
    if kind == "csv":
        return STRING if isinstance(type, Array | Map | Struct | Time) or type in (BINARY, VOID, VARIANT) else type
    if kind in ("parquet",):
        return type
    match type:
        case Array(element, nulls):
            return Array(stored_type(kind, element), nulls)
        case Map(key, value, nulls):
            return Map(STRING if kind == "avro" else stored_type(kind, key), stored_type(kind, value), nulls)
        case Struct(fields):
            return Struct(tuple(Field(f.name, stored_type(kind, f.type), f.nullable, f.comment) for f in fields))
        case Time():
            return STRING
    if kind == "avro" and type in (TINYINT, SMALLINT):
        return INT
    return STRING if type == VOID else type


def _converted(df: "DataFrame", in_files: Sequence[Column], of_path: Sequence[Column], options: Options) -> "DataFrame":
    """The columns in their declared types, where the files have others."""
    kind, formats = file_format(options), Formats.of(options)
    is_split = is_delimited(options, in_files)
    is_text = kind == "excel" or are_attributes(options) or (kind == "text" and is_split)
    columns = []
    for column in in_files:
        name, type = quote(column.name), column.type
        value = name
        if (is_text or stored_type(kind, type) == STRING) and _refuses_bytes(options):
            value = _REFUSING.format(name) if kind == "csv" or is_split else f"validate_utf8({name})"
        if is_text or (kind == "csv" and stored_type(kind, type) != type):
            columns.append(f"{from_text(value, type, formats)} as {name}")
        elif stored_type(kind, type) != type:
            columns.append(f"{_restored(value, type)} as {name}")
        else:
            columns.append(name if value == name else f"{value} as {name}")
    return df.selectExpr(*columns, *(f"cast({quote(c.name)} as {to_ddl(c.type)}) as {quote(c.name)}" for c in of_path))


def _restored(value: str, type: DataType) -> str:
    """The value of a type that the files hold as another; the text of a time may begin with a date."""
    if type == VOID:
        return "null"
    if isinstance(type, Time):
        value = f"regexp_replace({value}, '^.*[ T]', '')"
    return f"cast({value} as {to_ddl(type)})"


def _refuses_bytes(options: Options) -> bool:
    """Whether bytes that are not UTF-8 are an error: Spark's csv and text readers replace them without a word."""
    is_utf8 = options.string("encoding").lower() == "utf-8"
    return is_utf8 and file_format(options) in ("csv", "text") and options.string("encoding_errors").lower() == "fail"


def _checked(df: "DataFrame", options: Options) -> "DataFrame":
    """The rows of csv or text files; a text that is not UTF-8 fails the job."""
    if not _refuses_bytes(options):
        return df
    refusing = "validate_utf8({0})" if file_format(options) == "text" else _REFUSING
    names = ((quote(column.name), column.dataType.typeName()) for column in df.schema.fields)
    return df.selectExpr(*(f"{refusing.format(name)} as {name}" if type == "string" else name for name, type in names))


def _delimited(
    spark: "SparkSession",
    options: Options,
    paths: Sequence[str],
    root: str | None,
    *,
    in_files: Sequence[Column],
    of_path: Sequence[Column],
    is_stream: bool,
) -> "DataFrame":
    """Columns of text, read by Spark's csv reader without quotes."""
    texts = [Column(column.name, STRING) for column in in_files]
    given = {key: value for key, value in _options(options).items() if key in _OF_LINES}
    reader = _opened(spark, options, "csv", root, of_path, is_stream=is_stream)
    skips = options.integer("skip_header_row_number") == 1
    reader = reader.schema(columns_to_ddl([*texts, *of_path])).options(
        **given,
        sep=_delimiter(options).replace("\\", "\\\\"),  # a backslash begins an escape there
        quote="",
        mode="PERMISSIVE",
        header=str(skips).lower(),
        enforceSchema="true",
        maxCharsPerColumn="-1",
    )
    return _load(reader, paths)


def _delimiter(options: Options) -> str:
    """What separates columns of text. `\\|` is `|` under `--compat seatunnel`: a regular expression up to its 2.3.8."""
    text = options.optional_string("field_delimiter") or FIELD_DELIMITER
    return text if options.seatunnel is None else re.sub(r"\\([^\w\s])", r"\1", text)


def _of_lines(
    spark: "SparkSession",
    options: Options,
    paths: Sequence[str],
    root: str | None,
    *,
    in_files: Sequence[Column],
    of_path: Sequence[Column],
    is_stream: bool,
) -> "DataFrame":
    """Rows from lines that are split out of whole files."""
    end = options.optional_string("row_delimiter")
    pattern = r"\r?\n" if end in (None, "\n") else re.escape(str(end))
    content = f"decode(content, {quote_text(options.string('encoding'))})"
    parts = [quote(column.name) for column in of_path]
    reader = _opened(spark, options, "binaryFile", root, of_path, is_stream=is_stream)
    if is_stream:
        reader = reader.schema(f"{_FILE_DDL}, {columns_to_ddl(of_path)}" if of_path else _FILE_DDL)
    files = _load(reader, paths).selectExpr(f"{content} as content", *parts)
    lines = files.selectExpr(f"posexplode(split(content, {quote_text(pattern)}, -1)) as (pos, line)", *parts)
    lines = lines.where(f"pos >= {options.integer('skip_header_row_number')} and line <> ''")
    if file_format(options) == "text":
        delimiter = quote_text(re.escape(_delimiter(options)))
        values = [f"get(split(line, {delimiter}, -1), {i}) as {quote(c.name)}" for i, c in enumerate(in_files)]
        if not is_delimited(options, in_files):
            values = [f"line as {quote(in_files[0].name)}"]
    else:
        stored = [Column(c.name, stored_type("csv", c.type)) for c in in_files]
        given = {
            k: v
            for k, v in _options(options).items()
            if k not in ("lineSep", "header", "encoding", "enforceSchema", "multiLine", HADOOP_CODECS)
        }
        listed = ", ".join(f"{quote_text(key)}, {quote_text(value)}" for key, value in given.items())
        lines = lines.selectExpr(f"from_csv(line, {quote_text(columns_to_ddl(stored))}, map({listed})) as row", *parts)
        values = [f"row.{quote(column.name)}" for column in in_files]
    return _converted(lines.selectExpr(*values, *parts), in_files, of_path, options)


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
    reader = _opened(spark, options, "binaryFile", root, (), is_stream=is_stream).option("recursiveFileLookup", "true")
    df = _load(reader.schema(_FILE_DDL) if is_stream else reader, paths)
    return df.selectExpr(
        "content as data", f"coalesce(nullif({relative}, ''), {name}) as relativePath", "0L as partIndex"
    )


def _reader(
    spark: "SparkSession", options: Options, kind: str, root: str | None, of_path: Sequence[Column]
) -> "DataFrameReader":
    return spark.read.format(kind).options(**_where(options, root, of_path))


def _opened(
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


def _load(reader: "Reader", paths: Sequence[str]) -> "DataFrame":
    """The rows of files; a stream has one folder."""
    from pyspark.sql.streaming.readwriter import DataStreamReader

    return reader.load(paths[0]) if isinstance(reader, DataStreamReader) else reader.load(list(paths))


def _options(options: Options) -> dict[str, str]:
    found = reader_options(options)
    found.pop("pathGlobFilter", None)
    if found.get("quote") == "":
        found["quote"] = NO_QUOTE
    return found


def stream_of_files(spark: "SparkSession", options: Options) -> "DataFrame":
    """The paths of files, in the column `path`, as they arrive where the options say."""
    reader = spark.readStream.format("binaryFile").schema(_FILE_DDL)
    if not options.flag("parse_partition_from_path"):
        reader = reader.option("recursiveFileLookup", "true")
    if pattern := options.optional_string("file_filter_pattern"):
        reader = reader.option("pathGlobFilter", pattern)
    return reader.load(spark_path(options.string("path"))).select("path")


_FILE_DDL: Final = "path string, modificationTime timestamp, length bigint, content binary"
