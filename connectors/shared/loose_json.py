"""JSON as services write it, read strictly: both 1 and "1" are the number one, and nothing else is."""

from typing import Final

from catalog.quoting import quote
from catalog.types.datatypes import BINARY, BOOLEAN, STRING, VARIANT, Array, DataType, Decimal, Field, Map, Struct
from catalog.types.typenames import to_ddl

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
