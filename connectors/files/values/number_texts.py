"""Spark SQL that reads decimals from texts.

    1234.50   1,234.50        with `decimal_separator = "."`: groups have three digits
    1234,50   1.234,50        with `decimal_separator = ","`
    1,10      12,34.5         neither: not read as 110 and 1234.5, as Spark's parsers of files do
    1.505                     not a decimal(10,2): not read as 1.51

What is no number of that form, or has more digits than the column, is malformed; the error's text is JSON behind
`UNFIT_VALUE`.
"""

from typing import Final

from catalog.options import Options
from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import DOUBLE, FLOAT, MAX_PRECISION, STRING, DataType, Decimal
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format
from connectors.shared.loose_json import raise_unfit, whole_decimal, whole_type, would_be_rounded

_GROUPED: Final = r"^\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*$"
_WITH_COMMA: Final = r"^\s*[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?([eE][+-]?\d+)?\s*$"
_OF_TEXT: Final = ("csv", "text", "excel", "xml")


def is_read_from_text(type: DataType, options: Options) -> bool:
    """Whether values of this type are texts in such files, which `number_of_text` reads."""
    has_comma = options.get("decimal_separator") == ","
    return file_format(options) in _OF_TEXT and (isinstance(type, Decimal) or (has_comma and type in (DOUBLE, FLOAT)))


def text_type(type: DataType, options: Options) -> DataType:
    """The type in which Spark reads a column of such files, or of JSON."""
    if is_read_whole(type, options):
        return whole_type(type, has_pattern=bool(options.get("date_format")))
    return STRING if is_read_from_text(type, options) else type


def is_read_whole(type: DataType, options: Options) -> bool:
    """Whether decimals of this type, or in it, are read from JSON files with as many digits as there may be, and dates
    as texts."""
    return file_format(options) == "json" and would_be_rounded(type, options)


def number_of_text(text: str, column: Column, options: Options) -> str:
    """Spark SQL for the number that the text expression says, as `on_malformed` asks for what says none."""
    if options.get("null_format") and file_format(options) != "csv":  # Spark's csv reader makes it NULL
        text = f"nullif({text}, {quote_text(options.string('null_format'))})"
    number = _number_or_null(text, column.type, options)
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({number}, if({text} is null, null, {raise_unfit(text, column)}))" if fails else number
    return f"coalesce({number}, {raise_unfit(text, column)}, cast(0 as {to_ddl(column.type)}))"


def _number_or_null(text: str, type: DataType, options: Options) -> str:
    """Spark SQL for the number that the text expression says; NULL if it says none."""
    if options.get("decimal_separator") == ",":
        plain = f"replace(replace({text}, '.', ''), ',', '.')"
        digits = f"if({text} rlike {quote_text(_WITH_COMMA)}, {plain}, null)"
    else:
        plain = f"if({text} rlike {quote_text(_GROUPED)}, replace({text}, ',', ''), null)"
        digits = f"if(contains({text}, ','), {plain}, {text})"
    number = f"try_cast({digits} as {to_ddl(type)})"
    if not isinstance(type, Decimal) or type.precision == MAX_PRECISION or options.seatunnel is not None:
        return number
    return f"if({_is_short(digits, type)} or {number} = {_whole(digits, type)}, {number}, null)"


def _is_short(digits: str, type: Decimal) -> str:
    """Whether a text has so few digits behind its point that none is rounded: most need no second cast."""
    place = f"instr({digits}, '.')"
    is_plain = f"not contains(lower({digits}), 'e')"
    return f"(({place} = 0 or length({digits}) - {place} <= {type.scale}) and {is_plain})"


def _whole(digits: str, type: Decimal) -> str:
    """The number with as many digits as there may be behind its point."""
    return f"try_cast({digits} as {to_ddl(whole_decimal(type))})"
