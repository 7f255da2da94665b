"""Types as a query writes them in `CAST(x AS type)` and `x::type`, held to Spark's own names and sizes.

sqlglot takes the names of many systems (`text`, `datetime`, `number`) and any size; Spark does not.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from catalog.types.typetext import TypeTextError, check_spark_type
from sql.parsing.parse import SyntaxIssue

_CASTS: Final = frozenset(("cast", "try_cast"))
_LENGTHS: Final = frozenset(map(len, _CASTS))
_NOT_READ: Final = ("geometry", "geography")
"""Words of types that are not known here: nothing is said of what holds one."""


def type_issues(text: str, tokens: Sequence[Token]) -> Iterator[SyntaxIssue]:
    """The errors of all types that a query writes."""
    has_colons = "::" in text
    if not has_colons and "cast" not in text.lower():
        return
    for index, token in enumerate(tokens):
        is_colons = has_colons and token.token_type == TokenType.DCOLON
        if is_colons and index + 1 < len(tokens) and text.startswith("::", token.start):  # not the suffix of `1L`
            yield from _issue(text, tokens[index + 1].start, _end_behind(text, tokens, index + 1))
        elif (
            len(token.text) in _LENGTHS and token.text.lower() in _CASTS and (span := _span_in_call(tokens, index + 1))
        ):
            yield from _issue(text, *span)


def _issue(text: str, start: int, end: int) -> Iterator[SyntaxIssue]:
    written = text[start:end]
    if any(word in written.lower() for word in _NOT_READ):
        return
    try:
        check_spark_type(written)
    except TypeTextError as error:
        rest = written[error.offset :]
        length = next((at for at, char in enumerate(rest) if not (char.isalnum() or char == "_")), len(rest))
        at = start + error.offset
        yield SyntaxIssue(at, min(at + max(length, 1), len(text)), error.message, error.help, "PEN3013")


def _span_in_call(tokens: Sequence[Token], opening: int) -> tuple[int, int] | None:
    """From behind the AS of a cast to before its closing bracket; None if no bracket opens here."""
    if opening >= len(tokens) or tokens[opening].token_type != TokenType.L_PAREN:
        return None
    depth, start = 0, None
    for index in range(opening, len(tokens)):
        token = tokens[index]
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0:
            return (start, tokens[index - 1].end + 1) if start is not None and tokens[index - 1].end >= start else None
        if depth == 1 and token.token_type == TokenType.ALIAS and index + 1 < len(tokens):
            start = tokens[index + 1].start
    return None


_NESTED: Final = frozenset((TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT))


def _end_behind(text: str, tokens: Sequence[Token], first: int) -> int:
    """Where the type that starts at a token ends: behind its name, its sizes and its parts in brackets."""
    last = first
    opens = tokens[first + 1].token_type if first + 1 < len(tokens) else None
    if opens == TokenType.L_PAREN or (opens == TokenType.LT and tokens[first].token_type in _NESTED):
        depth = 0
        for last in range(first + 1, len(tokens)):
            written = text[tokens[last].start : tokens[last].end + 1]
            depth += sum((char in "<(") - (char in ">)") for char in written)
            if depth <= 0:
                break
    return tokens[last].end + 1
