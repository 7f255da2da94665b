"""Typed literals: `DATE '2020-01-31'`, `TIMESTAMP '...'`, `X'1F'`."""

import re
from calendar import monthrange
from collections.abc import Iterator
from typing import Final

from sqlglot.tokenizer_core import Token

from sql.grammar.parse import SyntaxIssue

_SPECIAL: Final = frozenset(("epoch", "now", "today", "yesterday", "tomorrow"))
_DATE: Final = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?P<rest>[ T].*)?)?)?", re.DOTALL)
_TIME: Final = re.compile(r"T?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?(?P<zone>.*)", re.DOTALL)


def literal_issue(word: Token, literal: Token) -> Iterator[SyntaxIssue]:
    """The error of a literal of a type that a word before it names."""
    kind = word.text.upper()
    value = literal.text
    match kind:
        case "DATE" if not is_date(value):
            what = "date"
        case "TIMESTAMP" | "TIMESTAMP_NTZ" | "TIMESTAMP_LTZ" if not is_timestamp(value):
            what = "timestamp"
        case _:
            return
    message = f"'{value}' is no {what}"
    yield SyntaxIssue(literal.start, literal.end + 1, message, code="PEN3013")


def is_date(value: str) -> bool:
    """As Spark's `stringToDate`: `[+-]yyyy[-M[-d[ T...]]]`, or a special word."""
    stripped = value.strip()
    if stripped.lower() in _SPECIAL:
        return True
    found = _DATE.fullmatch(stripped)
    return found is not None and _exists(found)


def is_timestamp(value: str) -> bool:
    """As Spark's `stringToTimestamp`: a date, a time of day or both, and a zone that is not looked at."""
    stripped = value.strip()
    if stripped.split(" ")[0].lower() in _SPECIAL:
        return True
    found = _DATE.fullmatch(stripped)
    if found is None:
        return (time := _TIME.fullmatch(stripped)) is not None and _is_time(time)
    if not _exists(found):
        return False
    rest = (found["rest"] or "")[1:].strip()
    return not rest or ((time := _TIME.fullmatch(rest)) is not None and _is_time(time))


_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?(?:\s*[AP]M)?", re.ASCII | re.IGNORECASE)


def is_time(value: str) -> bool:
    """Whether a text is `h:m[:s[.fraction]]`."""
    found = _CLOCK.fullmatch(value.strip())
    return found is not None and _is_time(found)


def _exists(found: re.Match[str]) -> bool:
    year, month, day = (int(part) if part else 1 for part in found.groups()[:3])
    return 1 <= month <= 12 and 1 <= day <= monthrange(abs(year) % 400 + 400, month)[1]


def _is_time(found: re.Match[str]) -> bool:
    hour, minute, second = (int(part) if part else 0 for part in found.groups()[:3])
    return hour < 24 and minute < 60 and second < 60
