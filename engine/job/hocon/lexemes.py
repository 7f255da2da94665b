"""The words of HOCON: keys, strings, numbers and substitutions, read at an offset; None if there is no such one."""

import json
import re
from typing import Final

from catalog.diagnostics.source import PlacedText, Segment, SourceFile
from engine.job.hocon.syntax import Substitution
from engine.job.model.tree import Place, ScalarNode, TextNode

_SIMPLE_KEY: Final = re.compile(r"([\w-]+)[ \t]*(?=[={:])")
_KEY_PART: Final = re.compile(r'[^\s"{}\[\]:=,+#`^?!@*&\\$.]+(?:[ \t]+[^\s"{}\[\]:=,+#`^?!@*&\\$.]+)*')
_QUOTED: Final = re.compile(r'"((?:[^"\\\n]|\\[^\n])*)"')
_TRIPLE: Final = re.compile(r'"""(.*?"*)"""', re.DOTALL)
_WORD: Final = r'(?:[^`^+?!@*&"\[{\s\]}#,=$\\]|\\[^\n])+'
_UNQUOTED: Final = re.compile(rf"{_WORD}(?:[ \t]+(?!//){_WORD})*")
_NUMBER: Final = re.compile(r"[+-]?(?:\d*\.\d+|\d+(?:\.\d+)?)(?:[eE][+-]?\d+)?(?=[ \t]*(?:[$}\],#\r\n]|//|\Z))")
_SUBSTITUTION: Final = re.compile(r"\$\{(\?)?([^}:\n]+)(?::([^}\n]*))?\}")
_ESCAPE: Final = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_ESCAPES: Final = {
    '\\"': '"', "\\\\": "\\", "\\/": "/", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t",
    "\\=": "=", "\\#": "#", "\\!": "!",
}  # fmt: skip
_MOST_DIGITS: Final = 1_000
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


def key_at(source: SourceFile, start: int) -> tuple[list[tuple[str, int, int]], int]:
    """The steps of a key with their places, and where it ends: `a."b.c"` has the steps `a` and `b.c`."""
    text, position = source.text, start
    simple = _SIMPLE_KEY.match(text, position)
    if simple:
        return [(simple.group(1), simple.start(1), simple.end(1))], simple.end()
    steps: list[tuple[str, int, int]] = []
    while True:
        quoted = _TRIPLE.match(text, position) or _QUOTED.match(text, position)
        part = quoted or _KEY_PART.match(text, position)
        if part is None:
            return steps, position
        name = unescape(quoted.group(1), source, quoted.start(1)).value if quoted else part.group()
        steps.append((name, part.start(), part.end()))
        position = part.end()
        while text.startswith(".", position):
            position += 1
        if text[position - 1] != ".":
            return steps, position


def string_at(source: SourceFile, start: int) -> TextNode | None:
    """A text between quotes, single or triple ones."""
    triple = source.text.startswith('"""', start)
    match = (_TRIPLE if triple else _QUOTED).match(source.text, start)
    if match is None:
        return None
    inner = match.group(1)
    if triple or "\\" not in inner:
        text = PlacedText(inner, source, (Segment(0, len(inner), *match.span(1)),))
    else:
        text = unescape(inner, source, match.start(1))
    return TextNode(text, Place(source, start, match.end()))


def substitution_at(source: SourceFile, start: int) -> Substitution | None:
    """`${name}`, `${?name}` or `${name:default}`."""
    match = _SUBSTITUTION.match(source.text, start)
    if match is None:
        return None
    return Substitution(match.group(2).strip(), bool(match.group(1)), match.group(3), Place(source, *match.span()))


def word_at(source: SourceFile, start: int) -> ScalarNode | TextNode | None:
    """A number, a constant, or text without quotes."""
    number = _NUMBER.match(source.text, start)
    match = number or _UNQUOTED.match(source.text, start)
    if match is None:
        return None
    written = match.group()
    place = Place(source, start, match.end())
    if number and len(written) > _MOST_DIGITS:  # more than Python reads, and than any type holds
        return TextNode(PlacedText(written, source, (Segment(0, len(written), start, match.end()),)), place)
    if number:
        return ScalarNode(int(written) if written.lstrip("+-").isdigit() else float(written), place, written)
    if written in _CONSTANTS:  # as in Lightbend's HOCON: `NULL` is a text
        return ScalarNode(_CONSTANTS[written], place, written)
    if "\\" in written:
        return TextNode(unescape(written, source, start), place)
    return TextNode(PlacedText(written, source, (Segment(0, len(written), start, match.end()),)), place)


def unescape(text: str, source: SourceFile, start: int) -> PlacedText:
    """A string without its quotes, which stands at `start` of the file, with its escapes undone."""
    pieces: list[str] = []
    segments: list[Segment] = []
    length = position = 0
    for escape in _ESCAPE.finditer(text):
        written = escape.group()
        plain = _ESCAPES.get(written) or (json.loads(f'"{written}"') if len(written) > 2 else written)
        for piece, first, last in (
            (text[position : escape.start()], position, escape.start()),
            (plain, *escape.span()),
        ):
            if piece:
                pieces.append(piece)
                segments.append(Segment(length, length + len(piece), start + first, start + last))
                length += len(piece)
        position = escape.end()
    rest = text[position:]
    if rest or not segments:
        pieces.append(rest)
        segments.append(Segment(length, length + len(rest), start + position, start + len(text)))
    return PlacedText("".join(pieces), source, tuple(segments))
