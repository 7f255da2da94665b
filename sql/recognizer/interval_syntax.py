"""Spark's grammar of INTERVAL literals."""

from typing import Final

from sql.recognizer.cursor import Cursor, NotSparkError, is_name
from sql.recognizer.lexer import NUMBER, STRING

_UNITS: Final = frozenset(
    f"{unit}{plural}"
    for unit in ("NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
    for plural in ("", "S")
)


def interval(cursor: Cursor) -> None:
    """`INTERVAL '1 day'`, `INTERVAL 1 DAY 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`."""
    cursor.at += 1
    if cursor.kind == STRING and cursor.ahead() not in _UNITS:
        cursor.at += 1
        return
    while cursor.kind in (NUMBER, STRING) or (cursor.kind in ("+", "-") and cursor.ahead() in (NUMBER, STRING)):
        signed = cursor.kind in ("+", "-")
        if cursor.ahead(1 + signed) not in _UNITS:
            if is_name(cursor.ahead(1 + signed)) and cursor.kinds[cursor.at - 1] == "INTERVAL":
                cursor.at += 1 + signed
                raise NotSparkError(f"`{cursor.kind}` is not a unit of time")
            break
        cursor.at += 2 + signed
        if cursor.kind == "TO" and cursor.ahead() in _UNITS:
            cursor.at += 2
            return
