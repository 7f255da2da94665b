"""Spark's grammar of queries in brackets."""

from typing import Final

from sql.recognizer.cursor import Cursor
from sql.recognizer.lexer import END

QUERY_STARTS: Final = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE"))


def starts_query(cursor: Cursor, ahead: int) -> bool:
    """Whether brackets open there with a query in them."""
    kinds, at = cursor.kinds, cursor.at + ahead
    if kinds[at] != "(":
        return False
    while kinds[at] == "(":
        at += 1
    follower = kinds[at + 1]
    if follower == "(":
        return kinds[at] in ("SELECT", "VALUES", "FROM")
    return kinds[at] in QUERY_STARTS and follower not in (".", ")", ",", END, "->")


def takes_query(cursor: Cursor) -> bool:
    """Reads the query in the brackets; not `((SELECT 1) + 1)`, which begins with one."""
    start = cursor.at
    if cursor.ahead() == "(":
        if start in cursor.no_queries:
            return False
        if not cursor.takes(bracketed_query):
            cursor.no_queries.add(start)
            return False
    else:
        bracketed_query(cursor)
    return True


def bracketed_query(cursor: Cursor) -> None:
    cursor.expect("(")
    cursor.query(cursor)
    cursor.expect(")")
