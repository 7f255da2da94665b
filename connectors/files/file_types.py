"""The types that files of a format, or a Delta table, can hold (measured for each source of Spark 4.1)."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from catalog.tables.table import Column
from catalog.types.datatypes import (  # fmt: skip
    BIGINT,
    BINARY,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    Time,
    has_unknown,
    parts,
)

_NESTED: Final = (Array, Map, Struct)
_REFUSED: Final[Mapping[str, tuple[DataType, ...]]] = {
    "csv": (CALENDAR_INTERVAL, VARIANT, VOID),
    "json": (CALENDAR_INTERVAL,),
    "xml": (CALENDAR_INTERVAL, VARIANT, VOID),
    "orc": (CALENDAR_INTERVAL, VARIANT, VOID),
    "parquet": (CALENDAR_INTERVAL,),
    "avro": (CALENDAR_INTERVAL, VARIANT),
    "delta": (CALENDAR_INTERVAL,),
}
_WITHOUT_TIME: Final = ("csv", "json", "xml", "orc", "avro", "delta")


@lru_cache(maxsize=1024)
def can_hold(file_format: str, type: DataType) -> bool:
    """Whether a column of that type, its parts included, can be written to and read from such files."""
    if file_format in ("text", "excel"):
        return type not in (CALENDAR_INTERVAL, VOID) and not isinstance(type, Interval)
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


def is_xml_name(name: str) -> bool:
    """Whether an element can have the name; Spark writes a column `_x` as an attribute `x`."""
    return re.fullmatch(r"[^\W\d_][\w.\-]*", name) is not None and max(name) < "\ud800"


def unfit_for_avro(column: Column) -> str | None:
    """Why Avro refuses the name of the column, or of a field in it; None if it takes them."""
    names = [column.name, *(field.name for part in parts(column.type) if isinstance(part, Struct)
                            for field in part.fields)]  # fmt: skip
    unfit = [name for name in names if not name.replace("_", "a").isalnum() or name[0].isdigit()]
    return f"`{unfit[0]}` is no name in Avro" if unfit else None


def can_read_as(file_format: str, held: DataType, declared: DataType) -> bool:
    """Whether Spark reads a column that Parquet or ORC files hold as one type under a schema that declares another.

    Measured on Spark 4.1 for each pair of types; of nested types, only the kind is compared.
    """
    if held == declared or VOID in (held, declared) or has_unknown(held):
        return True
    if isinstance(held, _NESTED) or isinstance(declared, _NESTED):
        return type(held) is type(declared)
    if _is_rare(held) or _is_rare(declared):
        return True  # variants, intervals and times are not checked
    if file_format == "orc":
        return declared in _ORC.get(held, (*_ORC_SCALARS, *_ORC_BESIDE.get(held, ()))) or (
            isinstance(declared, Decimal) and held not in _ORC
        )
    match held, declared:
        case (Decimal(p, s), Decimal(q, t)):
            return t >= s and q - t >= p - s
        case (Decimal(p, _), _):  # read as its unscaled value
            return declared == (BIGINT if p <= _LONG_DIGITS else BINARY)
        case (_, Decimal(q, t)):
            return q - t >= _DIGITS.get(held, q + 1)
    return declared in _PARQUET.get(held, ())


def _is_rare(type: DataType) -> bool:
    return isinstance(type, Interval | Time) or type in (VARIANT, CALENDAR_INTERVAL)


_SMALL: Final = (TINYINT, SMALLINT, INT, BIGINT, DOUBLE, DATE)
"""The types as which Parquet's INT32 can be read."""

_PARQUET: Final[Mapping[DataType, tuple[DataType, ...]]] = {
    TINYINT: _SMALL,
    SMALLINT: _SMALL,
    INT: _SMALL,
    FLOAT: (DOUBLE,),
    STRING: (BINARY,),
    BINARY: (STRING,),
    DATE: (*_SMALL, TIMESTAMP_NTZ),
    TIMESTAMP: (TIMESTAMP_NTZ,),
    TIMESTAMP_NTZ: (TIMESTAMP, BIGINT),
}
_LONG_DIGITS: Final = 18
_DIGITS: Final[Mapping[DataType, int]] = {TINYINT: 10, SMALLINT: 10, INT: 10, BIGINT: 20}
"""Digits before the point that a decimal needs to be read from Parquet's integers."""

_ORC_SCALARS: Final = (BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_NTZ)
_ORC_BESIDE: Final[Mapping[DataType, tuple[DataType, ...]]] = {STRING: (BINARY, DATE), TIMESTAMP: (DATE,)}
_ORC: Final[Mapping[DataType, tuple[DataType, ...]]] = {BINARY: (STRING,), DATE: (STRING, TIMESTAMP)}
