"""Checks whether Spark's parser accepts a query, and at which token it stops.

The rules follow `SqlBaseParser.g4` of Spark 4.1 with its default keywords: nearly every word is a name where a name
may stand. What they do not follow (pipes, TRANSFORM, IDENTIFIER) is taken; the rest of the analysis looks at it.
"""

from typing import NamedTuple

from sql.spark_grammar.cursor import Cursor, NotFollowedError, NotSparkError
from sql.spark_grammar.lexer import END, LexicalError, tokenized
from sql.spark_grammar.queries import query


class Unexpected(NamedTuple):
    """Start and end (exclusive) of a token that cannot stand where it does, and what is known of the reason."""

    start: int
    end: int
    message: str | None = None


class Nested(NamedTuple):
    """A value that Spark nests otherwise than sqlglot does, from one offset to another (exclusive).

    `is_positive`: a plus sign begins it, which sqlglot drops.
    """

    start: int
    end: int
    is_positive: bool


class Verdict(NamedTuple):
    """The result of the check: the first refused token, if any, and values to put into brackets."""

    unexpected: Unexpected | None = None
    nested: tuple[Nested, ...] = ()


def recognized(text: str) -> Verdict:
    """Check a query against Spark's grammar."""
    if "/*+" in text or "${" in text:
        return Verdict()
    try:
        tokens = tokenized(text)
    except LexicalError as error:
        return Verdict(Unexpected(error.offset, error.offset + 1))
    cursor = Cursor(tokens, query)
    message = None
    try:
        query(cursor)
        if cursor.kind == END:
            nested = (Nested(tokens.span(a)[0], tokens.span(b)[1], plus) for a, b, plus in set(cursor.nested))
            return Verdict(None, tuple(nested))
    except NotSparkError as error:
        message = error.message
    except (NotFollowedError, RecursionError):
        return Verdict()
    if not tokens.matches:
        return Verdict(Unexpected(0, len(text)))
    at = min(cursor.at, len(tokens.matches) - 1)
    if message is None and "INTERVAL" in tokens.kinds[max(at - 2, 0) : at]:
        message = "INTERVAL takes a number or string literal, and a unit"
    return Verdict(Unexpected(*tokens.span(at), message))
