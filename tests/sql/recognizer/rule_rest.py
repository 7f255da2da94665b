"""What a rule of the grammar leaves of a text."""

from collections.abc import Callable

from sql.recognizer.cursor import Cursor
from sql.recognizer.expressions import expression, value
from sql.recognizer.lexer import tokenized
from sql.recognizer.queries import query


def cursor_of(text: str) -> Cursor:
    return Cursor(tokenized(text), query, expression, value)


def rest(rule: Callable[[Cursor], object], text: str) -> str:
    """What the rule leaves of a text."""
    cursor = cursor_of(text)
    rule(cursor)
    tokens = cursor.tokens
    return text[tokens.span(cursor.at)[0] :] if cursor.at < len(tokens.matches) else ""
