"""Spark SQL that converts values of any type to delimited text and back, nested as in Apache SeaTunnel's text format.

    a\x01b           two columns (`field_delimiter`, or this character)
    1\x022\x023         an array, or the fields of a struct
    k\x031\x02l\x032      a map: entries, in them keys and values

Each level of nesting uses the next character. An empty text is NULL.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
    Time,
)
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format
from connectors.files.values.time_texts import iso_day
from connectors.shared.loose_json import is_whole_time, raise_unfit, whole_decimal

FIELD_DELIMITER: Final = "\x01"


@dataclass(frozen=True, slots=True)
class Formats:
    """Patterns of dates, timestamps and times (None: ISO), the text of NULL, and whether unreadable values are NULL
    (where their rows are dropped, a filter finds them so). `is_exact`: a decimal that would be rounded is unreadable,
    and so is a date with a time of day."""

    date: str | None = None
    timestamp: str | None = None
    time: str | None = None
    null: str | None = None
    is_lenient: bool = False
    is_exact: bool = True

    @classmethod
    def of(cls, options: Options) -> "Formats":
        mode = options.get("on_malformed")
        return cls(
            options.optional_string("date_format"),
            options.optional_string("datetime_format"),
            options.optional_string("time_format"),
            options.optional_string("null_format"),
            mode is not None and str(mode).lower() in ("null", "drop"),
            options.seatunnel is None,
        )


def is_delimited(options: Options, columns: Sequence[Column]) -> bool:
    """Whether lines of text files are split into columns; not if the schema is a single string."""
    is_line = len(columns) == 1 and columns[0].type == STRING and options.get("field_delimiter") is None
    return file_format(options) == "text" and not (is_line and is_plain(options))


def is_plain(options: Options) -> bool:
    """Whether Spark's own text format reads and writes such lines: UTF-8, without header and NULL."""
    has_header = options.get("enable_header_write") or options.get("skip_header_row_number")
    return options.string("encoding").lower() == "utf-8" and not has_header and not options.get("null_format")


def is_written_as_csv(options: Options) -> bool:
    """Whether Spark's csv format writes lines of text: its text format knows neither headers nor character sets."""
    return options.string("encoding").lower() != "utf-8" or options.flag("enable_header_write")


def from_text(text: str, type: DataType, formats: Formats, level: int = 1) -> str:
    """Spark SQL that parses the text expression `text` as a value."""
    blank = f"nullif({text}, '')"
    if formats.null:
        blank = f"nullif({blank}, {quote_text(formats.null)})"
    return f"cast({_parsed(blank, type, formats, level)} as {to_ddl(type)})" if type != STRING else blank


def _parsed(text: str, type: DataType, formats: Formats, level: int) -> str:
    cast = "try_cast" if formats.is_lenient else "cast"
    part = f"x{level}"
    match type:
        case Array(element):
            return f"transform({_split(text, level)}, {part} -> {from_text(part, element, formats, level + 1)})"
        case Map(key, value):
            pair = _split(part, level + 1)
            entry = (
                f"struct({from_text(f'{pair}[0]', key, formats, level + 2)}, "
                f"{from_text(f'get({pair}, 1)', value, formats, level + 2)})"
            )
            return f"map_from_entries(transform({_split(text, level)}, {part} -> {entry}))"
        case Struct(fields):
            values = ", ".join(
                f"{quote_text(field.name)}, "
                f"{from_text(f'get({_split(text, level)}, {index})', field.type, formats, level + 1)}"
                for index, field in enumerate(fields)
            )
            return f"if({text} is null, null, named_struct({values}))"
    if type == BINARY:
        return f"encode({text}, 'UTF-8')"
    if type == BOOLEAN:
        return f"lower(trim({text})) = 'true'"
    if type == VOID:
        return "null"
    if type == VARIANT:
        return f"parse_json({text})"
    if type == DATE and formats.date:
        return f"{'try_to_date' if formats.is_lenient else 'to_date'}({text}, {quote_text(formats.date)})"
    if type == DATE:
        day = iso_day(text)
        return _exactly(f"{cast}({day} as date)", is_whole_time(day, DATE), text, type, formats)
    if type in (TIMESTAMP, TIMESTAMP_NTZ) and formats.timestamp not in (None, "yyyy-MM-dd HH:mm:ss"):
        parse = "try_to_timestamp" if formats.is_lenient else "to_timestamp"
        return f"{parse}({text}, {quote_text(str(formats.timestamp))})"
    if type in (TIMESTAMP, TIMESTAMP_NTZ):
        return f"{cast}({iso_day(text)} as {to_ddl(type)})"
    plain = f"{cast}(trim({text}) as {to_ddl(type)})"
    if not isinstance(type, Decimal):
        return plain
    whole = f"try_cast(trim({text}) as {to_ddl(whole_decimal(type))})"
    return _exactly(plain, f"try_cast(trim({text}) as {to_ddl(type)}) = {whole}", text, type, formats)


def _exactly(value: str, is_exact: str, text: str, type: DataType, formats: Formats) -> str:
    """The value, but for texts that Spark would cut to one of the type: they are unreadable, as those that say none."""
    if not formats.is_exact:
        return value
    cut = "null" if formats.is_lenient else raise_unfit(text, Column("value", type))
    return f"if({text} is null or {is_exact} or try_cast({text} as {to_ddl(type)}) is null, {value}, {cut})"


def to_text(value: str, type: DataType, formats: Formats, level: int = 1) -> str:
    """Spark SQL for the text of the expression `value`; NULL where that is NULL."""
    part = f"x{level}"
    match type:
        case Array(element):
            inner = _or_empty(to_text(part, element, formats, level + 1))
            return f"array_join(transform({value}, {part} -> {inner}), {_separator(level)})"
        case Map(key, of):
            inner = (
                f"concat({to_text(f'{part}.key', key, formats, level + 2)}, {_separator(level + 1)}, "
                f"{_or_empty(to_text(f'{part}.value', of, formats, level + 2))})"
            )
            return f"array_join(transform(map_entries({value}), {part} -> {inner}), {_separator(level)})"
        case Struct(fields):
            parts = ", ".join(
                _or_empty(to_text(f"{value}.{quote(field.name)}", field.type, formats, level + 1)) for field in fields
            )
            return f"if({value} is null, null, concat_ws({_separator(level)}, {parts}))"
        case Time() if formats.time:
            moment = f"cast(concat('1970-01-01 ', cast({value} as string)) as timestamp_ntz)"
            return f"date_format({moment}, {quote_text(formats.time)})"
    if type == DATE and formats.date:
        return f"date_format({value}, {quote_text(formats.date)})"
    if type in (TIMESTAMP, TIMESTAMP_NTZ) and formats.timestamp:
        return f"date_format({value}, {quote_text(formats.timestamp)})"
    if type == VARIANT:
        return f"to_json({value})"
    return f"cast({value} as string)"


def line_of(texts: list[str], delimiter: str, formats: Formats) -> str:
    """Spark SQL for a whole line of column texts."""
    null = quote_text(formats.null or "")
    return f"concat_ws({quote_text(delimiter)}, {', '.join(f'coalesce({text}, {null})' for text in texts)})"


def _or_empty(text: str) -> str:
    return f"coalesce({text}, '')"


def _separator(level: int) -> str:
    return quote_text(chr(1 + level))


def _split(text: str, level: int) -> str:
    return f"split({text}, {_separator(level)}, -1)"
