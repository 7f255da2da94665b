"""Checks whether Spark's parser accepts a query, and at which token it stops.

The rules follow `SqlBaseParser.g4` of Spark 4.1 with its default keywords: nearly every word is a name where a name
may stand. What they do not follow (pipes, TRANSFORM, IDENTIFIER) is taken; the rest of the analysis looks at it.
"""

import re
from contextlib import suppress
from typing import Final, NamedTuple

from sql.recognizer.cursor import Cursor, NotFollowedError, NotSparkError
from sql.recognizer.expressions import expression, value
from sql.recognizer.lexer import END, LexicalError, Tokens, tokenized
from sql.recognizer.likely_mistakes import ALIAS, Cause, likely_cause, unparsed_cause
from sql.recognizer.queries import query


class Unexpected(NamedTuple):
    """Start and end (exclusive) of a token that cannot stand where it does, and what is known of the reason."""

    start: int
    end: int
    message: str | None = None


class Nested(NamedTuple):
    """A value that Spark nests otherwise than sqlglot does, from one offset to another (exclusive).

    `call`: what it is an argument of, instead of brackets alone: `positive` where it begins with a plus sign, which
    sqlglot drops, or `IN_PIVOT`.
    """

    start: int
    end: int
    call: str | None


class Verdict(NamedTuple):
    """The result of the check.

    `is_certain`: all of the query was followed; `unexpected`: the first token that it refuses, if any; `nested`: values
    to put into brackets; `names`: offsets of the words that are names of columns and relations, whatever they mean
    elsewhere.
    """

    unexpected: Unexpected | None = None
    nested: tuple[Nested, ...] = ()
    names: frozenset[int] = frozenset()
    is_certain: bool = False


_CHARACTER: Final = re.compile(r".", re.DOTALL)
_SCRIPT: Final = re.compile(r"\busing\s*['\"]", re.IGNORECASE)
"""The clause of TRANSFORM, MAP and REDUCE that names a script."""
_MOST_TRIALS: Final = 4
"""Of how many words, from the last on, it is tried whether they are aliases where the query does not fit otherwise."""


def recognize(text: str) -> Verdict:
    """Check a query against Spark's grammar."""
    if "/*+" in text or "${" in text or _SCRIPT.search(text):
        return Verdict()
    try:
        tokens, unknown = _tokens(text)
    except LexicalError as error:  # a comment that is not closed, for which Spark looks first
        return Verdict(Unexpected(error.offset, error.offset + 1))
    cursor = Cursor(tokens, query, expression, value)
    message = None
    try:
        query(cursor)
        if cursor.kind == END:
            return _accepted(cursor)
    except NotSparkError as error:
        message = error.message
    except (NotFollowedError, RecursionError):
        return Verdict(unknown)
    if not tokens.matches:
        return Verdict(Unexpected(0, len(text)))
    furthest, alias = cursor.at, 0
    for word in tuple(dict.fromkeys(reversed(cursor.doubtful)))[:_MOST_TRIALS]:
        trial = Cursor(tokens, query, expression, value, forced=frozenset((word,)))
        with suppress(NotSparkError, NotFollowedError, RecursionError):
            query(trial)
            if trial.kind == END:
                return _accepted(trial)
        if trial.at > furthest and not _is_alone_in_brackets(cursor, word):
            furthest, alias = trial.at, word
    at = min(furthest, len(tokens.matches) - 1)
    is_interval = message is None and "INTERVAL" in tokens.kinds[max(at - 2, 0) : at]
    cause = likely_cause(tokens.kinds, furthest, frozenset(cursor.aliases)) if message is None else None
    if cause is not None and not is_interval:
        return Verdict(_of_cause(text, tokens, cause))
    if alias:
        stop, before = (text[slice(*tokens.span(index))] for index in (at, alias))
        message = f"syntax error at or near `{stop}`: the `{before}` before it is read as an alias"
    if message is None and is_interval:
        message = "INTERVAL takes a number or string literal, and a unit"
    return Verdict(Unexpected(*tokens.span(at), message))


def unparsed(text: str) -> Unexpected | None:
    """What is likely wrong with a text that Spark's parser takes and sqlglot's does not."""
    try:
        tokens = tokenized(text)
    except LexicalError:
        return None
    cause = unparsed_cause(tokens.kinds)
    return None if cause is None else _of_cause(text, tokens, cause)


def _of_cause(text: str, tokens: Tokens, cause: Cause) -> Unexpected:
    start = tokens.span(cause.first)[0]
    end = tokens.span(cause.last)[1] if cause.last < len(tokens.matches) else len(text)
    if cause.message != ALIAS:
        return Unexpected(start, end, cause.message or f"syntax error at or near `{text[start:end]}`")
    alias, stop = (text[slice(*tokens.span(at))] for at in (cause.first, cause.last))
    return Unexpected(start, end, f"syntax error at or near `{stop}`: the `{alias}` before it is read as an alias")


def _tokens(text: str) -> tuple[Tokens, Unexpected | None]:
    """The tokens up to the first character at which none starts, which is the last one then; raises for a comment."""
    try:
        return tokenized(text), None
    except LexicalError as error:
        offset = error.offset
        if text.startswith("/*", offset):
            raise
    tokens = tokenized(text[:offset])
    character = _CHARACTER.match(text, offset)
    assert character is not None
    tokens.kinds.insert(len(tokens.matches), "\0")
    tokens.matches.append(character)
    return tokens, Unexpected(offset, offset + 1)


def _is_alone_in_brackets(cursor: Cursor, word: int) -> bool:
    """Whether a word follows the one expression in its brackets, `(1 FROM`, where Spark has no alias."""
    depth = 0
    for at in range(word - 1, -1, -1):
        kind = cursor.kinds[at]
        depth += (kind == ")") - (kind == "(")
        if depth < 0:
            return cursor.kinds[at + 1] not in ("SELECT", "WITH", "FROM")
        if depth == 0 and kind == ",":
            return False
    return False


def _accepted(cursor: Cursor) -> Verdict:
    span = cursor.tokens.span
    matches = cursor.tokens.matches
    foreign = () if matches[0].string.isascii() else cursor.kinds
    for at, kind in enumerate(foreign):
        if not kind.isascii():
            name = matches[at].string[slice(*span(at))]
            message = f"a name with letters other than a to z is written in backquotes: `{name}`"
            return Verdict(Unexpected(*span(at), message))
    nested = tuple(Nested(span(first)[0], span(last)[1], call) for first, last, call in set(cursor.nested))
    return Verdict(None, nested, frozenset(span(at)[0] for at in cursor.aliases), is_certain=True)
