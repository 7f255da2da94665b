"""A cursor over the tokens of one statement, and the literals of Spark SQL as values with their location."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from catalog.diagnostics.source import PlacedText, Segment, Span

STRINGS = (TokenType.STRING, TokenType.RAW_STRING)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
"""What follows a backslash in a string literal of Spark and means another character (`\\%` and `\\_` keep both)."""

CLOSERS = {")": "(", "]": "[", ">": "<"}


class ScriptSyntaxError(Exception):
    """A token that does not fit; caught at the statement or list element, and reported with its place."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.message, self.span, self.help = message, span, help


@dataclass(slots=True)
class TokenCursor:
    """The tokens of a statement and how far they were read."""

    text: PlacedText
    tokens: Sequence[Token]
    index: int = 0

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.tokens)

    @property
    def token(self) -> Token | None:
        return None if self.at_end else self.tokens[self.index]

    def word(self, ahead: int = 0) -> str:
        """The token as written, in upper case; empty past the end and for quoted tokens."""
        if self.index + ahead >= len(self.tokens):
            return ""
        token = self.tokens[self.index + ahead]
        is_quoted = token.token_type in STRINGS or token.token_type == TokenType.IDENTIFIER
        return "" if is_quoted else self.raw(token).upper()

    def raw(self, token: Token) -> str:
        return self.text.value[token.start : token.end + 1]

    def take(self, *words: str) -> bool:
        """Read these words if they come next."""
        if not self.word().startswith(words[0]):
            return False
        index, rest = self.index, list(words)
        while rest:
            # the tokenizer makes one token of some pairs: PARTITIONED BY, PRIMARY KEY
            found = self.word(index - self.index).split()
            if not found or rest[: len(found)] != found:
                return False
            del rest[: len(found)]
            index += 1
        self.index = index
        return True

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.error(f"expected `{word}`")

    def span(self) -> Span:
        """The next token; past the end, the last one."""
        return self._span_of(min(self.index, len(self.tokens) - 1))

    def _span_of(self, index: int) -> Span:
        return self.text.span(self.tokens[index].start, self.tokens[index].end + 1)

    def error(self, expected: str, help: str | None = None) -> ScriptSyntaxError:
        found = f"`{self.raw(self.token)}`" if self.token is not None else "the end of the statement"
        return ScriptSyntaxError(f"{expected}, found {found}", self.span(), help)

    def name(self, what: str) -> PlacedText:
        """An identifier of one part, quoted with backquotes or plain."""
        token = self.token
        if token is None or not _is_name(token):
            raise self.error(f"expected {what}")
        self.index += 1
        if self.word() == ".":
            raise ScriptSyntaxError(
                f"{what} has one part, `{self.raw(token)}.…` has several",
                self.text.span(token.start, token.end + 1),
                "tables of a job have plain names; their location is an option of the connector",
            )
        if token.token_type != TokenType.IDENTIFIER:
            return self.text.slice(token.start, token.end + 1)
        return unquoted(self.text.slice(token.start, token.end + 1))

    def names(self) -> tuple[PlacedText, ...]:
        """`(a, b, …)`, names of columns."""
        self.expect("(")
        found = [self.name("a column")]
        while self.take(","):
            found.append(self.name("a column"))
        self.expect(")")
        return tuple(found)

    def string(self, what: str) -> PlacedText:
        """A string literal; literals side by side are one, and `''` is a quote where they touch, as in Spark 4."""
        if self.token is None or self.token.token_type not in STRINGS:
            raise self.error(f"expected {what}, a string")
        parts: list[PlacedText] = []
        while self.token is not None and self.token.token_type in STRINGS:
            start, end = self.token.start, self.token.end + 1
            self.index += 1
            while self.token is not None and self.token.start == end and self.token.token_type in STRINGS:
                end = self.token.end + 1
                self.index += 1
            parts.append(unquoted(self.text.slice(start, end)))
        return concatenate(parts)

    def between(self, start: int, end: int) -> PlacedText:
        """The text of the tokens `start` to `end` (end exclusive), with what stands between them."""
        return self.text.slice(self.tokens[start].start, self.tokens[end - 1].end + 1)

    def until(self, *stops: str, what: str) -> PlacedText:
        """The text up to a stop word or the closing bracket around; at least one token."""
        start, depth = self.index, 0
        while self.token is not None:
            word = self.word()
            if depth == 0 and (word in stops or word in (")", "]")):
                break
            depth += (word in CLOSERS.values()) - (word in CLOSERS)
            self.index += 1
        if self.index == start:
            raise self.error(f"expected {what}")
        return self.between(start, self.index)

    def parenthesized(self, what: str) -> PlacedText:
        """The text between a bracket and its closing one; the cursor stands behind it."""
        self.expect("(")
        start, depth = self.index, 1
        while self.token is not None:
            depth += (self.word() == "(") - (self.word() == ")")
            self.index += 1
            if depth == 0:
                if self.index - 1 == start:
                    raise ScriptSyntaxError(f"expected {what} between the brackets", self._span_of(start))
                return self.between(start, self.index - 1)
        raise self.error("expected `)`")

    def skip_element(self) -> None:
        """Go on to the next comma or closing bracket of this list."""
        depth = 0
        while self.token is not None:
            word = self.word()
            if depth == 0 and word in (",", ")"):
                return
            depth += (word == "(") - (word == ")")
            self.index += 1


