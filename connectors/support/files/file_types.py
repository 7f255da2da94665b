"""Which types the files of a format, or a Delta table, can hold (what Spark 4.1's sources refuse, asked of each)."""

from collections.abc import Mapping
from typing import Final

from catalog.datatypes import CALENDAR_INTERVAL, STRING, VARIANT, VOID, Array, DataType, Interval, Map, Struct, Time

_NESTED: Final = (Array, Map, Struct)
_REFUSED: Final[Mapping[str, tuple[DataType, ...]]] = {
    "csv": (CALENDAR_INTERVAL, VARIANT, VOID),
    "json": (CALENDAR_INTERVAL,),
    "orc": (CALENDAR_INTERVAL, VARIANT, VOID),
    "parquet": (CALENDAR_INTERVAL,),
    "delta": (CALENDAR_INTERVAL,),
}
_WITHOUT_TIME: Final = ("csv", "json", "orc", "delta")


def can_hold(file_format: str, type: DataType) -> bool:
    """Whether a column of that type, its parts included, can be written to and read from such files."""
    if file_format == "text":
        return type == STRING
    if type in _REFUSED.get(file_format, ()) or (isinstance(type, Time) and file_format in _WITHOUT_TIME):
        return False
    if (file_format == "csv" and isinstance(type, _NESTED)) or (file_format == "delta" and isinstance(type, Interval)):
        return False
    match type:
        case Array(element):
            return can_hold(file_format, element)
        case Map(key, value):
            return can_hold(file_format, key) and can_hold(file_format, value)
        case Struct(fields):
            return all(can_hold(file_format, field.type) for field in fields)
        case _:
            return True
