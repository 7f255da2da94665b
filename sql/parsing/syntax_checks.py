"""Finds, by tokens, syntax that sqlglot's parser accepts and Spark's grammar refuses."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from catalog.spark_version import SparkVersion
from sql.parsing.parse import Parsed, SyntaxIssue
from sql.parsing.token_shifts import INTERVAL_UNITS
from sql.parsing.typed_literals import literal_issue
from sql.spark_features import Feature, has

_T = TokenType
_CLAUSES: Final = frozenset((_T.FROM, _T.WHERE, _T.GROUP_BY, _T.HAVING, _T.ORDER_BY, _T.UNION, _T.ON, _T.JOIN))
_ENDS: Final = _CLAUSES | {_T.R_PAREN, _T.COMMA}
_WANT_OPERAND: Final = {
    _T.COMMA: "a comma",
    _T.SELECT: "SELECT",
    _T.ON: "ON",
    _T.GROUP_BY: "GROUP BY",
    _T.ALIAS: "AS",
    _T.DISTINCT: "DISTINCT",
}
"""Tokens behind which an expression or a name must follow."""


def check_syntax(parsed: Parsed, spark: SparkVersion, *, is_accepted: bool = False) -> Iterator[SyntaxIssue]:
    """Errors in this version of Spark that two or three tokens in a row show, and clauses in the wrong order.

    `is_accepted`: Spark's grammar takes the query, so that all brackets are closed.
    """
    tokens = parsed.tokens
    if not is_accepted:
        yield from _aliases_in_calls(tokens)
    if parsed.tree is not None:
        yield from _clause_order(tokens)
    kinds = [token.token_type for token in tokens]
    looked_at = [index for index, kind in enumerate(kinds) if kind in _LOOKED_AT]
    for index in looked_at:
        if index and kinds[index - 1] in _BEFORE_NAMES:
            continue
        kind, follower = kinds[index], kinds[index + 1] if index + 1 < len(kinds) else None
        if kind is _T.UNION and not has(spark, Feature.UNION_BY_NAME) and _is_by_name(tokens, index):
            message = f"Spark {spark} has no UNION BY NAME"
            yield _at(tokens[index], message, help="list the columns of both sides in one order")
        if kind in _CHECKS:
            yield from _CHECKS[kind](tokens, index)
        is_open = kind in _WANT_OPERAND and (follower is None or follower in _ENDS)
        if is_open and parsed.tree is not None:
            yield from _missing_operand(tokens, index)


def _group_by(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.L_PAREN, _T.R_PAREN):
        yield _at(tokens[index + 2], "GROUP BY needs an expression", start=tokens[index + 1].start)


def _left_paren(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if index + 1 < len(tokens) and tokens[index + 1].token_type == _T.COMMA:
        yield _at(tokens[index + 1], "nothing is before this comma")


def _in(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.L_PAREN, _T.R_PAREN):
        yield _at(tokens[index + 2], "IN needs at least one value", start=tokens[index + 1].start)


def _double_mark(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    yield _at(tokens[index], "Spark has no operator `??`", help="use coalesce(a, b)")


def _direction(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.ASC) or _are(tokens, index + 1, _T.DESC):
        yield _at(tokens[index + 1], f"{tokens[index].text.upper()} is here already")


def _sample(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.L_PAREN, _T.NUMBER, _T.R_PAREN):
        yield _at(tokens[index + 2], "TABLESAMPLE needs a unit", help="write `(10 PERCENT)` or `(10 ROWS)`")


def _using(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.VAR):
        column = tokens[index + 1]
        yield _at(column, "USING takes its columns in parentheses", help=f"write `USING ({column.text})`")


def _typed_literal(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    if _are(tokens, index + 1, _T.STRING):
        yield from literal_issue(tokens[index], tokens[index + 1])


_AMOUNTS: Final = re.compile(r"[\s\d:.+-]*", re.ASCII)
_PAIRS: Final = re.compile(
    r"\s*(?:interval\s+)?(?:[+-]?\s*(?:\d+(?:\.\d*)?|\.\d+)\s+[a-z]+\s*)+", re.ASCII | re.IGNORECASE
)


def _interval(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    """`INTERVAL '1 x:00' DAY TO HOUR`, `INTERVAL '1 day -'`, of whose texts sqlglot takes what it understands."""
    if not _are(tokens, index + 1, _T.STRING):
        return
    literal = tokens[index + 1]
    behind = [token.text.upper() for token in tokens[index + 2 : index + 5]]
    first = tokens[index].start
    if behind[1:2] == ["TO"]:
        if not _AMOUNTS.fullmatch(literal.text):
            message = f"'{literal.text}' is not an interval {' '.join(behind).lower()}"
            yield SyntaxIssue(first, tokens[index + 1 + len(behind)].end + 1, message, code="PEN3013")
    elif behind[:1] != [] and behind[0] in INTERVAL_UNITS:
        return
    elif any(character.isalpha() for character in literal.text) and not _PAIRS.fullmatch(literal.text):
        message = f"'{literal.text}' is not an interval: write numbers and their units, as in INTERVAL '2 hours'"
        yield SyntaxIssue(first, literal.end + 1, message, code="PEN3013")


_NESTED: Final = frozenset((_T.ARRAY, _T.MAP, _T.STRUCT))


def _shift(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    """`>>` behind ARRAY, MAP or STRUCT: until as many `>` have come, Spark's lexer takes it for the end of types."""
    if not _continues(tokens, index) or (index and _continues(tokens, index - 1)):
        return
    opened = angle = 0
    for before, token in enumerate(tokens[:index]):
        if token.token_type in _NESTED:
            opened += 1
        elif token.token_type == _T.LT and before and tokens[before - 1].token_type in _NESTED:
            angle += 1
        elif token.token_type == _T.GT and opened and (angle or not _continues(tokens, before)):
            angle, opened = max(angle - 1, 0), opened - 1
    if opened and not angle:
        is_unsigned = _continues(tokens, index + 1)
        message = "Spark's parser takes no `>>` behind `array`, `map` or `struct` in the same query"
        help = f"use {'shiftrightunsigned' if is_unsigned else 'shiftright'}(a, b)"
        yield _at(tokens[index + 1 + is_unsigned], message, start=tokens[index].start, help=help)


