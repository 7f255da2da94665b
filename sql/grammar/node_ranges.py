"""Where in the query's text a node of the tree stands."""

from bisect import bisect_right
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType


class Places:
    """Finds the character range of any node from the offsets that sqlglot leaves on names, literals and functions."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self._starts = [token.start for token in tokens]

    def range(self, node: exp.Expr) -> tuple[int, int]:
        """Start and end (exclusive) of the node's text; the nearest ancestor's where it has none; else everything."""
        found = _extent(node)
        if found is None:
            return self.range(node.parent) if node.parent is not None else (0, len(self.text))
        return self._balanced(*found)

    def marked(self, node: exp.Expr) -> tuple[int, int]:
        """The range to mark in a message: of a long expression only its operator or first word."""
        start, end = self.range(node)
        if end - start <= _LONGEST_MARK:
            return start, end
        first = self.token_at(start)
        if isinstance(node, exp.Binary):
            after, before = self.range(node.left)[1], self.range(node.right)[0]
            between = (token for token in self.tokens[first:] if after <= token.start < before)
            if operator := next((token for token in between if token.token_type not in _BRACKETS), None):
                return operator.start, operator.end + 1
        return start, min(end, self.tokens[first].end + 1) if self.tokens else end

    def token_at(self, offset: int) -> int:
        """Index of the token that covers the offset, or of the one before it."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def is_before(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Whether the first node stands before the second; False if a place is not known."""
        first, second = _extent(one), _extent(other)
        return first is not None and second is not None and first < second

    def _balanced(self, start: int, end: int) -> tuple[int, int]:
        """The range, drawn out to the right until each bracket opened in it is closed in it."""
        index = self.token_at(start)
        depth = 0
        while index < len(self.tokens) and (self.tokens[index].start <= end or depth > 0):
            kind = self.tokens[index].token_type
            depth += (kind in _OPENING) - (kind in _CLOSING)
            end = max(end, self.tokens[index].end)
            index += 1
        return start, end + 1


def first_offset(node: exp.Expr) -> int | None:
    """The offset of the first name, literal or named function of the node; None if it has none."""
    found = _extent(node)
    return found[0] if found else None


_OPENING = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET))
_CLOSING = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET))
_BRACKETS = _OPENING | _CLOSING
_LONGEST_MARK = 60
"""Characters: a mark below more of a line shows nothing any more."""


def _extent(node: exp.Expr) -> tuple[int, int] | None:
    """First and last offset (inclusive) of the node and of all below it; a function's name is its own offset."""
    start, end = None, -1
    for inner in node.walk():
        meta = inner._meta
        if meta and "start" in meta:
            start = meta["start"] if start is None else min(start, meta["start"])
            end = max(end, meta["end"])
    return None if start is None else (start, end)
