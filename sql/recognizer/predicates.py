"""Spark's grammar of predicates behind a value: IS, IN, BETWEEN and LIKE."""

from typing import Final

from sql.recognizer.cursor import NOT_AN_OPERAND, Cursor, NotSparkError
from sql.recognizer.lexer import STRING
from sql.recognizer.nested_queries import starts_query, takes_query

PREDICATES: Final = frozenset(("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP"))
_OPERANDS: Final = frozenset((STRING, "(", "+", "-"))
"""What makes a value of the word before it: `SELECT 'a'` is a literal of the type `select`, `VALUES (1)` a call."""
_NO_QUERY: Final = "IN takes this for a list of values, not for a query: give the first value an alias, `AS …`"
PREDICATE_STARTS: Final = PREDICATES | {"IS", "NOT", "!"}


def predicate(cursor: Cursor) -> None:
    kind, follower = cursor.kind, cursor.ahead()
    if kind == "!" and follower in PREDICATES:
        raise NotSparkError
    if kind == "NOT" and follower in PREDICATES:
        cursor.at += 1
        kind, follower = follower, cursor.ahead()
        if kind == "IN" and follower != "(":
            cursor.at += 1
            raise NotSparkError
    if kind == "IS" and follower in ("NULL", "NOT", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"):
        _is(cursor)
    elif kind == "IN" and follower == "(":
        cursor.at += 1
        is_word = cursor.ahead() in ("SELECT", "VALUES") and cursor.ahead(2) in _OPERANDS
        if is_word and cursor.would_take(_values_after_word):
            cursor.at += 1
            raise NotSparkError(_NO_QUERY)
        if not starts_query(cursor, 0) or not takes_query(cursor):
            _values(cursor)
    elif kind == "BETWEEN" and follower not in NOT_AN_OPERAND:
        cursor.at += 1
        cursor.value(cursor)
        cursor.expect("AND")
        cursor.value(cursor)
    elif kind in ("LIKE", "ILIKE", "RLIKE", "REGEXP") and follower not in NOT_AN_OPERAND:
        _pattern(cursor, kind)


def _values(cursor: Cursor) -> None:
    cursor.expect("(")
    cursor.several(cursor.expression)
    cursor.expect(")")


def _values_after_word(cursor: Cursor) -> None:
    """Values of which the first begins with a word like `select`."""
    cursor.expect("(")
    cursor.at += cursor.ahead() == STRING
    cursor.several(cursor.expression)
    cursor.expect(")")


def _is(cursor: Cursor) -> None:
    cursor.at += 1
    cursor.take("NOT")
    if cursor.take("DISTINCT"):
        cursor.expect("FROM")
        cursor.value(cursor)
    elif cursor.kind in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
        cursor.at += 1
    else:
        raise NotSparkError


def _pattern(cursor: Cursor, kind: str) -> None:
    cursor.at += 1
    is_quantified = cursor.kind in ("ANY", "SOME", "ALL") and cursor.ahead() == "("
    if is_quantified and kind in ("LIKE", "ILIKE"):
        cursor.at += 2
        cursor.several(cursor.expression)
        cursor.expect(")")
        return
    cursor.value(cursor)
    if kind in ("LIKE", "ILIKE") and cursor.kind == "ESCAPE" and cursor.ahead() not in NOT_AN_OPERAND:
        cursor.at += 1
        cursor.string()