def _continues(tokens: Sequence[Token], index: int) -> bool:
    """Whether a `>` stands right before another."""
    pair = tokens[index : index + 2]
    return [token.token_type for token in pair] == [_T.GT, _T.GT] and pair[0].end + 1 == pair[1].start


_CHECKS: Final = {
    _T.GT: _shift,
    _T.GROUP_BY: _group_by,
    _T.L_PAREN: _left_paren,
    _T.IN: _in,
    _T.DQMARK: _double_mark,
    _T.ASC: _direction,
    _T.DESC: _direction,
    _T.TABLE_SAMPLE: _sample,
    _T.USING: _using,
    _T.INTERVAL: _interval,
    **dict.fromkeys((_T.DATE, _T.TIMESTAMP, _T.TIMESTAMPTZ, _T.TIMESTAMPNTZ, _T.TIMESTAMPLTZ), _typed_literal),
}


_LOOKED_AT: Final = frozenset((*_CHECKS, *_WANT_OPERAND, _T.UNION))
_BEFORE_NAMES: Final = frozenset((_T.ALIAS, _T.DOT))
"""Behind them any word is a name."""


def _missing_operand(tokens: Sequence[Token], index: int) -> Iterator[SyntaxIssue]:
    token = tokens[index]
    kind, what = token.token_type, _WANT_OPERAND[token.token_type]
    if kind == _T.DISTINCT and index and tokens[index - 1].token_type not in (_T.SELECT, _T.L_PAREN):
        return
    if index + 1 == len(tokens):
        if kind != _T.ALIAS:  # `FROM t as`: Spark takes `as` for the table's alias
            yield _at(token, f"something must follow {what}")
        return
    follower = tokens[index + 1]
    if kind == _T.COMMA and follower.token_type == _T.FROM:
        yield _at(token, "there is a comma before FROM", help="remove the comma")
    elif follower.token_type in _ENDS:
        at = token if kind == _T.COMMA != follower.token_type else follower  # of two commas, the second
        yield _at(at, f"an expression is missing between {what} and `{follower.text}`")


