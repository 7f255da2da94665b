"""Typed literals: `DATE '2020-01-31'`, `TIMESTAMP '...'`, `X'1F'`."""

import re
from collections.abc import Iterator
from typing import Final

from sqlglot.tokenizer_core import Token

from sql.grammar.datetime_text import is_date, read_timestamp
from sql.grammar.parse import SyntaxIssue


def literal_issue(word: Token, literal: Token) -> Iterator[SyntaxIssue]:
    """The error of a literal of a type that a word before it names."""
    kind = word.text.upper()
    value = literal.text
    match kind:
        case "DATE" if not is_date(value):
            what = "date"
        case "TIMESTAMP" | "TIMESTAMP_NTZ" | "TIMESTAMP_LTZ" if read_timestamp(value) is None:
            what = "timestamp"
        case _:
            return
    message = f"'{value}' is no {what}"
    yield SyntaxIssue(literal.start, literal.end + 1, message, code="PEN3013")


_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?(?:\s*[AP]M)?", re.ASCII | re.IGNORECASE)


def is_time(value: str) -> bool:
    """Whether a text is `h:m[:s[.fraction]]`."""
    found = _CLOCK.fullmatch(value.strip())
    return found is not None and _is_time(found)


def _is_time(found: re.Match[str]) -> bool:
    hour, minute, second = (int(part) if part else 0 for part in found.groups()[:3])
    return hour < 24 and minute < 60 and second < 60
