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
            return self._between(node) or (self.range(node.parent) if node.parent is not None else (0, len(self.text)))
        start, end = found
        match node:
            case exp.Cast():
                start = self._cast_start(start)
            case exp.Kwarg():
                start = self._name_start(start)
            case exp.Interval() if isinstance(node.args.get("unit"), exp.Var):
                end = self._unit_end(end, node.args["unit"].name)
            case exp.Window():
                end = self._over_end(end)
            case exp.Binary():
                start, end = self._with_words(node, start, end)
        return self._balanced(start, end)

    def _cast_start(self, start: int) -> int:
        """Where `CAST(` begins, if only brackets, a sign or the word of a literal stand between it and the value."""
        first = self.token_at(start)
        for at in range(first, max(first - _MOST_BEFORE_CAST, 0), -1):
            if self.tokens[at].token_type == TokenType.L_PAREN and self.tokens[at - 1].text.upper() in _CASTS:
                return self.tokens[at - 1].start
            if at < first and self.tokens[at].token_type in (*_CLOSING, TokenType.COMMA):
                break
        return start

    def _name_start(self, start: int) -> int:
        """Where the name of an argument `name => value` begins."""
        at = self.token_at(start)
        while at > 1 and self.tokens[at].text != "=>":
            at -= 1
        return self.tokens[at - 1].start if at > 1 else start

    def _unit_end(self, end: int, unit: str) -> int:
        """The last offset of an interval's unit, right behind its number."""
        at = self.token_at(end) + 1
        follows = at < len(self.tokens) and self.tokens[at].text.lower() == unit.lower()
        return self.tokens[at].end if follows else end

    def _over_end(self, end: int) -> int:
        """The offset of the last token of `OVER w`, or of the bracket of `OVER (`, which is balanced afterwards."""
        at = self.token_at(end) + 1
        while at < len(self.tokens) and self.tokens[at].token_type in _CLOSING:
            at += 1
        if at + 1 < len(self.tokens) and self.tokens[at].token_type == TokenType.OVER:
            return self.tokens[at + 1].end
        return end

    def _with_words(self, node: exp.Binary, start: int, end: int) -> tuple[int, int]:
        """A range with the operands that are words without offsets: `TRUE + 1`."""
        for operand in (node.left, node.right):
            if _extent(operand) is None and (found := self._between(operand)) is not None:
                start, end = min(start, found[0]), max(end, found[1] - 1)
        return start, end

    def _between(self, node: exp.Expr) -> tuple[int, int] | None:
        """The tokens of a node that has no offsets (`NULL`, `INTERVAL 1 DAY`), by those of its neighbours."""
        if isinstance(node.parent, (exp.Limit, exp.Offset)):
            return self._behind(node.parent)
        if isinstance(node, (exp.Null, exp.Boolean)) and (word := self._word(node)) is not None:
            return word
        literal = node.find(exp.Literal)
        same = [token for token in self.tokens if token.text == literal.name] if literal is not None else []
        if literal is not None and len(same) == 1 and not isinstance(node, exp.Interval):
            return same[0].start, same[0].end + 1
        if not isinstance(node.parent, exp.Anonymous) or "end" not in node.parent.meta:
            return None
        position = next(at for at, other in enumerate(node.parent.expressions) if other is node)
        index = self.token_at(node.parent.meta["end"]) + 2
        start, depth = index, 0
        while index < len(self.tokens) and depth >= 0:
            kind = self.tokens[index].token_type
            depth += (kind in _OPENING) - (kind in _CLOSING)
            if depth < 0 or (depth == 0 and kind == TokenType.COMMA):
                if position == 0 and index > start:
                    return self.tokens[start].start, self.tokens[index - 1].end + 1
                start, position = index + 1, position - 1
            index += 1
        return None

    def _word(self, node: exp.Expr) -> tuple[int, int] | None:
        """`NULL`, `TRUE` or `FALSE`: the n-th such word of an ancestor's text, where its tree has as many of them."""
        kind = TokenType.NULL if isinstance(node, exp.Null) else TokenType.TRUE if node.this else TokenType.FALSE
        ancestor = node.parent
        while ancestor is not None:
            alike = [
                other
                for other in ancestor.find_all(type(node), bfs=False)
                if other.args.get("this") == node.args.get("this")
            ]
            query = ancestor if ancestor.parent is None else None
            first, last = (0, len(self.text)) if query is not None else _extent(ancestor) or (0, -1)
            around = self.tokens[max(self.token_at(first) - 1, 0) : self.token_at(last) + 2]
            tokens = [token for token in around if token.token_type == kind]
            if len(tokens) == len(alike):
                index = next(at for at, other in enumerate(alike) if other is node)
                return tokens[index].start, tokens[index].end + 1
            ancestor = ancestor.parent
        return None

    def _behind(self, clause: exp.Expr) -> tuple[int, int] | None:
        """The tokens behind LIMIT or OFFSET, the last clauses of a query."""
        word = TokenType.LIMIT if isinstance(clause, exp.Limit) else TokenType.OFFSET
        query = clause.parent and _extent(clause.parent)
        first = self.token_at(query[1]) if query else 0
        for index in range(first, len(self.tokens) - 1):
            if self.tokens[index].token_type == word:
                last = index + 1
                while last + 1 < len(self.tokens) and self.tokens[last + 1].token_type not in _AFTER_LIMIT:
                    last += 1
                return self.tokens[index + 1].start, self.tokens[last].end + 1
        return None

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


_AFTER_LIMIT = frozenset((TokenType.R_PAREN, TokenType.OFFSET, TokenType.LIMIT, TokenType.UNION))
_CASTS = frozenset(("CAST", "TRY_CAST"))
_MOST_BEFORE_CAST = 6
"""Tokens that may stand between `CAST(` and the first name or literal of its value."""
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
