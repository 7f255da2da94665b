"""Tokens that sqlglot wants in another order or of another kind than Spark's grammar has them."""

import re
from collections.abc import Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

_T = TokenType
_NAMES: Final = frozenset((_T.VAR, _T.IDENTIFIER))


def samples_last(tokens: list[Token]) -> list[Token]:
    """`(SELECT …) TABLESAMPLE (…) AS t` with its alias before the sample, which Spark's grammar has last.

    sqlglot takes no sample of VALUES: there it is left out.
    """
    made = list(tokens)
    for at in range(len(tokens) - 2, 0, -1):
        kinds = [token.token_type for token in tokens[at - 1 : at + 2]]
        if kinds != [_T.R_PAREN, _T.TABLE_SAMPLE, _T.L_PAREN]:
            continue
        end = _closed(made, at + 1)
        if end < len(made) and made[end].text.upper() == "REPEATABLE":
            end = _closed(made, end + 1)
        last = _alias_end(made, end)
        if last > end:
            is_inline = made[_opened(made, at - 1) + 1].token_type == _T.VALUES
            made[at:last] = made[end:last] + ([] if is_inline else made[at:end])
    return made


def _alias_end(tokens: Sequence[Token], start: int) -> int:
    """The index behind an alias that starts there, its columns included; the index itself where there is none."""
    at = start + (start < len(tokens) and tokens[start].token_type == _T.ALIAS)
    if at >= len(tokens) or tokens[at].token_type not in _NAMES:
        return start
    has_columns = at + 1 < len(tokens) and tokens[at + 1].token_type == _T.L_PAREN
    return _closed(tokens, at + 1) if has_columns else at + 1


def _opened(tokens: Sequence[Token], closing: int) -> int:
    """The index of the bracket that the one there closes."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (tokens[at].token_type == _T.R_PAREN) - (tokens[at].token_type == _T.L_PAREN)
        if depth == 0:
            return at
    return 0


def ctes_with_as(tokens: list[Token]) -> list[Token]:
    """`WITH a (SELECT …), b (SELECT …)` with AS before each query, which sqlglot wants behind the first."""
    made: list[Token] = []
    names: set[int] = set()
    """The depths of brackets at which a list of CTEs goes on."""
    depth = 0
    for at, token in enumerate(tokens):
        before = tokens[at - 1].token_type if at else None
        if token.token_type == _T.WITH:
            names.add(depth)
        elif token.token_type == _T.L_PAREN:
            follower = tokens[at + 1].token_type if at + 1 < len(tokens) else None
            if depth in names and before in _BEFORE_CTE_QUERY and follower in _QUERY_STARTS:
                made.append(Token(_T.ALIAS, "AS", token.line, token.col, token.start, token.start, []))
            depth += 1
        elif token.token_type == _T.R_PAREN:
            names.discard(depth)
            depth -= 1
        elif token.token_type in _QUERY_STARTS:
            names.discard(depth)
        made.append(token)
    return made


_QUERY_STARTS: Final = frozenset((_T.SELECT, _T.FROM, _T.VALUES, _T.WITH, _T.TABLE, _T.L_PAREN))
_BEFORE_CTE_QUERY: Final = _NAMES | {_T.R_PAREN}


def _closed(tokens: Sequence[Token], opening: int) -> int:
    """The index behind the bracket that closes the one there."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].token_type == _T.L_PAREN) - (tokens[at].token_type == _T.R_PAREN)
        if depth == 0:
            return at + 1
    return len(tokens)


def clustered_windows(tokens: list[Token]) -> list[Token]:
    """`OVER (CLUSTER BY a)`, which is PARTITION BY."""
    made = list(tokens)
    for at in range(2, len(tokens)):
        token = tokens[at]
        is_first = token.token_type == _T.CLUSTER_BY and tokens[at - 1].token_type == _T.L_PAREN
        if is_first and tokens[at - 2].text.upper() in ("OVER", "AS"):
            place = (token.line, token.col, token.start, token.end, token.comments)
            made[at] = Token(_T.PARTITION_BY, "PARTITION BY", *place)
    return made


