"""JSON as services write it, read strictly: both 1 and "1" are the number one, and nothing else is.

Spark's parser rounds decimals to the scale of their column. Here they are read with as many digits as there may be, and
what does not fit is an error, whose text is JSON behind `UNFIT_VALUE`.
"""

from typing import Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BINARY,
    BOOLEAN,
    MAX_PRECISION,
    STRING,
    VARIANT,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
)
from catalog.types.typenames import to_ddl

UNFIT_VALUE: Final = "penstock.unfit_value"
_SHOWN: Final = 60
_AS_THEY_ARE: Final = (STRING, BINARY, VARIANT)


def as_text(type: DataType) -> DataType:
    """The type with texts for numbers, dates and times, which a cast then reads. Not for decimals: as text, Spark reads
    them through a double."""
    match type:
        case Array(element, nulls):
            return Array(as_text(element), nulls)
        case Map(_, value, nulls):
            return Map(STRING, as_text(value), nulls)
        case Struct(fields):
            return Struct(tuple(Field(field.name, as_text(field.type)) for field in fields))
    return type if type in _AS_THEY_ARE or isinstance(type, Decimal) else STRING


def is_unreadable(text: str, type: DataType, level: int = 1) -> str:
    """Spark SQL for whether the texts in the expression `text` cannot be cast to the type."""
    part = f"x{level}"
    match type:
        case Array(element):
            return f"coalesce(exists({text}, {part} -> {is_unreadable(part, element, level + 1)}), false)"
        case Map(key, value):
            keys = f"exists(map_keys({text}), {part} -> {is_unreadable(part, key, level + 1)})"
            values = f"exists(map_values({text}), {part} -> {is_unreadable(part, value, level + 1)})"
            return f"coalesce({keys} or {values}, false)"
        case Struct(fields):
            parts = (is_unreadable(f"{text}.{quote(field.name)}", field.type, level) for field in fields)
            return f"({' or '.join(parts)})" if fields else "false"
    if type in _AS_THEY_ARE or isinstance(type, Decimal):
        return "false"
    return f"({text} is not null and try_cast({text} as {to_ddl(type)}) is null)"


def read_text(text: str, type: DataType) -> str:
    """Spark SQL for the value; NULL where it `is_unreadable`."""
    if type == BOOLEAN or as_text(type) != type:
        return f"try_cast({text} as {to_ddl(type)})"
    return text


def would_be_rounded(type: DataType, options: Options) -> bool:
    """Whether Spark's parser of JSON would round what has more digits than the type; SeaTunnel does so, too."""
    return isinstance(type, Decimal) and type.precision < MAX_PRECISION and options.seatunnel is None


def whole_decimal(type: Decimal) -> Decimal:
    """The type with as many digits behind the point as there may be."""
    return Decimal(MAX_PRECISION, MAX_PRECISION - type.precision + type.scale)


def unrounded(number: str, column: Column, options: Options) -> str:
    """Spark SQL for a number of `whole_decimal` in the column's type, as `on_malformed` asks for what does not fit."""
    short = f"try_cast({number} as {to_ddl(column.type)})"
    exact = f"if({short} = {number}, {short}, null)"
    text = f"rtrim('0', cast({number} as string))"
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if column.nullable:
        return f"coalesce({exact}, if({number} is null, null, {raise_unfit(text, column)}))" if fails else exact
    return f"coalesce({exact}, {raise_unfit(text, column)}, cast(0 as {to_ddl(column.type)}))"


def raise_unfit(text: str, column: Column) -> str:
    """Spark SQL that fails, and says the value."""
    facts = f"'column', {quote_text(column.name)}, 'type', {quote_text(str(column.type))}"
    value = f"'value', left({text}, {_SHOWN})"
    return f"raise_error(concat({quote_text(f'{UNFIT_VALUE} ')}, to_json(named_struct({facts}, {value}))))"
