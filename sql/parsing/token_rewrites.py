"""Rewrites Spark syntax that sqlglot lacks into tokens that it can parse and that `expressions/` recognizes.

`doc:a.b` becomes `doc['…']`, whose key stands in the text from the colon on; `void`, among types, sqlglot calls `null`;
`struct(1 a)` is `struct(1 AS a)`; `DATE '…'::t` and `-1::t` get brackets around their literals; `IS UNKNOWN`, which
sqlglot takes for `IS NULL`, is `IS 'UNKNOWN'`.
Every generated token has the location of the text that it replaces.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sql.recognizer.check import Nested
from sql.recognizer.cursor import IN_PIVOT, POSITIVE
from sql.recognizer.identifier_clause import constant_text, name_parts

_T = TokenType
_OPERAND_ENDS: Final = frozenset((_T.VAR, _T.IDENTIFIER, _T.R_PAREN, _T.R_BRACKET))
_NESTED: Final = frozenset((_T.STRUCT, _T.ARRAY, _T.MAP))
_SIGNS: Final = frozenset((_T.COLON, _T.DCOLON))
_WORDS: Final = frozenset(("void", "struct", "unknown"))
"""Without any of these signs and words there is no such syntax."""
_VALUE_ENDS: Final = _OPERAND_ENDS | {_T.NUMBER, _T.STRING, _T.NULL, _T.TRUE, _T.FALSE, _T.END}


_BEFORE_SIGN: Final = frozenset((
    _T.SELECT, _T.DISTINCT, _T.COMMA, _T.L_PAREN, _T.PLUS, _T.DASH, _T.STAR, _T.SLASH, _T.MOD, _T.DIV, _T.DPIPE,
    _T.EQ, _T.NEQ, _T.NULLSAFE_EQ, _T.LT, _T.LTE, _T.GT, _T.GTE, _T.AND, _T.OR, _T.NOT, _T.BETWEEN,
    _T.CASE, _T.WHEN, _T.THEN, _T.ELSE, _T.WHERE, _T.HAVING, _T.ON,
))  # fmt: skip
"""After these a minus is a sign, not a difference."""


def rewritten(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with such syntax replaced; the same if there is none."""
    if not any(candidate.token_type in _SIGNS or candidate.text.lower() in _WORDS for candidate in tokens):
        return list(tokens)
    made: list[Token] = []
    calls: list[str] = []
    angle = 0
    index = 0
    while index < len(tokens):
        token = tokens[index]
        before = tokens[index - 1] if index else None
        kind = token.token_type
        if kind == _T.LT and before is not None and before.token_type in _NESTED:
            angle += 1
        elif kind == _T.GT and angle:
            angle -= 1
        elif kind == _T.L_PAREN:
            calls.append(before.text.lower() if before is not None else "")
        elif kind == _T.R_PAREN and calls:
            calls.pop()
        elif kind == _T.COLON and not angle and before is not None and before.token_type in _OPERAND_ENDS:
            end = _path_end(tokens, index + 1)
            if end > index + 1:
                made += _subscript(tokens, index, end)
                index = end
                continue
        elif kind == _T.VAR and token.text.lower() == "void" and _is_type(tokens, index, calls, inside=bool(angle)):
            token = _token(_T.NULL, "null", token, token)
        elif kind == _T.UNKNOWN and _is_test(tokens, index):
            token = _token(_T.STRING, token.text, token, token)
        elif kind in (_T.VAR, _T.IDENTIFIER) and calls and calls[-1] == "struct" and _is_alias(tokens, index):
            made.append(_token(_T.ALIAS, "AS", token, token))
        if _is_typed_literal(tokens, index) or _is_negative_literal(tokens, index):
            literal = tokens[index + 1]
            opened, closed = _token(_T.L_PAREN, "(", token, token), _token(_T.R_PAREN, ")", literal, literal)
            made += [opened, token, literal, closed]
            index += 2
            continue
        made.append(token)
        index += 1
    return made


