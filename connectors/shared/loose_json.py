"""JSON as services write it, read strictly: both 1 and "1" are the number one, and nothing else is.

Spark's parser rounds decimals to the scale of their column. Here they are read with as many digits as there may be, and
what does not fit is an error, whose text is JSON behind `UNFIT_VALUE`.
"""

from dataclasses import replace
from typing import Final

from catalog.options import Options
from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
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
LOCALE: Final = "de-CH"
"""The locale by which Spark's parser reads decimals that are texts: those of its default have no meaning for commas, so
that `"1,10"` would be 110. In this one the point is before the fraction, and a comma has no place in a number."""
_SHOWN: Final = 60
_AS_THEY_ARE: Final = (STRING, BINARY, VARIANT)


def as_text(type: DataType) -> DataType:
    """The type with texts for numbers, dates and times, which a cast then reads. Decimals have as many digits as there
    may be: as text, Spark reads them through a double."""
    match type:
        case Array(element, nulls):
            return Array(as_text(element), nulls)
        case Map(_, value, nulls):
            return Map(STRING, as_text(value), nulls)
        case Struct(fields):
            return Struct(tuple(Field(field.name, as_text(field.type)) for field in fields))
        case Decimal():
            return whole_decimal(type)
    return type if type in _AS_THEY_ARE else STRING


def is_unreadable(text: str, type: DataType, level: int = 1, *, rounds: bool = False) -> str:
    """Spark SQL for whether the texts in the expression `text` cannot be cast to the type; `rounds`: a decimal that has
    too many digits behind its point can."""
    part = f"x{level}"
    match type:
        case Array(element):
            inner = is_unreadable(part, element, level + 1, rounds=rounds)
            return f"coalesce(exists({text}, {part} -> {inner}), false)"
        case Map(key, value):
            keys = f"exists(map_keys({text}), {part} -> {is_unreadable(part, key, level + 1, rounds=rounds)})"
            values = f"exists(map_values({text}), {part} -> {is_unreadable(part, value, level + 1, rounds=rounds)})"
            return f"coalesce({keys} or {values}, false)"
        case Struct(fields):
            names = ((f"{text}.{quote(field.name)}", field.type) for field in fields)
            parts = (is_unreadable(name, type, level, rounds=rounds) for name, type in names)
            return f"({' or '.join(parts)})" if fields else "false"
    if type in _AS_THEY_ARE:
        return "false"
    if isinstance(type, Decimal) or (type == DATE and not rounds):
        return ("" if rounds else is_rounded(text, type)) or "false"
    return f"({text} is not null and try_cast({text} as {to_ddl(type)}) is null)"


def read_text(text: str, type: DataType) -> str:
    """Spark SQL for the value; NULL where it `is_unreadable`."""
    if type == BOOLEAN or as_text(type) != type:
        return f"try_cast({text} as {to_ddl(type)})"
    return text


def would_be_rounded(type: DataType, options: Options) -> bool:
    """Whether Spark would round a number in such a value, which has more digits than its decimal, or leave out the time
    behind a date; SeaTunnel does so, too."""
    return options.seatunnel is None and bool(is_rounded("x", type))


def is_rounded(value: str, type: DataType, level: int = 1) -> str:
    """Spark SQL for whether the type would round a number of `value`, which is of `whole_type`, or a text in it is no
    date; empty if it has neither."""
    part = f"x{level}"
    match type:
        case Decimal():
            return _is_cut(value, type)
        case _ if type == DATE:
            return f"({value} is not null and not coalesce({is_whole_time(value, DATE)}, false))"
        case Array(element):
            inner = is_rounded(part, element, level + 1)
            return f"coalesce(exists({value}, {part} -> {inner}), false)" if inner else ""
        case Map(_, of):
            inner = is_rounded(part, of, level + 1)
            return f"coalesce(exists(map_values({value}), {part} -> {inner}), false)" if inner else ""
        case Struct(fields):
            parts = (is_rounded(f"{value}.{quote(field.name)}", field.type, level) for field in fields)
            found = [part for part in parts if part]
            return f"({' or '.join(found)})" if found else ""
    return ""


def _is_cut(number: str, type: Decimal) -> str:
    if type.precision == MAX_PRECISION:
        return ""
    return f"({number} is not null and not coalesce(try_cast({number} as {to_ddl(type)}) = {number}, false))"


def whole_decimal(type: Decimal) -> Decimal:
    """The type with as many digits behind the point as there may be."""
    return Decimal(MAX_PRECISION, MAX_PRECISION - type.precision + type.scale)


def is_whole_time(text: str, type: DataType) -> str:
    """Spark SQL for whether a text says a date without a time of day, or a timestamp with its date."""
    trimmed = f"trim({text})"
    if type == DATE:
        is_day = f"(instr({trimmed}, ' ') = 0 and instr({trimmed}, 'T') = 0)"
        return (
            f"if({is_day}, try_cast({text} as date) is not null, "
            f"try_cast({text} as date) = try_cast({text} as timestamp_ntz))"
        )
    return f"(instr({trimmed}, ':') = 0 or instr({trimmed}, ':') > {len('T12:')})"


def whole_type(type: DataType, *, has_pattern: bool = False) -> DataType:
    """The type with such decimals, also of its parts, and with texts for dates, unless they have a pattern."""
    match type:
        case Array(element, nulls):
            return Array(whole_type(element, has_pattern=has_pattern), nulls)
        case Map(key, value, nulls):
            return Map(key, whole_type(value, has_pattern=has_pattern), nulls)
        case Struct(fields):
            parts = (replace(field, type=whole_type(field.type, has_pattern=has_pattern)) for field in fields)
            return Struct(tuple(parts))
        case Decimal():
            return whole_decimal(type)
    return STRING if type == DATE and not has_pattern else type


def unrounded(value: str, column: Column, options: Options) -> str:
    """Spark SQL for a value of `whole_type` in the column's type, as `on_malformed` asks for what does not fit."""
    fails = str(options.get("on_malformed") or "fail").lower() == "fail"
    if not isinstance(column.type, Decimal):
        is_unfit, whole = is_rounded(value, column.type), f"cast({value} as {to_ddl(column.type)})"
        failure = raise_unfit(whole_text(value, column.type), column)
        return f"if({is_unfit}, {failure if fails else 'null'}, {whole})"
    short = f"try_cast({value} as {to_ddl(column.type)})"
    exact = f"if({short} = {value}, {short}, null)"
    text = whole_text(value, column.type)
    if column.nullable:
        return f"coalesce({exact}, if({value} is null, null, {raise_unfit(text, column)}))" if fails else exact
    return f"coalesce({exact}, {raise_unfit(text, column)}, cast(0 as {to_ddl(column.type)}))"


def whole_text(value: str, type: DataType) -> str:
    """Spark SQL for the text of a value that is read as `whole_type` makes the type, as messages show it."""
    if isinstance(type, Decimal):
        return f"rtrim('0', cast({value} as string))"
    return f"cast({value} as string)" if type == DATE else f"to_json({value})"


def raise_unfit(text: str, column: Column) -> str:
    """Spark SQL that fails, and says the value."""
    facts = f"'column', {quote_text(column.name)}, 'type', {quote_text(str(column.type))}"
    value = f"'value', left({text}, {_SHOWN})"
    return f"raise_error(concat({quote_text(f'{UNFIT_VALUE} ')}, to_json(named_struct({facts}, {value}))))"
