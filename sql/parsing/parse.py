"""Parses text into a tree, with the locations of sqlglot's syntax errors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Final

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sql.parsing.call_names import keep_calls
from sql.parsing.pipe_syntax import PipeSyntaxError, has_pipes, parse_pipes
from sql.parsing.precedence import rebalanced
from sql.parsing.recursion import MOST_NESTED, too_deep
from sql.parsing.spark_tokens import SPARK, spark_tokens
from sql.parsing.subquery_position import with_listed_values
from sql.parsing.token_rewrites import bracketed, joined_strings, named_by_text, plain_names, rewritten
from sql.parsing.token_shifts import (
    bare_words,
    clustered_windows,
    ctes_with_as,
    names_of_digits,
    negated_comparisons,
    samples_last,
    signed_amounts,
)
from sql.quoted_forms import TEXT
from sql.recognizer.check import Nested
from sql.recognizer.script_transforms import scripted

UNEXPECTED: Final = "syntax error at or near"
"""The start of the message of an error of which only the token is known."""
UNPARSED: Final = "the query cannot be parsed"


@dataclass(frozen=True, slots=True)
class SyntaxIssue:
    """An error at the characters `start` to `end` (exclusive); not `is_certain`: Spark may well accept it."""

    start: int
    end: int
    message: str
    help: str | None = None
    code: str = "PEN3001"
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree (None if the text does not parse), its tokens, and its errors."""

    tree: exp.Expr | None
    tokens: Sequence[Token]
    issues: tuple[SyntaxIssue, ...] = ()


def parse(text: str, nested: Sequence[Nested] = (), names: frozenset[int] = frozenset()) -> Parsed:
    """Parse one Spark SQL query; `nested`: values to put into brackets, `names`: words that are aliases (`Verdict`)."""
    try:
        tokens = plain_names(spark_tokens(text), names)
    except TokenError as error:
        return Parsed(None, (), (_token_issue(text, str(error)),))
    if "using" in text.lower():
        try:
            tokens = scripted(tokens)
        except ParseError as error:
            return Parsed(None, tokens, (_parse_issue(text, tokens, error),))
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        return Parsed(None, (), (SyntaxIssue(0, len(text), "the query is empty"),))
    if tokens[0].token_type not in _STARTS and tokens[0].token_type != TokenType.TABLE:
        return Parsed(None, tokens, (_no_query(tokens[0]),))
    if ";" in text and (token := next((each for each in tokens if each.token_type == TokenType.SEMICOLON), None)):
        return Parsed(None, tokens, (SyntaxIssue(token.start, token.end + 1, "only one query is allowed here"),))
    if deepest := too_deep(tokens):
        message = f"more than {MOST_NESTED:,} brackets and CASEs within each other: Spark's parser does not accept that"
        return Parsed(None, tokens, (SyntaxIssue(deepest.start, deepest.end + 1, message),))
    try:
        plain = list(bracketed(tokens, nested))
        lowered = text.lower()
        for marks, rewrite in REWRITES:
            if any(mark in lowered for mark in marks):
                plain = rewrite(plain)
        piped = "|>" in text and has_pipes(plain)
        tree = parse_pipes(plain, partial(_tree, text=text)) if piped else _tree(plain, text)
    except ParseError as error:
        return Parsed(None, tokens, (_parse_issue(text, tokens, error),))
    except PipeSyntaxError as error:
        return Parsed(None, tokens, (SyntaxIssue(error.first.start, error.last.end + 1, error.message, error.help),))
    if not isinstance(tree, (exp.Query, exp.Values)):
        return Parsed(None, tokens, (_no_query(tokens[0]),))
    return Parsed(with_listed_values(rebalanced(tree, text), text), tokens)


def _tree(tokens: list[Token], text: str) -> exp.Expr | None:
    try:
        trees = SPARK.parser(error_level=ErrorLevel.IMMEDIATE).parse(keep_calls(tokens), text)
    except (
        TypeError,
        ValueError,
        AttributeError,
        LookupError,
        ArithmeticError,
    ) as error:  # sqlglot's, over a tree that it cannot make
        raise ParseError(UNPARSED) from error
    return trees[0] if trees else None


_STARTS: Final = frozenset((TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES, TokenType.L_PAREN))


def _no_query(first: Token) -> SyntaxIssue:
    is_typo = get_close_matches(first.text.upper(), ("SELECT",), 1, 0.6)
    help = "did you mean `SELECT`?" if is_typo else None
    if first.token_type == TokenType.STRING:
        help = "remove the quotes around the query"
    return SyntaxIssue(first.start, first.end + 1, "a query is expected here", help)


_AFTER_ALIAS: Final = frozenset((TokenType.COMMA, TokenType.FROM))
_NAMES: Final = frozenset((TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER))


def _keyword_aliases(tokens: list[Token]) -> list[Token]:
    """`x AS select`: behind AS any word is a name to Spark, whatever it is to sqlglot."""
    kept = list(tokens)
    alias = TokenType.ALIAS  # looked up once
    behind = [index for index, token in enumerate(tokens[:-1], 1) if token.token_type == alias]
    for index in behind:
        token = tokens[index]
        if token.token_type in _NAMES or not token.text.isidentifier():
            continue
        if index + 1 == len(tokens) or tokens[index + 1].token_type in _AFTER_ALIAS:
            kept[index] = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, [])
    return kept


