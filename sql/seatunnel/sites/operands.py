"""Where the operands of an operator begin and end, among the tokens of a query."""

from collections.abc import Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from sql.seatunnel.sites.edits import CLOSING, OPENING

_T = TokenType

_CLAUSES_TEXT: Final = """
select distinct from where group by having order limit union except intersect on using when then else and or not in
like ilike rlike regexp is between as lateral join left right inner full cross semi anti all asc desc nulls over
partition rows range case
"""
_CLAUSES: Final = frozenset(_CLAUSES_TEXT.split())
_COMPARISONS: Final = frozenset((_T.EQ, _T.NEQ, _T.LT, _T.LTE, _T.GT, _T.GTE, _T.NULLSAFE_EQ, _T.COMMA, _T.ARROW))
_SUMS: Final = frozenset((_T.PLUS, _T.DASH))
_PRODUCTS: Final = frozenset((_T.STAR, _T.SLASH, _T.MOD, _T.DIV))
_SIGNED_AFTER: Final = _COMPARISONS | _SUMS | _PRODUCTS | {_T.DPIPE} | OPENING


def concatenation(tokens: Sequence[Token], operator: int) -> tuple[int, int]:
    """First and last token of the chain of `||` that the operator belongs to; sums bind tighter."""
    return _leftmost(tokens, operator, frozenset()), _rightmost(tokens, operator, frozenset())


def product_operands(tokens: Sequence[Token], operator: int) -> tuple[int, int]:
    """First token of the left operand (all factors before it) and last one of the right (one factor)."""
    stop = _SUMS | {_T.DPIPE}
    return _leftmost(tokens, operator, stop), _rightmost(tokens, operator, stop | _PRODUCTS)


def sum_operands(tokens: Sequence[Token], operator: int) -> tuple[int, int]:
    """First token of the left operand (all summands before it) and last one of the right (one summand)."""
    stop = frozenset((_T.DPIPE,))
    return _leftmost(tokens, operator, stop), _rightmost(tokens, operator, stop | _SUMS)


def is_sign(tokens: Sequence[Token], index: int) -> bool:
    """Whether a `+` or `-` is a sign, not an operator."""
    before = tokens[index - 1] if index else None
    return before is None or before.token_type in _SIGNED_AFTER or _is_clause(before)


def _leftmost(tokens: Sequence[Token], operator: int, stops: frozenset[TokenType]) -> int:
    index, depth = operator - 1, 0
    while index >= 0:
        token = tokens[index]
        if token.token_type in CLOSING or token.token_type == _T.END:
            depth += 1
        elif token.token_type in OPENING or token.token_type == _T.CASE:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (_ends(token) or (token.token_type in stops and not _is_kept(tokens, index))):
            break
        index -= 1
    return index + 1


def _rightmost(tokens: Sequence[Token], operator: int, stops: frozenset[TokenType]) -> int:
    index, depth = operator + 1, 0
    while index < len(tokens):
        token = tokens[index]
        if depth == 0 and _ends_operand(tokens, operator, index, stops):
            break
        if token.token_type in OPENING or token.token_type == _T.CASE:
            depth += 1
        elif token.token_type in CLOSING or token.token_type == _T.END:
            depth -= 1
        index += 1
    return index - 1


def _ends_operand(tokens: Sequence[Token], operator: int, index: int, stops: frozenset[TokenType]) -> bool:
    token = tokens[index]
    if token.token_type == _T.CASE:
        return False
    if token.token_type in CLOSING or token.token_type == _T.END or _ends(token):
        return True
    if token.token_type in stops and not _is_kept(tokens, index):
        return True
    return index > operator + 1 and _is_alias(tokens, index)


def _is_kept(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index].token_type in _SUMS and is_sign(tokens, index)


def _is_alias(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name follows an operand without `AS`."""
    before = tokens[index - 1].token_type
    ends = (_T.VAR, _T.IDENTIFIER, _T.NUMBER, _T.STRING, _T.R_PAREN, _T.R_BRACKET, _T.END, _T.NULL)
    return tokens[index].token_type in (_T.VAR, _T.IDENTIFIER) and before in ends


def _ends(token: Token) -> bool:
    return token.token_type in _COMPARISONS or _is_clause(token)


def _is_clause(token: Token) -> bool:
    return token.token_type not in (_T.IDENTIFIER, _T.STRING) and token.text.lower() in _CLAUSES