def bracketed(tokens: Sequence[Token], nested: Sequence[Nested]) -> Sequence[Token]:
    """The tokens with brackets around values that sqlglot would nest otherwise; `+x` becomes `positive(x)`.

    An expression in PIVOT becomes the argument of a call of that name, which `sql.binding.pivots` takes away.
    """
    if not nested:
        return tokens
    starts = {token.start for token in tokens}
    known = [value for value in nested if value.start in starts]
    opened = Counter(value.start for value in known if value.call != POSITIVE)
    signs = {value.start for value in known if value.call == POSITIVE}
    pivoted = {value.start for value in known if value.call == IN_PIVOT}
    ends = sorted(value.end for value in known)
    made: list[Token] = []
    for token in tokens:
        while ends and ends[0] <= token.start:
            made.append(_token(_T.R_PAREN, ")", made[-1], made[-1]))
            ends.pop(0)
        if made and made[-1].start == token.start:  # sqlglot makes three tokens of `2L`
            made.append(token)
            continue
        made += [_token(_T.VAR, IN_PIVOT, token, token)] * (token.start in pivoted)
        made += [_token(_T.L_PAREN, "(", token, token)] * opened[token.start]
        if token.start in signs:
            made += [_token(_T.VAR, "positive", token, token), _token(_T.L_PAREN, "(", token, token)]
        else:
            made.append(token)
    return made + [_token(_T.R_PAREN, ")", tokens[-1], tokens[-1])] * len(ends)


def plain_names(tokens: list[Token], names: frozenset[int]) -> list[Token]:
    """The words at these offsets as names, whatever they are to sqlglot: `x AS select`, `FROM t where`."""
    if not names:
        return tokens
    made = list(tokens)
    for index, token in enumerate(tokens):
        if token.token_type in _WORDS_OR_LITERALS or token.start not in names:
            continue
        made[index] = _token(_T.VAR, token.text, token, token)
    return made


_WORDS_OR_LITERALS: Final = frozenset((_T.VAR, _T.IDENTIFIER, _T.STRING, _T.NUMBER))


def joined_strings(tokens: list[Token]) -> list[Token]:
    """`'it''s'` as one string: sqlglot makes two of it, which touch each other."""
    made: list[Token] = []
    for token in tokens:
        last = made[-1] if made else None
        if last is not None and token.token_type == last.token_type == _T.STRING and token.start == last.end + 1:
            made[-1] = Token(_T.STRING, f"{last.text}'{token.text}", last.line, last.col, last.start, token.end, [])
        else:
            made.append(token)
    return made


def _within(literal: Token) -> Token:
    """The text of a string without its quotes, which distinguishes a name from a string."""
    return Token(_T.VAR, literal.text, literal.line, literal.col, literal.start + 1, literal.end - 1, [])


_CONSTANTS: Final = frozenset((_T.STRING, _T.NUMBER, _T.TRUE, _T.FALSE))


def named_by_text(tokens: list[Token]) -> list[Token]:
    """`identifier('a' || '.b')` as the name `a.b`, of a column, a table or a function; one literal if it is no name."""
    if not any(token.text.lower() == "identifier" for token in tokens):
        return tokens
    made: list[Token] = []
    end = 0
    for index, token in enumerate(tokens):
        if index < end:
            continue
        is_part = bool(made) and made[-1].token_type == _T.DOT
        is_word = token.token_type == _T.VAR and token.text.lower() == "identifier" and not is_part
        found = constant_text(tokens, index + 1) if is_word else None
        if found is None:
            made.append(token)
            continue
        end = index + 1 + found[1]
        made += _named(found[0], tokens[index:end])
    return made


def _named(text: str, tokens: Sequence[Token]) -> list[Token]:
    """What stands for IDENTIFIER with the text in its brackets."""
    parts = name_parts(text)
    if parts is None:
        word, opening, *within, closing = tokens
        return [word, opening, _token(_T.STRING, text, within[0], within[-1]), closing]
    literal = _within(next(word for word in tokens[2:] if word.text and word.token_type in _CONSTANTS))
    names = [_token(_T.IDENTIFIER, part, literal, literal) for part in parts]
    dot = _token(_T.DOT, ".", literal, literal)
    return [token for name in names for token in (dot, name)][1:]


_TYPES: Final = frozenset(("date", "timestamp", "timestamp_ntz", "timestamp_ltz", "time"))


def _is_typed_literal(tokens: Sequence[Token], index: int) -> bool:
    """`DATE '2020-01-01'` before `::`, which sqlglot would bind to the string alone."""
    following = [token.token_type for token in tokens[index + 1 : index + 3]]
    return following == [_T.STRING, _T.DCOLON] and tokens[index].text.lower() in _TYPES


