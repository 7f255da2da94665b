"""Rewrites a query piece by piece; the rest keeps its text and location.

`Site` is one construct that is rewritten (a call, a cast, an operator with its operands). Sites are rewritten from the
inside out; the text of a range holds what was rewritten within it.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlglot.tokenizer_core import Token, TokenType

from catalog.compat import Compat
from catalog.diagnostics.source import PlacedText
from catalog.types.datatypes import DataType

Parts: TypeAlias = Sequence[str | PlacedText]

OPENING: Final = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE))
CLOSING: Final = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE))


@dataclass(frozen=True, slots=True)
class Site:
    """The characters `start` to `end` (exclusive) and how they are rewritten; None leaves them as they are.

    `phase`: sites of a FROM clause (0) come before those that read its columns (1), and names of columns (2) last.
    """

    start: int
    end: int
    depth: int
    phase: int
    rewrite: Callable[[], Parts | None]


@dataclass(eq=False, slots=True)
class Edits:
    """The text and what has been replaced in it; replacements are disjoint and in order. `compat`: the line
    of SeaTunnel's versions."""

    text: PlacedText
    tokens: Sequence[Token]
    type_at: "Callable[[PlacedText, int], DataType | None]"
    compat: Compat = Compat.SEATUNNEL_2
    replaced: list[tuple[int, int, PlacedText]] = field(default_factory=list)

    def current(self, start: int, end: int) -> PlacedText:
        """The characters `start` to `end` with what was replaced in them."""
        parts: list[str | PlacedText] = []
        position = start
        for first, last, new in self.replaced:
            if start <= first and last <= end and first >= position:
                parts += [self.text.slice(position, first), new]
                position = last
        return PlacedText.join([*parts, self.text.slice(position, end)])

    def replace(self, start: int, end: int, parts: Parts) -> None:
        """Replace the characters; earlier replacements within them are assumed to be part of the new text."""
        outside = [edit for edit in self.replaced if edit[1] <= start or end <= edit[0]]
        starts = [first for first, _, _ in outside]
        outside.insert(bisect_left(starts, start), (start, end, PlacedText.join(parts)))
        self.replaced = outside

    def run(self, sites: Sequence[Site]) -> PlacedText:
        """The whole text after every site was rewritten, inner queries first."""
        first = [(site.start, site.end) for site in sites if site.phase == 0]

        def turn(site: Site) -> tuple[int, int, int]:
            is_first = any(start <= site.start and site.end <= end for start, end in first)
            return -site.depth, 0 if is_first else site.phase, site.end - site.start

        for site in sorted(sites, key=turn):
            parts = site.rewrite()
            if parts is not None:
                self.replace(site.start, site.end, parts)
        return self.current(0, len(self.text.value)) if self.replaced else self.text


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """The index of the bracket that closes the one at `opening`."""
    depth = 0
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth == 0:
            return index
    return None


def query_depth(tokens: Sequence[Token], index: int) -> int:
    """In how many brackets that hold a query the token stands."""
    opened = list[bool]()
    for at in range(index):
        kind = tokens[at].token_type
        if kind in OPENING:
            opened.append(at + 1 < len(tokens) and tokens[at + 1].token_type in (TokenType.SELECT, TokenType.WITH))
        elif kind in CLOSING and opened:
            opened.pop()
    return sum(opened)


def site(edits: Edits, first: int, last: int, rewrite: Callable[[], Parts | None], phase: int = 1) -> Site:
    """The site of the tokens `first` to `last`."""
    tokens = edits.tokens
    return Site(tokens[first].start, tokens[last].end + 1, query_depth(tokens, first), phase, rewrite)
