"""The values in files: the types that they are stored in, and Spark SQL that makes the declared types of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import (  # fmt: skip
    BINARY,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    VARIANT,
    VOID,
    Array,
    Atomic,
    DataType,
    Field,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format
from connectors.files.values.delimited import Formats, from_text, is_delimited
from connectors.files.values.malformed_rows import fails_at_malformed, without_malformed
from connectors.files.values.number_texts import is_read_from_text, is_read_whole, number_of_text, text_type
from connectors.files.values.time_texts import is_time_of_text, time_of_text
from connectors.shared.loose_json import unrounded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REFUSING: Final = (
    "if(contains({0}, '\\uFFFD'), validate_utf8(cast(concat(X'FF', cast({0} as binary)) as string)), {0})"
)
"""A text of Spark's csv reader, which has replaced what is not UTF-8. Its text reader keeps the bytes as they are."""


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


def read_type(column: Column, options: Options) -> DataType:
    """The type in which Spark reads such a column of these files.

    Values of xml are texts where rows that do not fit are no error: Spark's reader leaves a file after the first one.
    """
    kind, type = file_format(options), column.type
    if kind == "xml" and column.nullable and isinstance(type, Atomic) and not fails_at_malformed(options):
        return STRING
    return STRING if is_time_of_text(type, options) else text_type(stored_type(kind, type), options)


def converted(df: "DataFrame", in_files: Sequence[Column], of_path: Sequence[Column], options: Options) -> "DataFrame":
    """The columns in their declared types, where the files have others."""
    kind, formats = file_format(options), Formats.of(options)
    is_split = is_delimited(options, in_files)
    is_text = kind == "excel" or are_attributes(options) or (kind == "text" and is_split)
    columns, fits = [], []
    for column in in_files:
        name, type = quote(column.name), column.type
        value = name
        if (is_text or stored_type(kind, type) == STRING) and refuses_bytes(options):
            value = _REFUSING.format(name) if kind == "csv" or is_split else f"validate_utf8({name})"
        is_number = is_read_from_text(type, options) and (is_text or kind in ("csv", "xml"))
        is_xml = kind == "xml" and read_type(column, options) != stored_type(kind, type)
        if are_attributes(options) and isinstance(type, Array | Map | Struct):
            converted = f"from_json({_unblank(value)}, {quote_text(to_ddl(type))}, map('mode', 'FAILFAST'))"
        elif is_time_of_text(type, options):
            converted = time_of_text(_unblank(value), column, options)
        elif is_read_whole(type, options):
            converted = unrounded(name, column, options)
        elif is_number:
            converted = number_of_text(_unblank(value), column, options)
        elif is_text or is_xml or (kind == "csv" and stored_type(kind, type) != type):
            converted = from_text(value, type, formats)
        elif stored_type(kind, type) != type:
            columns.append(f"{_restored(value, type)} as {name}")
            continue
        else:
            columns.append(name if value == name else f"{value} as {name}")
            continue
        columns.append(f"{converted} as {name}")
        if not isinstance(type, Array | Map | Struct) or is_read_whole(type, options):
            is_null = f"{name if is_read_whole(type, options) else _unblank(value)} is null"
            fits.append(f"({is_null} or {converted} is not null)")
    df = without_malformed(df, in_files, fits, options)
    return df.selectExpr(*columns, *(f"cast({quote(c.name)} as {to_ddl(c.type)}) as {quote(c.name)}" for c in of_path))


def _unblank(value: str) -> str:
    """An empty text is NULL, as in Spark's readers."""
    return f"nullif({value}, '')"


def _restored(value: str, type: DataType) -> str:
    """The value of a type that the files hold as another; the text of a time may begin with a date."""
    if type == VOID:
        return "null"
    if isinstance(type, Time):
        value = f"regexp_replace({value}, '^.*[ T]', '')"
    return f"cast({value} as {to_ddl(type)})"


def refuses_bytes(options: Options) -> bool:
    """Whether bytes that are not UTF-8 are an error: Spark's csv and text readers replace them without a word."""
    is_utf8 = options.string("encoding").lower() == "utf-8"
    return is_utf8 and file_format(options) in ("csv", "text") and options.string("encoding_errors").lower() == "fail"


def checked(df: "DataFrame", options: Options) -> "DataFrame":
    """The rows of csv or text files; a text that is not UTF-8 fails the job."""
    if not refuses_bytes(options):
        return df
    refusing = "validate_utf8({0})" if file_format(options) == "text" else _REFUSING
    names = ((quote(column.name), column.dataType.typeName()) for column in df.schema.fields)
    return df.selectExpr(*(f"{refusing.format(name)} as {name}" if type == "string" else name for name, type in names))
