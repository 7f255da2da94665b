"""Spark's grammar of functions with words among their arguments: `CAST(x AS int)`, `TRIM(BOTH a FROM b)`."""

from collections.abc import Callable
from typing import Final

from sql.recognizer.cursor import NOT_AN_OPERAND, Cursor, NotSparkError, is_name
from sql.recognizer.data_types import data_type


def _cast(cursor: Cursor) -> bool:
    cursor.expect("(")
    cursor.expression(cursor)
    cursor.expect("AS")
    data_type(cursor)
    cursor.expect(")")
    return True


def _extract(cursor: Cursor) -> bool:
    if not (is_name(cursor.ahead()) and cursor.ahead(2) == "FROM"):
        return False
    cursor.at += 3
    cursor.value(cursor)
    cursor.expect(")")
    return True


def _position(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    try:
        cursor.value(cursor)
        cursor.expect("IN")
    except NotSparkError:
        cursor.at = start
        return False
    cursor.value(cursor)
    cursor.expect(")")
    return True


def _substring(cursor: Cursor) -> bool:
    cursor.expect("(")
    cursor.value(cursor)
    if not cursor.take("FROM"):
        cursor.expect(",")
    cursor.value(cursor)
    if cursor.take("FOR") or cursor.take(","):
        cursor.value(cursor)
    cursor.expect(")")
    return True


def _trim(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    has_side = cursor.kind in ("BOTH", "LEADING", "TRAILING") and cursor.ahead() not in NOT_AN_OPERAND
    cursor.at += has_side
    if not cursor.take("FROM"):
        cursor.value(cursor)
        if not cursor.take("FROM"):
            if has_side:
                raise NotSparkError
            cursor.at = start
            return False
    cursor.value(cursor)
    cursor.expect(")")
    return True


def _overlay(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    cursor.value(cursor)
    if not cursor.take("PLACING"):
        cursor.at = start
        return False
    cursor.value(cursor)
    cursor.expect("FROM")
    cursor.value(cursor)
    if cursor.take("FOR"):
        cursor.value(cursor)
    cursor.expect(")")
    return True


def _ignoring(cursor: Cursor) -> bool:
    """`first(x IGNORE NULLS)`, which takes no OVER."""
    start = cursor.at
    cursor.expect("(")
    if cursor.kind in ("DISTINCT", "ALL", ")"):
        cursor.at = start
        return False
    cursor.expression(cursor)
    if not cursor.take_all("IGNORE", "NULLS"):
        cursor.at = start
        return False
    cursor.expect(")")
    return True


FUNCTION_SYNTAX: Final[dict[str, Callable[[Cursor], bool]]] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "EXTRACT": _extract,
    "POSITION": _position,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "TRIM": _trim,
    "OVERLAY": _overlay,
    **dict.fromkeys(("FIRST", "LAST", "ANY_VALUE"), _ignoring),
}
"""Each reads a call from its bracket on; False if the call is written as that of any function."""
