"""Spark SQL that reads decimals from texts.

    1234.50   1,234.50        with `decimal_separator = "."`: groups have three digits
    1234,50   1.234,50        with `decimal_separator = ","`
    1,10      12,34.5         neither: not read as 110 and 1234.5, as Spark's parsers of files do

What is no number of that form is malformed; the error's text is JSON behind `UNFIT_VALUE`.
"""

from typing import Final

from catalog.options import Options
from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import DOUBLE, FLOAT, STRING, DataType, Decimal
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format

UNFIT_VALUE: Final = "penstock.unfit_value"
_SHOWN: Final = 60
_GROUPED: Final = r"^\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*$"
_WITH_COMMA: Final = r"^\s*[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?([eE][+-]?\d+)?\s*$"
_OF_TEXT: Final = ("csv", "text", "excel", "xml")


def is_read_from_text(type: DataType, options: Options) -> bool:
    """Whether values of this type are texts in such files, which `number_of_text` reads."""
    has_comma = options.get("decimal_separator") == ","
    return file_format(options) in _OF_TEXT and (isinstance(type, Decimal) or (has_comma and type in (DOUBLE, FLOAT)))


def text_type(type: DataType, options: Options) -> DataType:
    """The type in which Spark reads a column of such files."""
    return STRING if is_read_from_text(type, options) else type


def number_of_text(text: str, column: Column, options: Options) -> str:
    """Spark SQL for the number that the text expression says, as `on_malformed` asks for what says none."""
    if options.get("null_format") and file_format(options) != "csv":  # Spark's csv reader makes it NULL
        text = f"nullif({text}, {quote_text(options.string('null_format'))})"
    number = _number_or_null(text, column.type, options)
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({number}, if({text} is null, null, {_raised(text, column)}))" if fails else number
    return f"coalesce({number}, {_raised(text, column)}, cast(0 as {to_ddl(column.type)}))"


def _number_or_null(text: str, type: DataType, options: Options) -> str:
    """Spark SQL for the number that the text expression says; NULL if it says none."""
    if options.get("decimal_separator") == ",":
        plain = f"replace(replace({text}, '.', ''), ',', '.')"
        digits = f"if({text} rlike {quote_text(_WITH_COMMA)}, {plain}, null)"
    else:
        plain = f"if({text} rlike {quote_text(_GROUPED)}, replace({text}, ',', ''), null)"
        digits = f"if(contains({text}, ','), {plain}, {text})"
    return f"try_cast({digits} as {to_ddl(type)})"


def _raised(text: str, column: Column) -> str:
    facts = f"'column', {quote_text(column.name)}, 'type', {quote_text(str(column.type))}"
    value = f"'value', left({text}, {_SHOWN})"
    return f"raise_error(concat({quote_text(f'{UNFIT_VALUE} ')}, to_json(named_struct({facts}, {value}))))"
