"""Where in the query's text a node of the tree stands."""

from bisect import bisect_right
from collections.abc import Callable, Sequence

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
        interval = self._interval(node) if isinstance(node, exp.Interval) else None
        if interval is not None:
            return interval
        start, end = self._with_words(node, *(_extent(node) or (len(self.text), -1)))
        if end < 0:
            return self._between(node) or (self.range(node.parent) if node.parent is not None else (0, len(self.text)))
        match node:
            case exp.Cast():
                start = self._cast_start(node, start)
            case exp.Tuple() if (first := self.token_at(start)) and self.tokens[first - 1].token_type in _OPENING:
                start = self.tokens[first - 1].start
            case exp.Kwarg():
                start = self._name_start(start)
            case exp.Interval() if isinstance(node.args.get("unit"), exp.Var):
                end = self._unit_end(end, node.args["unit"].name)
            case exp.Window():
                end = self._over_end(end)
        return self._balanced(start, end)

    def _cast_start(self, node: exp.Cast, start: int) -> int:
        """Where `CAST(` begins, if only brackets, a sign or the word of a literal stand between it and the value.

        A typed literal (`DATE '2020-01-01'`) is a cast in the tree, too.
        """
        first = self.token_at(start)
        if isinstance(node.this, exp.Literal) and first and self.tokens[first - 1].text.upper() in _TYPED_LITERALS:
            return start
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
        while at < len(self.tokens) and self.tokens[at].token_type in _BRACKETS:
            at += 1
        if at + 1 < len(self.tokens) and self.tokens[at].token_type == TokenType.OVER:
            return self.tokens[at + 1].end
        return end

    def _with_words(self, node: exp.Expr, start: int, end: int) -> tuple[int, int]:
        """A range with the words without offsets at its ends: `TRUE + 1`, `INTERVAL 1 DAY * 2 < a`."""
        words = list(node.find_all(exp.Null, exp.Boolean, exp.Interval, bfs=False))
        for word in words[:1] + words[1:][-1:]:
            found = self._interval(word) if isinstance(word, exp.Interval) else self._word(word)
            if found is not None:
                start, end = min(start, found[0]), max(end, found[1] - 1)
        for operand in node.iter_expressions() if isinstance(node, exp.Binary) else ():
            if _extent(operand) is None and (found := self._between(operand)) is not None:
                start, end = min(start, found[0]), max(end, found[1] - 1)
        return start, end

    def _interval(self, node: exp.Interval) -> tuple[int, int] | None:
        """`INTERVAL 1 DAY`, from its first word to its unit: sqlglot leaves no offset on such a number."""
        if (
            isinstance(node.parent, exp.DataType)
            or is_added_number(node)
            or (at := self._nth(node, TokenType.INTERVAL)) is None
        ):
            return None
        last = at + 1
        while last + 1 < len(self.tokens) and self.tokens[last].text in ("-", "+", ":"):
            last += 1
        units = {unit.name.lower() for unit in (node.args.get("unit") or node).find_all(exp.Var)} | {"to"}
        while last + 1 < len(self.tokens) and self.tokens[last + 1].text.lower() in units:
            last += 1
        return (self.tokens[at].start, self.tokens[last].end + 1) if last < len(self.tokens) else None

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
        """`NULL`, `TRUE` or `FALSE`."""
        if isinstance(node.parent, (exp.Limit, exp.Offset)):  # which the tree has before what it follows
            return self._behind(node.parent)
        kind = TokenType.NULL if isinstance(node, exp.Null) else TokenType.TRUE if node.this else TokenType.FALSE
        at = self._nth(node, kind)
        return None if at is None else (self.tokens[at].start, self.tokens[at].end + 1)

    def _nth(self, node: exp.Expr, kind: TokenType) -> int | None:
        """The index of the word that a node is or begins with: the n-th in an ancestor's text with as many of them."""
        is_same = _is_same_word(node)
        ancestor = node.parent
        while ancestor is not None:
            alike = [other for other in ancestor.find_all(type(node), bfs=False) if is_same(other)]
            query = ancestor if ancestor.parent is None else None
            first, last = (0, len(self.text)) if query is not None else _extent(ancestor) or (0, -1)
            around = range(max(self.token_at(first) - 1, 0), min(self.token_at(last) + 2, len(self.tokens)))
            indexes = [index for index in around if self.tokens[index].token_type == kind]
            if len(indexes) == len(alike):
                return indexes[next(at for at, other in enumerate(alike) if other is node)]
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
        """The range to mark in a message: of a very long one only its operator or first word."""
        start, end = self.range(node)
        if end - start <= (_LONGEST_OPERATION if isinstance(node, exp.Binary) else _LONGEST_MARK):
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
        """The range, drawn out until each bracket opened or closed in it has its other one in it."""
        start = self._opened(start, end)
        index = self.token_at(start)
        depth = 0
        while index < len(self.tokens) and (self.tokens[index].start <= end or depth > 0):
            kind = self.tokens[index].token_type
            depth += (kind in _OPENING) - (kind in _CLOSING)
            end = max(end, self.tokens[index].end)
            index += 1
        return start, end + 1

    def _opened(self, start: int, end: int) -> int:
        """Where the brackets right before a range begin that are closed in it: `(a, b` of `(a, b) = c`."""
        first = index = self.token_at(start)
        depth = lowest = 0
        while index < len(self.tokens) and self.tokens[index].start <= end:
            kind = self.tokens[index].token_type
            depth += (kind in _OPENING) - (kind in _CLOSING)
            lowest = min(lowest, depth)
            index += 1
        while lowest < 0 and first and self.tokens[first - 1].token_type == TokenType.L_PAREN:
            lowest, first = lowest + 1, first - 1
            start = self.tokens[first].start
        is_named = first and self.tokens[first - 1].text.upper() in (*_CASTS, "IDENTIFIER")
        return self.tokens[first - 1].start if is_named and start == self.tokens[first].start else start