_ORDER: Final = {
    _T.WHERE: 1,
    _T.GROUP_BY: 2,
    _T.HAVING: 3,
    _T.ORDER_BY: 5,
    _T.SORT_BY: 5,
    _T.CLUSTER_BY: 5,
    _T.DISTRIBUTE_BY: 5,
    _T.LIMIT: 6,
}
_SORTS: Final = frozenset((_T.ORDER_BY, _T.SORT_BY, _T.CLUSTER_BY, _T.DISTRIBUTE_BY))
_SORT_NAMES: Final = frozenset(("ORDER BY", "SORT BY", "CLUSTER BY", "DISTRIBUTE BY"))
_BOTH: Final = ("DISTRIBUTE BY", "SORT BY")
"""The one pair of them that Spark takes."""
_NEW_QUERY: Final = frozenset((_T.SELECT, _T.UNION, _T.EXCEPT, _T.INTERSECT, _T.PIPE_GT))
_ORDERED: Final = frozenset((*_ORDER, *_NEW_QUERY, _T.L_PAREN, _T.R_PAREN))


def _clause_order(tokens: Sequence[Token]) -> Iterator[SyntaxIssue]:
    """WHERE before GROUP BY before HAVING before ORDER BY before LIMIT, within each pair of brackets."""
    depths: list[tuple[int, str]] = [(0, "")]
    opening, closing = _T.L_PAREN, _T.R_PAREN  # looked up once
    for index, token in enumerate(tokens):
        kind = token.token_type
        if kind not in _ORDERED:
            continue
        if kind == opening:
            depths.append((0, ""))
        elif kind == closing and len(depths) > 1:
            depths.pop()
        elif kind in _NEW_QUERY:
            depths[-1] = (0, "")
        elif kind != closing and (kind != _T.LIMIT or _are(tokens, index + 1, _T.NUMBER)):
            rank, before = depths[-1]
            if kind in _SORTS and before in _SORT_NAMES and (before, token.text.upper()) != _BOTH:
                yield _at(token, f"{token.text.upper()} and {before} cannot be combined")
            elif _ORDER[kind] < rank:
                yield _at(token, f"{token.text.upper()} must be before {before}")
            depths[-1] = (_ORDER[kind], token.text.upper())


_CALLED: Final = frozenset((_T.VAR, _T.FIRST, _T.MAP, _T.ARRAY, _T.LEFT, _T.RIGHT))
_TAKE_ALIASES: Final = frozenset(("cast", "try_cast", "transform", "unpivot", "table"))


def _aliases_in_calls(tokens: Sequence[Token]) -> Iterator[SyntaxIssue]:
    """`f(x as y, …`: only struct() and casts take AS, so most often a closing bracket is missing before it."""
    calls: list[str | None] = []
    for index, token in enumerate(tokens):
        if token.token_type == _T.L_PAREN:
            before = tokens[index - 1] if index else None
            is_call = before is not None and before.token_type in _CALLED and before.end + 1 == token.start
            if (
                before is None
                or not is_call
                or before.text.lower() in _TAKE_ALIASES
                or _starts_query(tokens, index + 1)
            ):
                calls.append(None)
            else:
                calls.append(before.text)
        elif token.token_type == _T.R_PAREN and calls:
            calls.pop()
        elif token.token_type == _T.ALIAS and calls and calls[-1] is not None:
            yield _at(token, f"AS is inside the brackets of `{calls[-1]}`", help="close the bracket before it")


def _starts_query(tokens: Sequence[Token], index: int) -> bool:
    while index < len(tokens) and tokens[index].token_type == _T.L_PAREN:
        index += 1
    return index < len(tokens) and tokens[index].token_type in (_T.SELECT, _T.WITH, _T.FROM, _T.VALUES)


def _is_by_name(tokens: Sequence[Token], index: int) -> bool:
    words = [token.text.upper() for token in tokens[index + 1 : index + 4]]
    return words[:2] == ["BY", "NAME"] or words[1:3] == ["BY", "NAME"]


def _are(tokens: Sequence[Token], index: int, *kinds: TokenType) -> bool:
    return tuple(token.token_type for token in tokens[index : index + len(kinds)]) == kinds


def _at(token: Token, message: str, *, start: int | None = None, help: str | None = None) -> SyntaxIssue:
    return SyntaxIssue(token.start if start is None else start, token.end + 1, message, help)
