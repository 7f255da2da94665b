"""Function calls as the user wrote them.

sqlglot turns many calls into node classes of its own, with other names and reordered arguments; what Spark would be
called with is then lost. `keep_calls` marks the name of each call among the tokens, so that sqlglot parses it as an
`Anonymous` whose arguments stand as written; `call_name` gives the name back. Syntax that is no plain call (CAST,
EXTRACT(x FROM y), IN (...), EXISTS (SELECT ...)) is left to sqlglot.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

MARK: Final = "()"
"""What is added to a call's name; no name of sqlglot's ends so."""

_NOT_CALLS_TEXT: Final = """
cast try_cast in not and or between when then else case is div using on over values as by from where having
cube rollup sets except exclude all distinct select join for pivot unpivot lateral union intersect with set
limit offset tablesample window interval escape collate end only out percent rows bucket safe_cast
placing both leading trailing
"""
NOT_CALLS: Final = frozenset(_NOT_CALLS_TEXT.split())
"""Words before a bracket that belong to the grammar; `window` and some below are calls in some places."""

_KEYWORD_CALLS_TEXT: Final = """
sequence current_timestamp isnull any date current_catalog struct first boolean string some exists filter
timestamp left window array decimal current_user binary time localtimestamp right map session_user smallint
replace char bigint int current_schema current_time double current_date uuid float tinyint range if like ilike
rlike regexp format interval user log nullif coalesce row var
"""
KEYWORD_CALLS: Final = frozenset(_KEYWORD_CALLS_TEXT.split())
"""Functions of Spark whose names are keywords to sqlglot."""

INNER_WORDS: Final = {
    "extract": ("FROM",),
    "trim": ("FROM", "BOTH", "LEADING", "TRAILING"),
    "substring": ("FROM",),
    "substr": ("FROM",),
    "position": ("IN",),
    "overlay": ("PLACING",),
}
"""Calls that have a syntax of their own where one of these words stands between the brackets."""

_OPERAND_ENDS: Final = frozenset(
    (
        *(TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN),
        *(TokenType.R_BRACKET, TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.END),
    )
)
_NO_CALL_AFTER: Final = _OPERAND_ENDS | {TokenType.DOT, TokenType.DCOLON, TokenType.ALIAS, TokenType.WITH}
_NESTED_TYPES: Final = frozenset((TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT))
_FOLLOWERS: Final = frozenset((TokenType.L_PAREN, TokenType.LT, TokenType.STRING))
_QUERY_STARTS: Final = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE"))
_WHEN_CALL_AFTER: Final = frozenset((TokenType.SELECT, TokenType.DISTINCT, TokenType.COMMA, TokenType.L_PAREN))
_QUANTIFIERS: Final = frozenset(("any", "some"))
_PATTERN_OPERATORS: Final = frozenset(("like", "ilike", "rlike", "regexp"))


def keep_calls(tokens: Sequence[Token]) -> list[Token]:
    """The same tokens at the same places, with the names of plain function calls marked."""
    kept = list(tokens)
    dropped = set()
    angle = 0
    kinds = [token.token_type for token in tokens]
    has_ctes = TokenType.WITH in kinds
    greater, opening = TokenType.GT, TokenType.L_PAREN  # looked up once
    for index, (kind, follower) in enumerate(pairwise(kinds)):
        if follower not in _FOLLOWERS and kind != greater:  # as most tokens
            continue
        token = tokens[index]
        if follower == TokenType.LT and kind in _NESTED_TYPES:
            angle += 1
        elif angle and kind == greater:
            angle -= 1
        elif kind == greater and _is_unsigned_shift(tokens, index):
            dropped.add(index)
        elif follower == TokenType.STRING and token.text in ("X", "x") and kind == TokenType.VAR:
            dropped.add(index)
            kept[index + 1] = _hex_string(token, tokens[index + 1])
        elif follower == opening and not angle and _is_call(tokens, index, has_ctes=has_ctes):
            kept[index] = Token(
                TokenType.IDENTIFIER if kind == TokenType.IDENTIFIER else TokenType.VAR,
                token.text + MARK, token.line, token.col, token.start, token.end, token.comments,
            )  # fmt: skip
    return [token for index, token in enumerate(kept) if index not in dropped] if dropped else kept


def call_name(node: exp.Anonymous) -> str:
    """The function's name as written, without the mark."""
    name = node.args["this"]
    return (name if isinstance(name, str) else node.name).removesuffix(MARK)


