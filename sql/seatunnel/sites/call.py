"""A function call that is being rewritten: its arguments as text, as constants and by type."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import DataType
from sql.seatunnel.sites.edits import CLOSING, OPENING, Edits, Parts

_HOLE: Final = re.compile(r"\{(\d+)\}")


@dataclass(frozen=True, eq=False, slots=True)
class CallSite:
    """`name(args)`: `ranges` are first and last token of each argument."""

    name: str
    ranges: Sequence[tuple[int, int]]
    edits: Edits

    @property
    def count(self) -> int:
        return len(self.ranges)

    def arg(self, index: int) -> PlacedText:
        first, last = self.ranges[index]
        tokens = self.edits.tokens
        return self.edits.current(tokens[first].start, tokens[last].end + 1)

    def args(self) -> tuple[PlacedText, ...]:
        return tuple(self.arg(index) for index in range(self.count))

    def type(self, index: int) -> DataType | None:
        """The argument's type; None if it cannot be proved."""
        return self.edits.type_at(self.arg(index), self.edits.tokens[self.ranges[index][0]].start)

    def text_constant(self, index: int) -> str | None:
        """The value of an argument that is a text literal."""
        token = self._only(index)
        return token.text if token is not None and token.token_type == TokenType.STRING else None

    def is_null(self, index: int) -> bool:
        token = self._only(index)
        return token is not None and token.token_type == TokenType.NULL

    def integer_constant(self, index: int) -> int | None:
        """The value of an argument that is an integer literal, with its sign."""
        text = "".join(token.text for token in self._tokens(index))
        return int(text) if re.fullmatch(r"-?\d+", text) else None

    def fill(self, template: str) -> Parts:
        """The template with `{0}`, `{1}`, … as the arguments' texts."""
        pieces = _HOLE.split(template)
        return [piece if at % 2 == 0 else self.arg(int(piece)) for at, piece in enumerate(pieces)]

    def _tokens(self, index: int) -> Sequence[Token]:
        first, last = self.ranges[index]
        return self.edits.tokens[first : last + 1]

    def _only(self, index: int) -> Token | None:
        tokens = self._tokens(index)
        return tokens[0] if len(tokens) == 1 else None


Rule: TypeAlias = "str | Callable[[CallSite], Parts | None]"
"""How a call is rewritten: a template, or a function; None leaves the call as it is."""


def argument_ranges(tokens: Sequence[Token], opening: int, end: int) -> list[tuple[int, int]]:
    """First and last token of each argument between the brackets at `opening` and `end`, which may be the end of the
    query."""
    ranges: list[tuple[int, int]] = []
    depth, first = 0, opening + 1
    for index in range(opening + 1, end + 1):
        kind = tokens[index].token_type if index < len(tokens) else None
        if (kind == TokenType.COMMA and depth == 0) or index == end:
            if index > first:
                ranges.append((first, index - 1))
            first = index + 1
        depth += (kind in OPENING) - (kind in CLOSING)
    return ranges
