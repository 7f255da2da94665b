"""Compares the answer of Spark's analyzer with that of `analyze`; needs no Spark itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from catalog.tables.table import Column
from catalog.types.datatypes import Array, DataType, Map, Struct, has_unknown
from sql.analyze import Analysis

_NAME_OF_THE_MOMENT: Final = re.compile(r"( AS |\blambda )\w+#\d+|, Some\(\w+\), ")
"""What Spark prints by an inner form: with a counter of the session's, never twice the same, or with its time zone."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The output columns of a query; of their types also the nullability of elements, values and fields."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Spark's error condition (`UNRESOLVED_COLUMN.WITH_SUGGESTION`), message and the offsets it points to, if any."""

    condition: str
    message: str
    start: int | None = None
    end: int | None = None


def differences(expected: Accepted, found: Analysis) -> list[str]:
    """The differences of an analysis from Spark's answer, one line each; unknown types do not count."""
    if found.table.is_open:
        return []
    if len(expected.columns) != len(found.columns):
        return [f"{len(found.columns)} columns for Spark's {len(expected.columns)}"]
    return [
        difference
        for pair in zip(expected.columns, found.columns, strict=True)
        for difference in _column_differences(*pair)
    ]


def _column_differences(expected: Column, found: Column) -> Iterator[str]:
    name = expected.name
    if found.name != name and not _NAME_OF_THE_MOMENT.search(name):
        yield f"name {found.name!r} for Spark's {name!r}"
    if has_unknown(found.type):
        return
    if str(found.type) != str(expected.type):
        yield f"{name}: type {found.type} for Spark's {expected.type}"
    elif found.nullable != expected.nullable:
        yield f"{name}: nullable {found.nullable} for Spark's {expected.nullable}"
    elif exact(found.type) != exact(expected.type):
        yield f"{name}: inside {exact(found.type)} for Spark's {exact(expected.type)}"


def exact(type: DataType) -> str:
    """The type's text with `not null` at each element, value and field that is never null."""
    match type:
        case Array(element, contains_null):
            return f"array<{exact(element)}{_mark(contains_null)}>"
        case Map(key, value, contains_null):
            return f"map<{exact(key)},{exact(value)}{_mark(contains_null)}>"
        case Struct(fields):
            return f"struct<{','.join(f'{field.name}:{exact(field.type)}{_mark(field.nullable)}' for field in fields)}>"
        case _:
            return str(type)


def _mark(nullable: bool) -> str:
    return "" if nullable else " not null"
