"""What a SQL script's queries become: names and types that a statement gives to the query's columns are written out."""

import re
from collections.abc import Sequence
from typing import Final

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from engine.job.script.tree_nodes import joined
from sql.script.statements import ColumnDefinition, Insert

_NAMES: Final = re.compile(r'"(?P<quoted>[^"]*)"|(?P<bare>[^\s,\[\]"](?:[^,\[\]"]*[^\s,\[\]"])?)')
_ALL_OF: Final = "SELECT * FROM ("
WHOLE_TABLE = re.compile(r"(?:SELECT\s+\*\s+FROM|TABLE|FROM|SELECT)\s+(`[^`]+`|\w+)", re.IGNORECASE)
"""Queries that are one table, as it is; `SELECT name` is SeaTunnel's way to say so."""


def whole_table(query: PlacedText) -> str | None:
    """The table that a query yields as it is."""
    match = WHOLE_TABLE.fullmatch(query.value.strip())
    return match[1].strip("`") if match else None


def renamed(query: PlacedText, columns: Sequence[ColumnDefinition], at: PlacedText) -> PlacedText:
    """The query with its columns named by position; the query itself if there are no names."""
    if not columns:
        return query
    names = ", ".join(quote(column.name.value) for column in columns)
    return joined(["SELECT * FROM (", query, f") AS {quote(at.value)}({names})"], at)


def inserted(insert: Insert, declared: Sequence[ColumnDefinition]) -> PlacedText:
    """The rows of an INSERT under the names of the table's columns, which they are matched with by position."""
    at, query = insert.target, insert.query
    names = [column.value for column in insert.columns] or [column.name.value for column in declared]
    if not names or insert.by_name:
        return query
    listed = ", ".join(quote(name) for name in names)
    return joined([_ALL_OF if declared else f"SELECT {listed} FROM (", query, f") AS {quote(at.value)}({listed})"], at)


def inserted_query(text: PlacedText) -> PlacedText:
    """The user's query within the text that `inserted` makes of it; other texts as they are."""
    start, end = len(_ALL_OF), text.value.rfind(") AS ")
    return text.slice(start, end) if text.value.startswith(_ALL_OF) and end > start else text


def definition(column: ColumnDefinition) -> str:
    """The column as CREATE TABLE declares it, without its comment."""
    text = f"{quote(column.name.value)} {column.type.value if column.type else ''}".rstrip()
    return f"{text}{'' if column.nullable else ' NOT NULL'}" + (
        f" DEFAULT {column.default.value}" if column.default else ""
    )


def stored_item(column: ColumnDefinition, is_given: bool) -> str:
    """What a SELECT list says for a declared column: the query's value if there is one, else its default or NULL."""
    name = quote(column.name.value)
    value = name if is_given else column.default.value if column.default else "NULL"
    if column.type is None:
        return name
    return f"CAST({value} AS {column.type.value}) AS {name}"


def names_in(text: PlacedText) -> tuple[PlacedText, ...]:
    """The names of a list `a, b` or `["a, b", c]`, each at its place."""
    found = _NAMES.finditer(text.value)
    return tuple(text.slice(*match.span(match.lastgroup or 0)) for match in found)
