"""A SQL job file with uniform white space: statements start at the margin, one empty line at most is between them.

Queries are kept as they are written but for their indent and blanks at line ends; texts and block comments are copied.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, SourceFile
from sql.script.split_statements import LEXEMES, report_unclosed

_PIECE: Final = re.compile(r"(?P<newline>\r?\n)|(?P<blank>[ \t]+)|(?P<end>;)|(?P<word>[^\s;'\"`/-]+|.)", re.DOTALL)
_OPTIONS: Final = re.compile(r"\bwith\s*\(\s*$", re.IGNORECASE)

Piece = tuple[str, str]
"""Its kind (`newline`, `blank`, `end`, `word`, `text` or `comment`) and its characters."""


def format_script(source: SourceFile, diagnostics: Diagnostics) -> str:
    """The formatted text; the text as it was where a quote or comment is not closed (the error is in `diagnostics`)."""
    pieces = _pieces(source.text)
    if pieces is None:
        report_unclosed(PlacedText.verbatim(source, 0, len(source.text)), diagnostics)
        return source.text
    text = "".join(_parts(pieces))
    again = _pieces(text)
    return text if again is not None and _words(again) == _words(pieces) else source.text


def _words(pieces: Sequence[Piece]) -> list[str]:
    """Everything but white space: the same before and after."""
    return [text.rstrip() if kind == "comment" else text for kind, text in pieces if kind not in ("newline", "blank")]


def _pieces(text: str) -> list[Piece] | None:
    pieces: list[Piece] = []
    position = 0
    for match in LEXEMES.finditer(text):
        if match["open"] or (match[0].startswith("/*") and not match[0].endswith("*/")):
            return None
        pieces += _plain(text[position : match.start()])
        pieces.append(("comment" if match[0].startswith(("--", "/*")) else "text", match[0]))
        position = match.end()
    return [*pieces, *_plain(text[position:])]


def _plain(text: str) -> Iterator[Piece]:
    for match in _PIECE.finditer(text):
        assert match.lastgroup is not None
        yield match.lastgroup, match[0]


def _parts(pieces: list[Piece]) -> Iterator[str]:
    """The statements, each with the comments before it and behind its `;`, and the empty lines between them."""
    rest = pieces
    is_first = True
    while rest:
        gap, rest = _leading(rest, "newline", "blank")
        if not rest:
            return
        if not is_first:
            yield "\n" if sum(kind == "newline" for kind, _ in gap) > 1 else ""
        is_first = False
        end = next((number for number, (kind, _) in enumerate(rest) if kind in ("end", "comment")), len(rest))
        if end == 0 and rest[0][0] == "comment":
            yield rest[0][1].rstrip() + "\n"
            rest = rest[1:]
            continue
        end = next((number for number, (kind, _) in enumerate(rest) if kind == "end"), len(rest))
        statement, rest = rest[:end], rest[end:]
        indent = len(gap[-1][1]) if gap and gap[-1][0] == "blank" else 0
        yield _statement(statement, indent)
        if rest:
            rest = rest[1:]
            yield ";"
            blank, after = _leading(rest, "blank")
            if after and after[0][0] == "comment" and "\n" not in after[0][1]:
                yield "".join(text for _, text in blank) or " "
                yield after[0][1].rstrip()
                rest = after[1:]
        yield "\n"


def _leading(pieces: list[Piece], *kinds: str) -> tuple[list[Piece], list[Piece]]:
    count = next((number for number, (kind, _) in enumerate(pieces) if kind not in kinds), len(pieces))
    return pieces[:count], pieces[count:]


def _statement(pieces: list[Piece], indent: int) -> str:
    """Without the indent of its first line, which its other lines lose as far as they have it."""
    lines: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece[0] == "newline":
            lines.append([])
        else:
            lines[-1].append(piece)
    shown = [_ended(line if not number else _dedented(line, indent)) for number, line in enumerate(lines)]
    while shown and not shown[-1]:
        shown.pop()
    lines_of_text = [line for number, line in enumerate(shown) if line or (number and shown[number - 1])]
    return _options("\n".join(lines_of_text))


def _dedented(line: list[Piece], indent: int) -> list[Piece]:
    if not line or line[0][0] != "blank":
        return line
    return [("blank", line[0][1].expandtabs(4)[indent:]), *line[1:]]


def _ended(line: list[Piece]) -> str:
    """The line without blanks at its end; those in a text that goes on in the next line are the text's."""
    while line and line[-1][0] == "blank":
        line = line[:-1]
    return "".join(text.rstrip() if kind == "comment" and text.startswith("--") else text for kind, text in line)


def _options(statement: str) -> str:
    """One blank around the `=` of a WITH list."""
    pieces = _pieces(statement) or []
    texts = [text for _, text in pieces]
    before = ""
    is_option = False
    for number, (kind, text) in enumerate(pieces):
        if kind == "text" and not is_option:
            is_option = bool(_OPTIONS.search(before))
        if is_option and kind == "word" and ")" in text:
            is_option = False
        if is_option and (kind, text) == ("word", "="):
            _space(pieces, texts, number)
        before = (before + text)[-200:]
    return "".join(texts)


def _space(pieces: list[Piece], texts: list[str], equals: int) -> None:
    for side in (equals - 1, equals + 1):
        if 0 <= side < len(pieces) and pieces[side][0] == "blank":
            texts[side] = " "
        elif 0 <= side < len(pieces) and pieces[side][0] != "newline":
            texts[equals] = texts[equals] + " " if side > equals else " " + texts[equals]
