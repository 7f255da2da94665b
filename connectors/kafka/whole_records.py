"""Formats of sinks whose rows are records already: columns named `key`, `value` and so on are its parts."""

from collections.abc import Iterable, Mapping
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BINARY, INT, STRING, DataType, Map

NATIVE: Final = "native"
DEBEZIUM_RECORDS: Final = "compatible_debezium_json"
WHOLE_FORMATS: Final = (NATIVE, DEBEZIUM_RECORDS)
_TEXTS: Final = (STRING, BINARY)
_PARTS: Final[Mapping[str, Mapping[str, tuple[DataType, ...]]]] = {
    NATIVE: {
        "headers": (Map(STRING, STRING),), "key": _TEXTS, "partition": (INT,), "value": _TEXTS, "topic": (STRING,),
    },
    DEBEZIUM_RECORDS: {"topic": (STRING,), "key": _TEXTS, "value": _TEXTS},
}  # fmt: skip
"""The columns of each format, and their types."""

_UNWRITTEN: Final = ("offset", "timestamp", "timestampType")
"""Columns of the source's format `native` that Spark's data source cannot write."""


def check_whole_records(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report rows that are no records: columns that are missing, have no part in a record, or another type."""
    kind = str(options["format"]).lower()
    parts, place = _PARTS[kind], options.span("format")
    needed = ["value", *(["topic"] if options.get("topic") is None else [])]
    if missing := next((name for name in needed if table.column(name) is None), None):
        help = f"select it, or leave `format` out: `json` writes all columns; {kind} writes {_listed(parts)}"
        message = f"`format = {kind}` writes the column `{missing}`, which the rows do not have"
        diagnostics.error("PEN4008", message, place, help)
    known = (*parts, *(_UNWRITTEN if kind == NATIVE else ()))
    if surplus := [column.name for column in table.columns if column.name not in known]:
        message = f"`format = {kind}` writes {_listed(parts)}: a record has no part for {_listed(surplus)}"
        diagnostics.error("PEN2011", message, place, "leave them out of the rows, or write `format = json`")
    for column in table.columns:
        types = parts.get(column.name, (column.type,))
        if not any(str(column.type) == str(type) for type in types):
            message = f"`{column.name}` is {column.type}: `format = {kind}` takes {' or '.join(map(str, types))}"
            diagnostics.error("PEN2011", message, place, f"cast it: `CAST({column.name} AS {types[0]})`")
    if kind == NATIVE and (lost := [name for name in _UNWRITTEN if table.column(name)]):
        message = f"records get an offset and a time of their own: {_listed(lost)} of the rows are not written"
        diagnostics.warning("PEN2011", message, place, "leave them out of the rows, or add their values to `headers`")


def part(name: str, columns: tuple[Column, ...], none: str) -> str:
    """SQL for a part of the record: the column of that name, or `none`."""
    return quote(name) if any(column.name == name for column in columns) else none


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
