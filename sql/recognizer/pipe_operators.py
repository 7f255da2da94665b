"""Spark's grammar of pipe operators: what may stand behind `|>`."""

from collections.abc import Callable

from sql.recognizer.clauses import grouping, organization, windows
from sql.recognizer.cursor import Cursor, NotSparkError
from sql.recognizer.expressions import alias, expression, named_expression
from sql.recognizer.from_clause import JOINS, join, pivots, sample

_SET_OPERATIONS = ("UNION", "EXCEPT", "MINUS", "INTERSECT")


def operator(cursor: Cursor, term: Callable[[Cursor], None]) -> None:
    """One operator; `term` is the rule of a query without ORDER BY, which a set operation takes."""
    kind, start = cursor.kind, cursor.at
    if kind in JOINS:
        join(cursor)
    elif kind in _SET_OPERATIONS:
        cursor.at += 1
        if cursor.kind in ("ALL", "DISTINCT"):
            cursor.at += 1
        term(cursor)
    elif kind in _OPERATORS:
        cursor.at += 1
        _OPERATORS[kind](cursor)
    elif not pivots(cursor):
        sample(cursor)
        organization(cursor)
        if cursor.at == start:
            raise NotSparkError


def _select(cursor: Cursor) -> None:
    if cursor.kind in ("DISTINCT", "ALL"):
        cursor.at += 1
    _items(cursor)


def _items(cursor: Cursor) -> None:
    cursor.several(named_expression)
    windows(cursor)


def _where(cursor: Cursor) -> None:
    expression(cursor)
    windows(cursor)


def _set(cursor: Cursor) -> None:
    cursor.several(_assignment)
    windows(cursor)


def _assignment(cursor: Cursor) -> None:
    cursor.dotted_name()
    cursor.expect("=")
    expression(cursor)


def _drop(cursor: Cursor) -> None:
    cursor.several(Cursor.name)


def _aggregate(cursor: Cursor) -> None:
    if not (cursor.kind == "GROUP" and cursor.ahead() == "BY"):
        cursor.several(named_expression)
    if cursor.take_all("GROUP", "BY"):
        grouping(cursor, item_end=alias)


_OPERATORS: dict[str, Callable[[Cursor], None]] = {
    "SELECT": _select,
    "EXTEND": _items,
    "SET": _set,
    "DROP": _drop,
    "AS": Cursor.name,
    "WHERE": _where,
    "AGGREGATE": _aggregate,
}
