"""What a rule of the grammar leaves of a text."""

from collections.abc import Callable

from sql.spark_grammar.cursor import Cursor
from sql.spark_grammar.lexer import tokenized


def rest(rule: Callable[[Cursor], None], text: str) -> str:
    """What the rule leaves of a text."""
    tokens = tokenized(text)
    cursor = Cursor(tokens, query=lambda _: None)
    rule(cursor)
    return text[tokens.span(cursor.at)[0] :] if cursor.at < len(tokens.matches) else ""
