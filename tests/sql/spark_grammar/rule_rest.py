"""What a rule of the grammar leaves of a text."""

from collections.abc import Callable

from sql.spark_grammar.cursor import Cursor
from sql.spark_grammar.expressions import expression, value
from sql.spark_grammar.lexer import tokenized
from sql.spark_grammar.queries import query


def cursor_of(text: str) -> Cursor:
    return Cursor(tokenized(text), query, expression, value)


def rest(rule: Callable[[Cursor], object], text: str) -> str:
    """What the rule leaves of a text."""
    cursor = cursor_of(text)
    rule(cursor)
    tokens = cursor.tokens
    return text[tokens.span(cursor.at)[0] :] if cursor.at < len(tokens.matches) else ""
