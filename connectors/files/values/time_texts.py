"""Spark SQL that reads dates and timestamps from the texts of csv files.

2024-03-04   2024-03-04 00:00:00      a date
2024-03-04 14:29:00   2024-03-04 x    no date: Spark's parser would leave out what follows it
12:30                                 no timestamp: Spark's parser would take the day on which the job runs
"""

from collections.abc import Mapping
from typing import Final

from catalog.options import Options
from catalog.tables.table import Column
from catalog.types.datatypes import DATE, TIMESTAMP, DataType
from catalog.types.typenames import to_ddl
from connectors.files.file_options import file_format
from connectors.shared.loose_json import raise_unfit

_PATTERNS: Final[Mapping[DataType, str]] = {DATE: "date_format", TIMESTAMP: "datetime_format"}


def is_time_of_text(type: DataType, options: Options) -> bool:
    """Whether `time_of_text` reads values of this type. A pattern allows nothing else, and neither does
    `timestamp_ntz`."""
    pattern = _PATTERNS.get(type)
    is_plain = pattern is not None and not options.get(pattern)
    return is_plain and file_format(options) == "csv" and options.seatunnel is None


def time_of_text(text: str, column: Column, options: Options) -> str:
    """Spark SQL for the date or timestamp that the text expression says, as `on_malformed` asks for what says none."""
    value, trimmed = f"try_cast({text} as {to_ddl(column.type)})", f"trim({text})"
    if column.type == DATE:
        is_day = f"(instr({trimmed}, ' ') = 0 and instr({trimmed}, 'T') = 0)"
        fits = f"({is_day} or {value} = try_cast({text} as timestamp_ntz))"
    else:
        fits = f"(instr({trimmed}, ':') = 0 or instr({trimmed}, ':') > {len('T12:')})"
    found = f"if({fits}, {value}, null)"
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({found}, if({text} is null, null, {raise_unfit(text, column)}))" if fails else found
    epoch = f"cast('1970-01-01' as {to_ddl(column.type)})"
    return f"coalesce({found}, {raise_unfit(text, column)}, {epoch})"
