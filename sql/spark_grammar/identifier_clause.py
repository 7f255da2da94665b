"""`IDENTIFIER('a' || lower('B'))`: the text of its constant, of literals and of functions that change strings."""

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

_T: Final = TokenType
TEXT_FUNCTIONS: Final[dict[str, Callable[..., str]]] = {
    **dict.fromkeys(("lower", "lcase"), str.lower),
    **dict.fromkeys(("upper", "ucase"), str.upper),
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "reverse": lambda text: text[::-1],
    "concat": lambda *texts: "".join(texts),
    "replace": lambda text, search, replacement="": text.replace(search, replacement) if search else text,
}
"""Functions of which NULL makes NULL; `concat_ws` skips it."""


def constant_text(tokens: Sequence[Token], opening: int) -> tuple[str, int]:
    """The text in the brackets that open there, and how many tokens they are; no text if it is not computed here."""
    is_number = _is(tokens, opening + 1, _T.NUMBER) and _is(tokens, opening + 2, _T.R_PAREN)
    if not _is(tokens, opening, _T.L_PAREN) or is_number:
        return "", 0
    found = _joined(tokens, opening + 1)
    if found is None or found[0] is None or not _is(tokens, found[1], _T.R_PAREN):
        return "", 0
    return found[0], found[1] + 1 - opening


def _joined(tokens: Sequence[Token], index: int) -> tuple[str | None, int] | None:
    """Strings joined by `||`, None for NULL, and the index behind them; None if they are not computed here."""
    found = _string(tokens, index)
    while found is not None and _is(tokens, found[1], _T.DPIPE):
        right = _string(tokens, found[1] + 1)
        found = None if right is None else (_call("concat", [found[0], right[0]]), right[1])
    return found


def _string(tokens: Sequence[Token], index: int) -> tuple[str | None, int] | None:
    if _is(tokens, index, _T.STRING) or (_is(tokens, index, _T.NUMBER) and tokens[index].text.isdigit()):
        return tokens[index].text, index + 1
    if _is(tokens, index, _T.NULL):
        return None, index + 1
    name = tokens[index].text.lower() if _is(tokens, index + 1, _T.L_PAREN) else ""
    if name not in TEXT_FUNCTIONS and name != "concat_ws":
        return None
    arguments: list[str | None] = []
    end = index + 1
    while not arguments or _is(tokens, end, _T.COMMA):
        found = _joined(tokens, end + 1)
        if found is None:
            return None
        arguments.append(found[0])
        end = found[1]
    if not _is(tokens, end, _T.R_PAREN):
        return None
    try:
        return _call(name, arguments), end + 1
    except TypeError:  # another number of arguments
        return None


def _call(name: str, arguments: Sequence[str | None]) -> str | None:
    if name == "concat_ws" and arguments[0] is not None:
        return arguments[0].join(text for text in arguments[1:] if text is not None)
    return None if None in arguments else TEXT_FUNCTIONS[name](*arguments)


def _is(tokens: Sequence[Token], index: int, kind: TokenType) -> bool:
    return index < len(tokens) and tokens[index].token_type == kind