def _without_recursion_limit(tokens: list[Token]) -> list[Token]:
    """`WITH RECURSIVE r MAX RECURSION LEVEL 10 AS (...)` without its limit, which changes no column."""
    for at, token in enumerate(tokens):
        is_max = token.token_type == TokenType.VAR and token.text.upper() == "MAX"
        if is_max and [word.text.upper() for word in tokens[at + 1 : at + 3]] == ["RECURSION", "LEVEL"]:
            return tokens[:at] + tokens[at + 4 :]
    return tokens


_ZONELESS: Final = ["TIMESTAMP", "WITHOUT", "TIME", "ZONE"]


def _zoneless(tokens: list[Token]) -> list[Token]:
    """`TIMESTAMP WITHOUT TIME ZONE` is `TIMESTAMP_NTZ`; sqlglot takes it for the one with a zone."""
    words = [token.text.upper() for token in tokens]
    if "WITHOUT" not in words:
        return tokens
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if words[index : index + 4] == _ZONELESS:
            place = (token.line, token.col, token.start, tokens[index + 3].end, token.comments)
            kept.append(Token(TokenType.TIMESTAMPNTZ, "TIMESTAMP_NTZ", *place))
        elif not any(words[start : start + 4] == _ZONELESS for start in range(max(index - 3, 0), index)):
            kept.append(token)
    return kept


def _table_statement(tokens: list[Token]) -> list[Token]:
    """`TABLE t` is `FROM t`, wherever a query may start."""
    if not any(token.token_type == TokenType.TABLE for token in tokens):
        return tokens
    return [
        Token(TokenType.FROM, "FROM", token.line, token.col, token.start, token.end, token.comments)
        if token.token_type == TokenType.TABLE and _may_start_query(tokens, index)
        else token
        for index, token in enumerate(tokens)
    ]


_BEFORE_QUERY: Final = frozenset((TokenType.L_PAREN, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT))


def _may_start_query(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1] if index else None
    if before is None:
        return True
    if before.token_type in (TokenType.ALL, TokenType.DISTINCT) and index > 1:
        before = tokens[index - 2]
    named = index + 1 < len(tokens) and tokens[index + 1].token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    is_argument = index > 1 and before.token_type == TokenType.L_PAREN and tokens[index - 2].token_type == TokenType.VAR
    return named and not is_argument and before.token_type in _BEFORE_QUERY


REWRITES: Final = (
    (("''", '""', "'\"", "\"'"), joined_strings),
    (("identifier",), named_by_text),
    ((":", "void", "struct", "unknown"), rewritten),
    (("with",), ctes_with_as),
    (("as",), _keyword_aliases),
    (("recursion",), _without_recursion_limit),
    (("table",), _table_statement),
    (("without",), _zoneless),
    (("tablesample",), samples_last),
    (("cluster",), clustered_windows),
    (("0x", "0b"), names_of_digits),
    (("current_", "session_user"), bare_words),
    (("interval",), signed_amounts),
    (("!>", "!<"), negated_comparisons),
)
"""From Spark's tokens to those that sqlglot parses, in this order, each only where one of its marks is in the text."""

_STATEMENTS: Final = ("CREATE", "INSERT", "SET")
"""How the statements of a script begin."""


def _parse_issue(text: str, tokens: Sequence[Token], error: ParseError) -> SyntaxIssue:
    found = error.errors[0] if error.errors else {}
    line, col = found.get("line"), found.get("col")
    token = next((candidate for candidate in tokens if (candidate.line, candidate.col) == (line, col)), tokens[-1])
    message = str(found.get("description") or error).split("\n")[0].rstrip(".")
    written = text[token.start : token.end + 1]
    if not message or message.startswith(("Invalid expression", "Expecting", "Required keyword", "Expected")):
        message = f"{UNEXPECTED} `{written}`"
    if token is tokens[-1] and (bracket := _unclosed(tokens)):
        return SyntaxIssue(bracket.start, bracket.end + 1, "the bracket `(` is not closed")
    help = "is a `;` missing before it?" if written.upper() in _STATEMENTS else None
    return SyntaxIssue(token.start, token.end + 1, message, help=help)


def _unclosed(tokens: Sequence[Token]) -> Token | None:
    """The last opening bracket that nothing closes."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type == TokenType.R_PAREN and opened:
            opened.pop()
    return opened[-1] if opened else None


_BINARY: Final = re.compile(rf"(?<!\w)[xX]'(?P<digits>[^']*)'|{TEXT}", re.DOTALL)
_DIGITS: Final = re.compile(r"[0-9a-fA-F]*")


def _token_issue(text: str, message: str) -> SyntaxIssue:
    """sqlglot's tokenizer names no offset; what it trips over is a quote or comment that is not closed."""
    for literal in _BINARY.finditer(text):
        if literal["digits"] is not None and not _DIGITS.fullmatch(literal["digits"]):
            return SyntaxIssue(literal.start(), literal.end(), "X'…' takes hexadecimal digits", code="PEN3013")
    start = max(text.rfind(quote) for quote in "'\"`*") if any(quote in text for quote in "'\"`*") else 0
    help = "a quote inside a text is written twice: `'it''s'`" if text[start : start + 1] == "'" else None
    return SyntaxIssue(max(start, 0), len(text), "a quote or comment is not closed", help)