def names_of_digits(tokens: list[Token]) -> list[Token]:
    """`0xFF` and `0b01` are names to Spark, as every word is that begins with a digit and is no number."""
    marks = {_T.HEX_STRING: "0x", _T.BIT_STRING: "0b"}
    return [
        Token(_T.VAR, marks[token.token_type] + token.text, token.line, token.col, token.start, token.end, [])
        if token.token_type in marks and token.end - token.start + 1 == len(token.text) + 2
        else token
        for token in tokens
    ]


_BARE_WORDS: Final = frozenset((_T.CURRENT_DATE, _T.CURRENT_TIMESTAMP, _T.CURRENT_USER, _T.SESSION_USER))


def bare_words(tokens: list[Token]) -> list[Token]:
    """`current_date` without brackets is a name to Spark: a column of that name comes before the function."""
    followers = [*(token.token_type for token in tokens[1:]), None]
    return [
        Token(_T.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        if token.token_type in _BARE_WORDS and follower != _T.L_PAREN
        else token
        for token, follower in zip(tokens, followers, strict=True)
    ]


_UNIT_TEXT: Final = "YEAR MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND"
INTERVAL_UNITS: Final = frozenset(form for unit in _UNIT_TEXT.split() for form in (unit, unit + "S"))
_SIGNS: Final = (_T.DASH, _T.PLUS)


def signed_amounts(tokens: list[Token]) -> list[Token]:
    """`INTERVAL 1 DAY -2 HOURS` is one interval: its further amounts with a sign, which sqlglot subtracts, as texts."""
    made: list[Token] = []
    is_interval = False
    for token in tokens:
        is_interval = token.token_type == _T.INTERVAL or (is_interval and _is_of_interval(token))
        is_first = is_interval and bool(made) and made[-1].token_type == _T.INTERVAL
        made.append(_normalized(token) if is_first else token)
        if not is_interval or token.text.upper() not in INTERVAL_UNITS or len(made) < 4:
            continue
        unit, sign, amount = made[-4:-1]
        is_number = amount.token_type in (_T.NUMBER, _T.STRING)
        if (
            unit.text.upper() in INTERVAL_UNITS
            and sign.token_type in _SIGNS
            and is_number
            and amount.start == sign.end + 1
        ):
            text = f"-{amount.text}" if sign.token_type == _T.DASH else amount.text
            made[-3:-1] = [Token(_T.STRING, text, sign.line, sign.col, sign.start, amount.end, [])]
    return made


_LOOSE_SIGN: Final = re.compile(r"([+-])\s+(?=[\d.])")
_BARE_FRACTION: Final = re.compile(r"(?<!\d)\.(?=\d)")


def _normalized(literal: Token) -> Token:
    """`'- 1 day'` as `'-1 day'` and `'.5 seconds'` as `'0.5 seconds'`: sqlglot drops such a sign and point."""
    if literal.token_type != _T.STRING or not any(character.isalpha() for character in literal.text):
        return literal
    text = _BARE_FRACTION.sub("0.", _LOOSE_SIGN.sub(r"\1", literal.text))
    if text == literal.text:
        return literal
    return Token(_T.STRING, text, literal.line, literal.col, literal.start, literal.end, [])


def _is_of_interval(token: Token) -> bool:
    return token.token_type in (_T.NUMBER, _T.STRING, *_SIGNS) or token.text.upper() in INTERVAL_UNITS


_NEGATED: Final = {_T.GT: (_T.LTE, "<="), _T.LT: (_T.GTE, ">=")}


def negated_comparisons(tokens: list[Token]) -> list[Token]:
    """`a !> b` is `a <= b` and `a !< b` is `a >= b`: Spark's lexer makes one sign of both characters."""
    made: list[Token] = []
    for token in tokens:
        last = made[-1] if made else None
        is_one = last is not None and last.token_type == _T.NOT and last.text == "!" and last.end + 1 == token.start
        if last is not None and is_one and token.token_type in _NEGATED:
            kind, text = _NEGATED[token.token_type]
            made[-1] = Token(kind, text, last.line, last.col, last.start, token.end, [])
        else:
            made.append(token)
    return made
