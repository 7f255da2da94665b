"""Scripts, which sqlglot does not parse: `SELECT TRANSFORM(a, b) USING 'script' AS (x INT, y)`, `MAP …`, `REDUCE …`.

They are parsed as a call of `SCRIPT_CALL`, whose last argument is the text of the columns that the script gives.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

SCRIPT_CALL: Final = "transform using"
"""The name of the call; no plain function has it, as it holds a space."""
_T: Final = TokenType
_COLUMNS: Final = "key STRING, value STRING"
"""What a script gives where no AS says it."""
_BEFORE_USING: Final = frozenset(("ROW", "RECORDWRITER", "USING"))
_AFTER_COLUMNS: Final = frozenset(
    (
        *("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "UNION"),
        *("EXCEPT", "INTERSECT", "MINUS", "WINDOW", "LATERAL", "ROW", "RECORDREADER"),
    )
)


def scripted(tokens: list[Token]) -> list[Token]:
    """The tokens with a call in place of each script transform."""
    made: list[Token] = []
    index = 0
    while index < len(tokens):
        found = _script(tokens, index)
        if found is None:
            made.append(tokens[index])
            index += 1
        else:
            call, index = found
            made += call
    return made


def _script(tokens: Sequence[Token], index: int) -> tuple[list[Token], int] | None:
    """The tokens of the call for a script transform that begins there, and the index behind it."""
    word = tokens[index].text.upper()
    follower = tokens[index + 1].token_type if index + 1 < len(tokens) else None
    if word == "TRANSFORM" and follower == _T.L_PAREN and index and tokens[index - 1].token_type == _T.SELECT:
        closing = _end(tokens, index + 1)
        arguments, end, opening = tokens[index + 2 : closing], closing + 1, []
    elif word in ("MAP", "REDUCE") and follower not in (_T.L_PAREN, _T.DOT, None):
        end = _next_word(tokens, index + 1, _BEFORE_USING)
        arguments, opening = tokens[index + 1 : end], [_token(_T.SELECT, "SELECT", tokens[index])]
    else:
        return None
    using = _next_word(tokens, end, frozenset(("USING",)))
    is_script = tokens[end : end + 1] and tokens[end].text.upper() in _BEFORE_USING and using + 1 < len(tokens)
    if not is_script or tokens[using + 1].token_type != _T.STRING:
        return None
    _refuse_serde(tokens[end:using])
    columns, end = _columns(tokens, using + 2)
    place = tokens[using]
    call = [_token(_T.IDENTIFIER, SCRIPT_CALL, tokens[index]), _token(_T.L_PAREN, "(", tokens[index])]
    last = [_token(_T.COMMA, ",", place), _token(_T.STRING, columns, place), _token(_T.R_PAREN, ")", place)]
    behind = _next_word(tokens, end, _AFTER_COLUMNS - {"ROW", "RECORDREADER"})
    _refuse_serde(tokens[end:behind])
    if tokens[end : end + 1] and tokens[end].token_type == _T.COMMA:
        message = "syntax error at or near `,`: a script is the only item of its SELECT"
        raise ParseError.new(message, description=message, line=tokens[end].line, col=tokens[end].col)
    is_format = tokens[end : end + 1] and tokens[end].text.upper() in ("ROW", "RECORDREADER")
    return [*opening, *call, *arguments, *last], behind if is_format else end


def _columns(tokens: Sequence[Token], start: int) -> tuple[str, int]:
    """The columns behind AS as a schema, a string where no type is written, and the index behind them."""
    if tokens[start : start + 1] and tokens[start].token_type == _T.ALIAS:
        start += 1
    elif not tokens[start : start + 1] or tokens[start].token_type != _T.L_PAREN:
        return _COLUMNS, start
    is_bracketed = tokens[start : start + 1] and tokens[start].token_type == _T.L_PAREN
    end = _end(tokens, start) if is_bracketed else _next_word(tokens, start, _AFTER_COLUMNS)
    columns: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[start + bool(is_bracketed) : end]:
        depth += sum(token.text.count(mark) for mark in "<(") - sum(token.text.count(mark) for mark in ">)")
        if token.token_type == _T.COMMA and depth == 0:
            columns.append([])
        else:
            columns[-1].append(token)
    untyped = [column for column in columns if len(column) == 1]
    if untyped and len(untyped) < len(columns):
        message = f"`{untyped[0][0].text}` has no type, but another column of the script has one"
        raise ParseError.new(message, description=message, line=untyped[0][0].line, col=untyped[0][0].col)
    return ", ".join(map(_column, columns)), end + bool(is_bracketed)


def _column(tokens: Sequence[Token]) -> str:
    words = [f"`{token.text}`" if token.token_type == _T.IDENTIFIER else token.text for token in tokens]
    return " ".join([*words, "STRING"] if len(words) == 1 else words)


def _refuse_serde(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.text.upper() == "SERDE":
            message = "a script with SERDE needs Hive, which Penstock does not run: write ROW FORMAT DELIMITED"
            raise ParseError.new(message, description=message, line=token.line, col=token.col)


def _end(tokens: Sequence[Token], opening: int) -> int:
    """The index of the bracket that closes the one there."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += (tokens[index].token_type == _T.L_PAREN) - (tokens[index].token_type == _T.R_PAREN)
        if depth == 0:
            return index
    return len(tokens)


def _next_word(tokens: Sequence[Token], start: int, words: frozenset[str]) -> int:
    """The index of the next of the words outside brackets, or of the bracket that closes what is around."""
    index = start
    while index < len(tokens) and tokens[index].text.upper() not in words:
        if tokens[index].token_type == _T.R_PAREN:
            return index
        index = _end(tokens, index) + 1 if tokens[index].token_type == _T.L_PAREN else index + 1
    return min(index, len(tokens))


def _token(kind: TokenType, text: str, place: Token) -> Token:
    return Token(kind, text, place.line, place.col, place.start, place.end, [])
