"""Names and texts as Spark SQL reads them."""

import re
from collections.abc import Iterable
from typing import Final

_PLAIN: Final = re.compile(r"\w+")
_PART: Final = re.compile(r"`((?:[^`]|``)+)`(?:\.|\Z)|([^.`]+)(?:\.|\Z)")


def quote(name: str) -> str:
    """A name as a quoted identifier."""
    return "`" + name.replace("`", "``") + "`"


def short_name(names: Iterable[str]) -> str:
    """Names with dots between, quoted only where `parse_name` needs it."""
    return ".".join(name if _PLAIN.fullmatch(name) else quote(name) for name in names)


def quote_text(value: str) -> str:
    """A value as a string literal (escapes as with `spark.sql.parser.escapedStringLiterals` off)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def parse_name(text: str) -> tuple[str, ...]:
    """The parts of `a.b.c`, each in backquotes or not. Raises ValueError where it is no name."""
    parts, position = [], 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise ValueError(text)
        parts.append(match[1].replace("``", "`") if match[1] else match[2].strip())
        position = match.end()
    if not parts or not all(parts) or text.endswith("."):
        raise ValueError(text)
    return tuple(parts)
