"""Abbreviates the check of a stored value in a query's text: only its cast is shown.

if(not (try_cast(…) <=> `a`), raise_error(concat('penstock.lost_value ', …)), cast(`a` as int))
lossless_cast(`a` as int)
"""

from typing import Final

from catalog.tables.checked_cast import LOST_VALUE

_RAISES: Final = f"raise_error(concat('{LOST_VALUE} '"


def with_short_casts(text: str) -> str:
    """The text with each check of a stored value as `lossless_cast(value AS type)`; it runs as it is written."""
    while (at := text.find(_RAISES)) >= 0:
        start, end = _opening(text, at), _closing(text, at + len(_RAISES))
        cast = text[end + len(")), ") :]
        stop = _closing(cast, len("cast("))
        text = f"{text[:start]}lossless_{cast[:stop]}){cast[stop + 2 :]}"
    return text


def _opening(text: str, at: int) -> int:
    """The start of the `if(` in which a position is."""
    depth = 0
    for index in range(at - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[index], 0)
        if depth < 0 and text[index - 2 : index] == "if":
            return index - 2
    return 0


def _closing(text: str, at: int) -> int:
    """The bracket that closes the one in which a position is."""
    depth = 0
    for index in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth < 0:
            return index
    return len(text)
