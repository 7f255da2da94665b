"""Literals and quoted names of another dialect in Spark's spelling, so that Spark's tokenizer reads them as meant.

`'\\d'` is a backslash and a letter, `"name"` is a column, `1.5` is a double; `''` inside a text is one quote. A name
may have letters of any script.
"""

import re
from dataclasses import replace
from typing import Final

from catalog.diagnostics.source import PlacedText, Segment
from catalog.quoting import quote, quote_text

_PIECE: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
      | (?P<name>`(?:[^`]|``)*`)
      | '(?P<text>(?:[^']|'')*)'
      | "(?P<column>[^"]*)"
      | (?<!\w)(?P<word>(?=\w*[^\x00-\x7f])[^\W\d]\w*)
      | (?<![\w.`)])(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])""",
    re.VERBOSE | re.DOTALL,
)


def in_spark_spelling(query: PlacedText) -> PlacedText:
    """The query with its literals and quoted names as Spark writes them; each stands where it was written."""
    parts: list[str | PlacedText] = []
    position = 0
    for match in _PIECE.finditer(query.value):
        spelled = _spelled(match)
        if spelled is not None and spelled != match.group():
            parts += [query.slice(position, match.start()), standing_at(query, *match.span(), spelled)]
            position = match.end()
    if not position:
        return query
    return PlacedText.join([*parts, query.slice(position, len(query.value))])


def standing_at(text: PlacedText, start: int, end: int, value: str) -> PlacedText:
    """A value that stands for the characters `start` to `end` of the text."""
    part = text.slice(start, end)
    if not part.segments or not value:
        return replace(part, value=value, segments=())
    return PlacedText(
        value, text.source, (Segment(0, len(value), part.segments[0].file_start, part.segments[-1].file_end),)
    )


def _spelled(match: re.Match[str]) -> str | None:
    if (text := match["text"]) is not None:
        return quote_text(text.replace("''", "'"))
    if (column := match["column"]) is not None:
        return quote(column)
    if (word := match["word"]) is not None:
        return quote(word)
    return f"{number}D" if (number := match["number"]) is not None else None