def _is_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:
        return True
    return token.token_type not in STRINGS and (token.text[:1].isalpha() or token.text[:1] == "_")


def concatenate(parts: Sequence[PlacedText]) -> PlacedText:
    """One text of several, each of which still knows its place; there is at least one."""
    if len(parts) == 1:
        return parts[0]
    segments: list[Segment] = []
    offset = 0
    for part in parts:
        segments.extend(
            Segment(segment.start + offset, segment.end + offset, segment.file_start, segment.file_end)
            for segment in part.segments
        )
        offset += len(part.value)
    return PlacedText("".join(part.value for part in parts), parts[0].source, tuple(segments))


Piece: TypeAlias = tuple[int, int, str | None]
"""Start and end in the quoted text, and the character that it stands for (None: as written)."""


def unquoted(literal: PlacedText) -> PlacedText:
    """The value of a quoted text: `'…'`, `"…"`, `r'…'` with Spark's escapes, or a name in backquotes."""
    raw = literal.value
    if raw[0] in "rR":
        return literal.slice(2, len(raw) - 1)
    pieces = tuple(_pieces(raw, raw[0]))
    if all(value is None for _, _, value in pieces):
        return literal.slice(1, len(raw) - 1)
    return concatenate([_placed(literal, *piece) for piece in pieces])


def _placed(literal: PlacedText, start: int, end: int, value: str | None) -> PlacedText:
    part = literal.slice(start, end)
    if value is None:
        return part
    whole = Segment(0, len(value), part.segments[0].file_start, part.segments[-1].file_end)
    return PlacedText(value, literal.source, (whole,))


def _pieces(raw: str, quote: str) -> Sequence[Piece]:
    pieces: list[Piece] = []
    start = index = 1
    end = len(raw) - 1
    while index < end:
        value, width = _escape(raw, index, quote)
        if width:
            if index > start:
                pieces.append((start, index, None))
            pieces.append((index, index + width, value))
            start = index + width
        index += width or 1
    if end > start or not pieces:
        pieces.append((start, end, None))
    return pieces


def _escape(raw: str, index: int, quote: str) -> tuple[str, int]:
    """What an escape at `index` stands for and its width; no width if there is none."""
    if raw[index] == quote and raw[index + 1 : index + 2] == quote:
        return quote, 2
    if quote == "`" or raw[index] != "\\" or index + 1 >= len(raw) - 1:
        return "", 0
    follower = raw[index + 1]
    if follower in "%_":
        return raw[index : index + 2], 2
    width = {"u": 4, "U": 8}.get(follower, 0)
    digits = raw[index + 2 : index + 2 + width]
    if width and len(digits) == width and all(digit in "0123456789abcdefABCDEF" for digit in digits):
        return chr(int(digits, 16)), 2 + width
    return ESCAPES.get(follower, follower), 2
