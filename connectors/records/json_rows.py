"""Rows as JSON objects, in Spark SQL: with all columns, also those that are NULL, and times as texts."""

from collections.abc import Iterable, Mapping
from typing import Final

from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from catalog.types.datatypes import TIMESTAMP, TIMESTAMP_NTZ, Array, DataType, Map, Struct, Time

_JSON_TIMES: Final = (
    "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSSXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS')"
)


_LOCAL: Final = "regexp_replace(date_format({}, 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS'), '[.]?0+$', '')"


def json_of(columns: Iterable[Column], *, is_local: bool = False) -> str:
    """An object of all columns; times that Spark's JSON has not, as text. `is_local`: timestamps have no zone, and no
    zeros at the end, as those of Apache SeaTunnel (ISO_LOCAL_DATE_TIME of Java)."""
    return to_json({each.name: jsonable(quote(each.name), each.type, is_local=is_local) for each in columns})


def to_json(values: Mapping[str, str]) -> str:
    """An object of these expressions, by their names."""
    return f"to_json({struct_of(values)}, {_JSON_TIMES})"


def struct_of(values: Mapping[str, str]) -> str:
    return f"named_struct({', '.join(f'{quote_text(name)}, {value}' for name, value in values.items())})"


def jsonable(value: str, type: DataType, level: int = 1, *, is_local: bool = False) -> str:
    """The value with its times as texts. `level`: how many lambda functions it is in."""
    part = f"x{level}"
    match type:
        case Time():
            return f"cast({value} as string)"
        case _ if is_local and type in (TIMESTAMP, TIMESTAMP_NTZ):
            return _LOCAL.format(value)
        case Array(element):
            inner = jsonable(part, element, level + 1, is_local=is_local)
            return value if inner == part else f"transform({value}, {part} -> {inner})"
        case Map(_, of):
            inner = jsonable(part, of, level + 1, is_local=is_local)
            return value if inner == part else f"transform_values({value}, (k{level}, {part}) -> {inner})"
        case Struct(fields):
            made = [
                (field.name, jsonable(f"{value}.{quote(field.name)}", field.type, level, is_local=is_local))
                for field in fields
            ]
            if all(inner == f"{value}.{quote(name)}" for name, inner in made):
                return value
            named = ", ".join(f"{quote_text(name)}, {inner}" for name, inner in made)
            return f"if({value} is null, null, named_struct({named}))"
    return value
