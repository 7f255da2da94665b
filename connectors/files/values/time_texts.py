"""Spark SQL that reads dates and timestamps from the texts of csv, text and excel files.

2024-03-04   2024-03-04 00:00:00      a date
2024-03-04 14:29:00   2024-03-04 x    no date: Spark's parser would leave out what follows it
12:30                                 no timestamp: Spark's parser would take the day on which the job runs
"""

from collections.abc import Mapping
from typing import Final

from catalog.options import Options
from catalog.quoting import quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import DATE, TIMESTAMP, DataType
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format
from connectors.shared.loose_json import is_whole_time, raise_unfit

_PATTERNS: Final[Mapping[DataType, str]] = {DATE: "date_format", TIMESTAMP: "datetime_format"}


def is_time_of_text(type: DataType, options: Options) -> bool:
    """Whether `time_of_text` reads values of this type. A pattern allows nothing else, and neither does
    `timestamp_ntz`."""
    pattern = _PATTERNS.get(type)
    is_plain = pattern is not None and not options.get(pattern)
    return is_plain and file_format(options) in ("csv", "text", "excel") and options.seatunnel is None


def time_of_text(text: str, column: Column, options: Options) -> str:
    """Spark SQL for the date or timestamp that the text expression says, as `on_malformed` asks for what says none."""
    if file_format(options) != "csv":
        if options.get("null_format"):  # Spark's csv reader makes it NULL
            text = f"nullif({text}, {quote_text(options.string('null_format'))})"
        plain = iso_day(text)
    else:
        plain = text
    value = f"try_cast({plain} as {to_ddl(column.type)})"
    found = f"if({is_whole_time(plain, column.type)}, {value}, null)"
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({found}, if({text} is null, null, {raise_unfit(text, column)}))" if fails else found
    epoch = f"cast('1970-01-01' as {to_ddl(column.type)})"
    return f"coalesce({found}, {raise_unfit(text, column)}, {epoch})"


def iso_day(text: str) -> str:
    """`2024/01/02` and `2024.01.02` as `2024-01-02`."""
    pattern = quote_text(r"^(\d{4})[./](\d{1,2})[./](\d{1,2})")
    return f"regexp_replace(trim({text}), {pattern}, '$1-$2-$3')"