def is_added_number(node: exp.Expr) -> bool:
    """Whether an interval is the number of `INTERVAL 1 DAY + 1`, which sqlglot takes for a second one."""
    is_behind = isinstance(node.parent, exp.Add) and node.arg_key == "expression"
    number = node.this if is_behind and node.args.get("unit") is None else None
    return isinstance(number, exp.Literal) and number.name.replace(".", "", 1).isdigit()


def first_offset(node: exp.Expr) -> int | None:
    """The offset of the first name, literal or named function of the node; None if it has none."""
    found = _extent(node)
    return found[0] if found else None


def _is_same_word(node: exp.Expr) -> Callable[[exp.Expr], bool]:
    """Whether another node of the class is written with the same word: all intervals are."""
    if isinstance(node, exp.Interval):
        return lambda other: not is_added_number(other)
    return lambda other: other.args.get("this") == node.args.get("this")


_AFTER_LIMIT = frozenset((TokenType.R_PAREN, TokenType.OFFSET, TokenType.LIMIT, TokenType.UNION))
_CASTS = frozenset(("CAST", "TRY_CAST"))
_TYPED_LITERALS = frozenset(("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"))
_MOST_BEFORE_CAST = 6
"""Tokens that may stand between `CAST(` and the first name or literal of its value."""
_OPENING = frozenset((TokenType.L_PAREN, TokenType.L_BRACKET))
_CLOSING = frozenset((TokenType.R_PAREN, TokenType.R_BRACKET))
_BRACKETS = _OPENING | _CLOSING
_LONGEST_MARK = 60
"""Characters: a mark below more of a line shows nothing any more."""
_LONGEST_OPERATION = 140
"""Of an operation, either operand may be the wrong one: both are marked as long as a line shows them."""


def _extent(node: exp.Expr) -> tuple[int, int] | None:
    """First and last offset (inclusive) of the node and of all below it; a function's name is its own offset."""
    start, end = None, -1
    for inner in node.walk():
        meta = inner._meta
        if meta and "start" in meta:
            start = meta["start"] if start is None else min(start, meta["start"])
            end = max(end, meta["end"])
    return None if start is None else (start, end)
