"""`IDENTIFIER('a' || lower('B'))`: the text of its constant, of literals and of functions that change strings."""

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from sql.recognizer.cursor import is_name
from sql.recognizer.lexer import NUMBER, QUOTED, STRING, LexicalError, tokenized

_T: Final = TokenType


def _substring(text: str, start: str, length: str = "2147483647") -> str:
    first = max(int(start) - 1, 0)
    return text[first : first + int(length)]


TEXT_FUNCTIONS: Final[dict[str, Callable[..., str]]] = {
    **dict.fromkeys(("lower", "lcase"), str.lower),
    **dict.fromkeys(("upper", "ucase"), str.upper),
    **dict.fromkeys(("substring", "substr"), _substring),
    "string": lambda text: text,
    "trim": lambda text: text.strip(" "),
    "btrim": lambda text, characters=" ": text.strip(characters),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "reverse": lambda text: text[::-1],
    "left": lambda text, length: text[: int(length)],
    "right": lambda text, length: text[max(len(text) - int(length), 0) :],
    "repeat": lambda text, times: text * min(int(times), 1000),
    "concat": lambda *texts: "".join(texts),
    "replace": lambda text, search, replacement="": text.replace(search, replacement) if search else text,
}
"""Functions of which NULL makes NULL."""
_SKIPPING_NULL: Final = frozenset(("concat_ws", "coalesce", "nvl", "ifnull"))
_WORDS: Final = {_T.TRUE: "true", _T.FALSE: "false"}


def name_parts(text: str) -> list[str] | None:
    """The parts of a dotted name, without backquotes; None if the text is no name to Spark."""
    try:
        tokens = tokenized(text)
    except LexicalError:
        return None
    if text.rstrip().endswith(";"):  # which the end of a query may have
        return None
    size = len(tokens.matches)
    words, dots = tokens.kinds[:size:2], tokens.kinds[1:size:2]
    is_dotted = size % 2 == 1 and all(dot == "." for dot in dots)
    if not is_dotted or not all(is_name(word) and word not in (NUMBER, STRING) and word.isascii() for word in words):
        return None
    written = [text[slice(*tokens.span(at))] for at in range(0, size, 2)]
    parts = [part[1:-1].replace("``", "`") if part.startswith(QUOTED) else part for part in written]
    return parts if all(parts) else None


def constant_text(tokens: Sequence[Token], opening: int) -> tuple[str, int] | None:
    """The text in the brackets that open there, and how many tokens they are; None if it is not computed here."""
    is_number = _is(tokens, opening + 1, _T.NUMBER) and _is(tokens, opening + 2, _T.R_PAREN)
    is_word = _is(tokens, opening + 1, *_WORDS) and _is(tokens, opening + 2, _T.R_PAREN)
    if not _is(tokens, opening, _T.L_PAREN) or is_number or is_word:
        return None
    found = _joined(tokens, opening + 1)
    if found is None or found[0] is None or not _is(tokens, found[1], _T.R_PAREN):
        return None
    return found[0], found[1] + 1 - opening


def _joined(tokens: Sequence[Token], index: int) -> tuple[str | None, int] | None:
    """Strings joined by `||`, None for NULL, and the index behind them; None if they are not computed here."""
    found = _cast(tokens, index)
    while found is not None and _is(tokens, found[1], _T.DPIPE):
        right = _cast(tokens, found[1] + 1)
        found = None if right is None else (_call("concat", [found[0], right[0]]), right[1])
    return found


def _cast(tokens: Sequence[Token], index: int) -> tuple[str | None, int] | None:
    """A string, with `::string` behind it or not."""
    found = _string(tokens, index)
    while found is not None and _is(tokens, found[1], _T.DCOLON):
        found = (found[0], found[1] + 2) if _is_string_type(tokens, found[1] + 1) else None
    return found


def _string(tokens: Sequence[Token], index: int) -> tuple[str | None, int] | None:
    if _is(tokens, index, _T.STRING):
        end = index
        while _is(tokens, end, _T.STRING):
            end += 1
        return "".join(token.text for token in tokens[index:end]), end
    if _is(tokens, index, _T.NUMBER) and tokens[index].text.isdigit():
        return tokens[index].text, index + 1
    if _is(tokens, index, *_WORDS):
        return _WORDS[tokens[index].token_type], index + 1
    if _is(tokens, index, _T.NULL):
        return None, index + 1
    if _is(tokens, index, _T.L_PAREN):
        return _closed(tokens, _joined(tokens, index + 1))
    if not _is(tokens, index + 1, _T.L_PAREN):
        return None
    name = tokens[index].text.lower()
    if name == "cast":
        found = _joined(tokens, index + 2)
        is_cast = found is not None and _is(tokens, found[1], _T.ALIAS) and _is_string_type(tokens, found[1] + 1)
        return _closed(tokens, (found[0], found[1] + 2)) if found is not None and is_cast else None
    return _called(tokens, index, name) if name in TEXT_FUNCTIONS or name in _SKIPPING_NULL else None


def _called(tokens: Sequence[Token], index: int, name: str) -> tuple[str | None, int] | None:
    """The result of a call of a function, whose name is at the index."""
    arguments: list[str | None] = []
    end = index + 2
    while not _is(tokens, end, _T.R_PAREN):
        found = _joined(tokens, end)
        if found is None or not _is(tokens, found[1], _T.COMMA, _T.R_PAREN):
            return None
        arguments.append(found[0])
        end = found[1] + _is(tokens, found[1], _T.COMMA)
    try:
        return _call(name, arguments), end + 1
    except (TypeError, ValueError, IndexError):  # another number of arguments, or no number where one is needed
        return None


def _call(name: str, arguments: Sequence[str | None]) -> str | None:
    if name == "concat_ws":
        separator = arguments[0]
        return None if separator is None else separator.join(text for text in arguments[1:] if text is not None)
    if name in _SKIPPING_NULL:
        return next((text for text in arguments if text is not None), None)
    return None if None in arguments else TEXT_FUNCTIONS[name](*arguments)


def _closed(tokens: Sequence[Token], found: tuple[str | None, int] | None) -> tuple[str | None, int] | None:
    return (found[0], found[1] + 1) if found is not None and _is(tokens, found[1], _T.R_PAREN) else None


def _is_string_type(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text.lower() == "string" and not _is(tokens, index, _T.STRING)


def _is(tokens: Sequence[Token], index: int, *kinds: TokenType) -> bool:
    return index < len(tokens) and tokens[index].token_type in kinds
