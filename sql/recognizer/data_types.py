"""Spark's grammar of types: `array<int>`, `decimal(10, 2)`, `interval day to second`."""

from typing import Final

from sql.recognizer.cursor import Cursor, is_name
from sql.recognizer.lexer import NUMBER

_INTERVAL_UNITS: Final = frozenset(("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"))


def data_type(cursor: Cursor) -> None:
    kind = cursor.kind
    if kind in ("ARRAY", "MAP") and cursor.ahead() == "<":
        cursor.at += 2
        data_type(cursor)
        if kind == "MAP":
            cursor.expect(",")
            data_type(cursor)
        cursor.expect(">")
    elif kind == "STRUCT" and cursor.ahead() in ("<", "<>"):
        cursor.at += 2
        if cursor.ahead(-1) == "<" and not cursor.take(">"):
            cursor.several(_field)
            cursor.expect(">")
    elif kind == "INTERVAL" and cursor.ahead() in _INTERVAL_UNITS:
        cursor.at += 2
        if cursor.kind == "TO" and cursor.ahead() in _INTERVAL_UNITS:
            cursor.at += 2
    else:
        _plain(cursor)


def _plain(cursor: Cursor) -> None:
    cursor.name()
    if cursor.take("("):
        cursor.expect(NUMBER)
        while cursor.take(","):
            cursor.expect(NUMBER)
        cursor.expect(")")
    for words in (("WITHOUT", "TIME", "ZONE"), ("WITH", "LOCAL", "TIME", "ZONE")):
        if cursor.take_all(*words):
            return
    if cursor.kind == "COLLATE" and is_name(cursor.ahead()):
        cursor.at += 1
        cursor.dotted_name()


def _field(cursor: Cursor) -> None:
    cursor.name()
    cursor.take(":")
    data_type(cursor)
    cursor.take_all("NOT", "NULL")
    if cursor.take("COMMENT"):
        cursor.string()
