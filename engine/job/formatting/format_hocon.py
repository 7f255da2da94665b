"""HOCON with uniform white space: two blanks of indent a level, one around `=`, lines as the author broke them.

Texts, numbers, keys and comments are copied as they are written. The text is read again and compared, so that a file
is changed only where it means the same afterwards.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.job.hocon.include import Includes
from engine.job.hocon.parse import parse
from engine.job.hocon.syntax import Concatenation, HoconArray, HoconField, HoconObject, Substitution, Syntax
from engine.job.model.tree import Place, ScalarNode, TextNode

INDENT: Final = "  "
_BETWEEN: Final = re.compile(
    r"(?P<newline>\r?\n)|(?P<comment>#[^\n]*|//[^\n]*)|(?P<blank>[ \t\ufeff]+)"
    r"|(?P<open>[{\[])|(?P<close>[}\]])|(?P<comma>,)|(?P<equals>\+?=)|(?P<colon>:)|(?P<dot>\.)"
    r"|(?P<leaf>include\b[^\n\"]*\"(?:[^\"\\\n]|\\.)*\"[ \t)]*)",
    re.IGNORECASE,
)


class LexemeKind(str, Enum):
    NEWLINE = "newline"
    COMMENT = "comment"
    BLANK = "blank"
    OPEN = "open"
    CLOSE = "close"
    COMMA = "comma"
    EQUALS = "equals"
    COLON = "colon"
    DOT = "dot"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class Lexeme:
    kind: LexemeKind
    text: str


def format_hocon(source: SourceFile, diagnostics: Diagnostics) -> str:
    """The formatted text; the text as it was where it cannot be read (errors are in `diagnostics`)."""
    found = Diagnostics()
    before = parse(source, found, _NoIncludes(source.path))
    diagnostics.extend(found)
    lexemes = list(_lexemes(source.text, before))
    if found.has_errors or any(lexeme is None for lexeme in lexemes):
        return source.text
    text = _Printer().print([lexeme for lexeme in lexemes if lexeme is not None])
    after = parse(SourceFile(source.path, text), Diagnostics(), _NoIncludes(source.path))
    return text if meaning(before) == meaning(after) else source.text


class _NoIncludes(Includes):
    """Included files are formatted by themselves: here the statement stands for them."""

    def find(
        self, name: str, kind: str, required: bool, place: Place, diagnostics: Diagnostics
    ) -> tuple[SourceFile, ...]:
        return ()


def meaning(value: Syntax) -> object:
    """What was read, without places: fields in their order, every duplicate, and the text of leaves as written."""
    match value:
        case HoconObject(fields):
            return {"fields": [(item.key, item.is_append, meaning(item.value)) for item in fields]}
        case HoconArray(items):
            return [meaning(item) for item in items]
        case Concatenation(parts) if not _is_leaf(value):
            return ("joined", [meaning(part) for part in parts])
        case _:
            return value.place.source.text[value.place.start : value.place.end]


# --- the text as lexemes ---


def _lexemes(text: str, root: Syntax) -> Iterator[Lexeme | None]:
    """The text cut at its leaves; None where something between them is unknown."""
    position = 0
    for start, end in sorted(set(_leaves(root))):
        yield from _between(text, position, start)
        yield Lexeme(LexemeKind.LEAF, text[start:end])
        position = end
    yield from _between(text, position, len(text))


def _between(text: str, start: int, end: int) -> Iterator[Lexeme | None]:
    while start < end:
        match = _BETWEEN.match(text, start, end)
        if match is None or match.lastgroup is None:
            yield None
            return
        yield Lexeme(LexemeKind(match.lastgroup), match.group())
        start = match.end()


def _leaves(value: Syntax) -> Iterator[tuple[int, int]]:
    """Where keys and values that are copied as written start and end."""
    match value:
        case HoconObject(fields):
            for written in fields:
                yield from _field_leaves(written)
        case HoconArray(items):
            for item in items:
                yield from _leaves(item)
        case Concatenation(parts) if not _is_leaf(value):
            for part in parts:
                yield from _leaves(part)
        case _:
            yield value.place.start, value.place.end


def _field_leaves(item: HoconField) -> Iterator[tuple[int, int]]:
    yield item.key_place.start, item.key_place.end
    yield from _leaves(item.value)


def _is_leaf(value: Syntax) -> bool:
    """Whether blanks within the value count: a text, or texts side by side."""
    if isinstance(value, Concatenation):
        return all(_is_leaf(part) for part in value.parts)
    return isinstance(value, TextNode | ScalarNode | Substitution)


# --- lexemes as text ---


@dataclass(slots=True)
class _Printer:
    """Prints line by line; `open_indents` are the indents of the lines on which the open brackets are."""

    lines: list[str] = field(default_factory=list)
    open_indents: list[int] = field(default_factory=list)
    goes_on: bool = False  # the value of a `=` is on the next line
    has_opened: bool = False  # the last line ends in an open bracket

    def print(self, lexemes: list[Lexeme]) -> str:
        line: list[Lexeme] = []
        for lexeme in [*lexemes, Lexeme(LexemeKind.NEWLINE, "\n")]:
            if lexeme.kind is LexemeKind.NEWLINE:
                self.line(line)
                line = []
            else:
                line.append(lexeme)
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join([*self.lines, ""]) if self.lines else ""

    def line(self, lexemes: list[Lexeme]) -> None:
        words = [lexeme for lexeme in lexemes if lexeme.kind is not LexemeKind.BLANK]
        if not words:
            if self.lines and self.lines[-1] and not self.has_opened:
                self.lines.append("")
            return
        if words[0].kind is LexemeKind.CLOSE and self.lines and not self.lines[-1]:
            self.lines.pop()
        elif not self.open_indents and self.lines and re.match(r"[}\]]", self.lines[-1]):
            self.lines.append("")  # between two sections
        indent = self.indent(words)
        for word in words:
            if word.kind is LexemeKind.OPEN:
                self.open_indents.append(indent)
            elif word.kind is LexemeKind.CLOSE and self.open_indents:
                self.open_indents.pop()
        last = [word for word in words if word.kind is not LexemeKind.COMMENT][-1:]
        if last:
            self.goes_on = last[0].kind in (LexemeKind.EQUALS, LexemeKind.COLON)
            self.has_opened = last[0].kind is LexemeKind.OPEN
        else:
            self.has_opened = False
        self.lines.append(INDENT * indent + _spaced(lexemes))

    def indent(self, words: list[Lexeme]) -> int:
        """Closers are where the line of their opener starts, all else one level further than the innermost bracket."""
        closers = 0
        while closers < min(len(words), len(self.open_indents)) and words[closers].kind is LexemeKind.CLOSE:
            closers += 1
        if closers:
            return self.open_indents[-closers]
        return (self.open_indents[-1] + 1 if self.open_indents else 0) + self.goes_on


def _spaced(lexemes: list[Lexeme]) -> str:
    text = ""
    before: Lexeme | None = None
    gap = ""
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.BLANK:
            gap = lexeme.text
            continue
        if before is not None:
            text += _gap(before, lexeme, gap)
        text += lexeme.text.rstrip() if lexeme.kind is LexemeKind.COMMENT else lexeme.text
        before, gap = lexeme, ""
    return text


def _gap(before: Lexeme, after: Lexeme, written: str) -> str:
    """The blanks between two lexemes of a line; those before a comment stay, since comments may be aligned."""
    match before, after:
        case _, Lexeme(LexemeKind.COMMENT):
            return written or INDENT
        case (Lexeme(LexemeKind.DOT), _) | (_, Lexeme(LexemeKind.DOT | LexemeKind.COMMA | LexemeKind.COLON)):
            return ""
        case (
            (Lexeme(LexemeKind.OPEN, "["), _)
            | (_, Lexeme(LexemeKind.CLOSE, "]"))
            | (Lexeme(LexemeKind.OPEN), Lexeme(LexemeKind.CLOSE))
        ):
            return ""
        case _:
            return " "