def _is_negative_literal(tokens: Sequence[Token], index: int) -> bool:
    """`-1` before `::`, which sqlglot would bind to the number alone. The tokenizer's own `::` of `1L` is no cast."""
    if tokens[index].token_type != _T.DASH or not index or tokens[index - 1].token_type not in _BEFORE_SIGN:
        return False
    following = tokens[index + 1 : index + 3]
    is_cast = [token.token_type for token in following] == [_T.NUMBER, _T.DCOLON]
    return is_cast and following[1].start > following[0].start


def is_path(text: str, start: int | None) -> bool:
    """Whether the key of a subscript, which stands at that offset, is the path behind a colon."""
    return start is not None and text[start : start + 1] == ":"


def is_unknown_test(text: str, node: exp.Is) -> bool:
    """Whether it is `IS UNKNOWN`, not a string in quotes."""
    start = node.expression.meta.get("start")
    return isinstance(node.expression, exp.Literal) and start is not None and text[start : start + 1] in "uU"


def path_name(path: str) -> str | None:
    """The last name of a path `:a.b[0]['c']`, which names the column; None if it has positions only."""
    names: list[str] = []
    name = quote = ""
    for character in path.lstrip(":"):
        if quote:
            quote, name = ("", name) if character == quote else (quote, name + character)
        elif character in "'\"`":
            quote = character
        elif character in ".[]":
            names.append(name.strip() if not (character == "]" and name.strip().isdigit()) else "")
            name = ""
        else:
            name += character
    return next((known for known in [name.strip(), *reversed(names)] if known), None)


def _path_end(tokens: Sequence[Token], index: int) -> int:
    """The index behind a path that starts there; the index itself where none does."""
    end = index
    while end < len(tokens):
        kind = tokens[end].token_type
        if kind == _T.L_BRACKET and _is_key(tokens, end):
            end += 3
        elif kind == _T.DOT and end > index and end + 1 < len(tokens) and _is_name(tokens[end + 1]):
            end += 2
        elif end == index and _is_name(tokens[end]):
            end += 1
        else:
            break
    return end


def _is_key(tokens: Sequence[Token], index: int) -> bool:
    inside = tokens[index + 1 : index + 3]
    closed = len(inside) == 2 and inside[1].token_type == _T.R_BRACKET
    return closed and inside[0].token_type in (_T.STRING, _T.NUMBER)


def _is_name(token: Token) -> bool:
    return token.token_type == _T.IDENTIFIER or (token.text.replace("_", "a").isalnum() and not token.text[0].isdigit())


def _subscript(tokens: Sequence[Token], colon: int, end: int) -> list[Token]:
    first, last = tokens[colon], tokens[end - 1]
    key = _token(_T.STRING, "path", first, last)
    return [_token(_T.L_BRACKET, "[", first, first), key, _token(_T.R_BRACKET, "]", last, last)]


def _is_type(tokens: Sequence[Token], index: int, calls: Sequence[str], *, inside: bool) -> bool:
    before = tokens[index - 1].token_type if index else None
    is_cast = before == _T.ALIAS and bool(calls) and calls[-1] in ("cast", "try_cast")
    return is_cast or before == _T.DCOLON or (inside and before in (_T.LT, _T.COMMA, _T.COLON, _T.VAR))


def _is_test(tokens: Sequence[Token], index: int) -> bool:
    before = [token.token_type for token in tokens[max(index - 2, 0) : index]]
    return before[-1:] == [_T.IS] or before == [_T.IS, _T.NOT]


def _is_alias(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name stands behind a value and before the next one."""
    if index + 1 >= len(tokens) or tokens[index + 1].token_type not in (_T.COMMA, _T.R_PAREN):
        return False
    return tokens[index - 1].token_type in _VALUE_ENDS and not _is_unit(tokens, index)


def _is_unit(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word ends `INTERVAL 1 DAY` or `INTERVAL '1 10' DAY TO HOUR`."""
    before = tokens[index - 1]
    if before.text.upper() == "TO":
        return True
    if before.token_type not in (_T.NUMBER, _T.STRING):
        return False
    for token in reversed(tokens[:index]):
        if token.token_type in (_T.COMMA, _T.L_PAREN):
            return False
        if token.token_type == _T.INTERVAL:
            return True
    return False


def _token(kind: TokenType, text: str, first: Token, last: Token) -> Token:
    return Token(kind, text, first.line, first.col, first.start, last.end, [])