def _is_call(tokens: Sequence[Token], index: int, *, has_ctes: bool) -> bool:
    token = tokens[index]
    name = token.text.lower()
    is_plain = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    if not is_plain and name not in KEYWORD_CALLS and name != "when" and (name in NOT_CALLS or not name.isidentifier()):
        return False
    previous = tokens[index - 1] if index else None
    if previous is not None and previous.token_type in _NO_CALL_AFTER and not _is_soft_keyword(tokens, index - 1):
        return False
    if has_ctes and _is_cte_name(tokens, index):
        return False
    if token.token_type == TokenType.IDENTIFIER:
        return True
    if name in INNER_WORDS:
        return not _has_inner_word(tokens, index, INNER_WORDS[name])
    if name == "when":
        return previous is not None and previous.token_type in _WHEN_CALL_AFTER
    if name == "exists" or name in _QUANTIFIERS:
        compares = previous is not None and name in _QUANTIFIERS and not _may_precede_any(previous)
        return not compares and not _opens_query(tokens, index + 2)
    if name in _PATTERN_OPERATORS and previous is not None and previous.text.upper() == "NOT":
        return index < 2 or tokens[index - 2].token_type not in _OPERAND_ENDS
    return name in KEYWORD_CALLS or name not in NOT_CALLS


def _is_cte_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether this is the `c` of `WITH ..., c (x, y) AS (SELECT ...)`."""
    close = index + 2
    while close < len(tokens) and tokens[close].token_type not in (TokenType.L_PAREN, TokenType.R_PAREN):
        close += 1
    words = [token.text.upper() for token in tokens[close : close + 4]]
    return words[:3] == [")", "AS", "("] and words[-1] in ("SELECT", "WITH", "FROM", "VALUES", "TABLE")


def _opens_query(tokens: Sequence[Token], index: int) -> bool:
    """Whether a query starts here, brackets before it aside."""
    while index < len(tokens) and tokens[index].token_type == TokenType.L_PAREN:
        index += 1
    return index < len(tokens) and tokens[index].text.upper() in _QUERY_STARTS


def _is_unsigned_shift(tokens: Sequence[Token], index: int) -> bool:
    """Whether this is the first of `>>>`, which sqlglot does not know; without it `>>` is left, of the same type."""
    three = tokens[index : index + 3]
    return all(token.token_type == TokenType.GT for token in three) and three[-1].start == tokens[index].start + 2


def _hex_string(mark: Token, digits: Token) -> Token:
    """`X '1F'`, which sqlglot knows only without the blank."""
    return Token(
        TokenType.HEX_STRING,
        digits.text,
        mark.line,
        mark.col,
        mark.start,
        digits.end,
        [*mark.comments, *digits.comments],
    )


def _is_soft_keyword(tokens: Sequence[Token], index: int) -> bool:
    """Whether a plain word is one after which an expression starts."""
    return tokens[index].token_type == TokenType.VAR and tokens[index].text.upper() in ("BOTH", "PLACING", "LATERAL")


def _may_precede_any(token: Token) -> bool:
    return token.text.upper() not in ("LIKE", "ILIKE", "RLIKE", "=", "<", ">", "<=", ">=", "<>", "!=")


def _has_inner_word(tokens: Sequence[Token], index: int, words: Sequence[str]) -> bool:
    depth = 0
    for token in tokens[index + 1 :]:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0:
            return False
        if (
            depth == 1
            and token.text.upper() in words
            and token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
        ):
            return True
    return False
