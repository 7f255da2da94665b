"""Splits a SQL job file into its statements, with exact locations.

sqlglot's tokenizer splits the text; DDL is read token by token here, because its parser knows neither
`WITH ('connector' = …)` nor EXPECT; queries are kept as written and go to `sql.analyze`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from sql.parsing.spark_tokens import spark_tokens
from sql.script.create import read_create
from sql.script.statements import ConfigBlock, Insert, SetOption, Statement
from sql.script.tokens import ScriptSyntaxError, TokenCursor

STATEMENTS = ("SET", "CREATE TABLE", "CREATE VIEW", "INSERT INTO", "INSERT OVERWRITE")
QUERY_STARTS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
LEXEMES = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|(?P<open>['\"`])", re.DOTALL
)
"""Comments and quoted texts; `open` is a quote that nothing closes. Used to place what the tokenizer only refuses."""

_FOLLOWERS: Final[Mapping[str, tuple[str, ...]]] = {
    "INSERT": ("INTO", "OVERWRITE"),
    "CREATE": ("TABLE", "TABLES", "VIEW", "OR", "TEMPORARY"),
}
"""The words behind the first one of a statement."""

_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("MERGE", "UPDATE"), "a sink with 'write_mode' = 'upsert' updates the rows of equal key"),
    "DELETE": "a sink with 'write_mode' = 'changelog' deletes rows by their kind; a query with WHERE leaves rows out",
    "DROP": "a job writes tables and drops none",
    "TRUNCATE": "INSERT OVERWRITE replaces the rows, in the commit of the run",
    "ALTER": "`schema_evolution` of a sink adds columns and widens types",
    **dict.fromkeys(("CACHE", "UNCACHE"), "a run persists what several sinks share"),
    **dict.fromkeys(("BEGIN", "START", "COMMIT"), "a run commits all its sinks together"),
    **dict.fromkeys(("EXPLAIN", "DESCRIBE", "SHOW"), "a command, not a statement: penstock explain, describe, show"),
    "USE": "name the database with each table: 'shop.orders'",
}
"""What does the work of statements that a job file does not have."""

CONFIG = re.compile(r"\s*config\b(?P<body>.*)", re.DOTALL | re.IGNORECASE)
COMMENT = re.compile(r"--(?P<line>[^\n]*)|/\*(?P<block>(?:(?!\*/).)*)\*/", re.DOTALL)


def read_script(text: PlacedText, diagnostics: Diagnostics) -> tuple[Statement, ...]:
    """The statements of a job file in their order; what cannot be read is reported and left out."""
    try:
        tokens = spark_tokens(text.value)
    except TokenError:
        report_unclosed(text, diagnostics)
        return ()
    statements: list[Statement] = []
    position = 0
    for part in _separated(split(tokens), text, diagnostics):
        blocks, comments = _comments(text, position, part[0].start)
        statements.extend(blocks)
        position = part[-1].end + 1
        cursor = TokenCursor(text, part)
        try:
            statement = _statement(cursor, tuple(comments), diagnostics)
            if not cursor.at_end:
                raise cursor.error("expected `;`")
            statements.append(statement)
        except ScriptSyntaxError as error:
            diagnostics.error("PEN3001", error.message, error.span, error.help)
    statements.extend(_comments(text, position, len(text.value))[0])
    return tuple(statements)


def split(tokens: Sequence[Token]) -> Sequence[Sequence[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _separated(
    parts: Iterable[Sequence[Token]], text: PlacedText, diagnostics: Diagnostics
) -> Iterator[Sequence[Token]]:
    """The statements, also those before which a `;` is missing: each such one is reported."""
    for part in parts:
        start = 0
        for index in range(1, len(part)) if part[0].text.upper() != "FROM" else ():  # FROM t INSERT INTO … is Hive's
            if _begins_statement(part, index):
                first = part[index]
                message = f"a `;` is missing before `{first.text}`"
                diagnostics.error("PEN3001", message, text.span(first.start, first.end + 1))
                yield part[start:index]
                start = index
        yield part[start:]


def _begins_statement(tokens: Sequence[Token], index: int) -> bool:
    """Whether a line begins with words that no query has: `INSERT INTO`, `CREATE TABLE`, `SET 'key'`."""
    if index + 1 == len(tokens) or tokens[index - 1].line == tokens[index].line:
        return False
    follower = tokens[index + 1]
    is_text = follower.token_type == TokenType.STRING
    return (not is_text and follower.text.upper() in _FOLLOWERS.get(tokens[index].text.upper(), ())) or (
        is_text and tokens[index].token_type == TokenType.SET
    )


def report_unclosed(text: PlacedText, diagnostics: Diagnostics) -> None:
    for match in LEXEMES.finditer(text.value):
        if match["open"]:
            diagnostics.error(
                "PEN3001", f"the quote {match['open']} is not closed", text.span(match.start(), match.end())
            )
            return
        if match[0].startswith("/*") and not match[0].endswith("*/"):
            diagnostics.error("PEN3001", "the comment is not closed", text.span(match.start(), match.start() + 2))
            return
    diagnostics.error("PEN3001", "the text is not SQL", text.span(0, 1))


def _comments(text: PlacedText, start: int, end: int) -> tuple[list[ConfigBlock], list[str]]:
    """The config blocks between two statements, and the comments that stand before the second one.

    A comment on the line where the first statement ends belongs to neither.
    """
    blocks: list[ConfigBlock] = []
    comments: list[str] = []
    for match in COMMENT.finditer(text.value, start, end):
        block = match["block"]
        if block is not None and (config := CONFIG.fullmatch(block)):
            body = match.start("block") + config.start("body")
            whole = text.slice(match.start(), match.end())
            blocks.append(ConfigBlock(text.slice(body, match.end("block")), whole, tuple(comments)))
            comments.clear()
        elif start == 0 or "\n" in text.value[start : match.start()]:
            comments.extend(_lines(match["line"] if block is None else block))
    return blocks, comments


def _lines(comment: str) -> Sequence[str]:
    lines = [line.strip().removeprefix("*").strip() for line in comment.strip().splitlines()]
    return lines or [""]


def _statement(cursor: TokenCursor, comments: tuple[str, ...], diagnostics: Diagnostics) -> Statement:
    for word, read in READERS.items():
        if cursor.take(word):
            return read(cursor, comments, diagnostics)
    if cursor.word() == "DECLARE" or (cursor.word() == "DROP" and "VARIABLE" in (cursor.word(1), cursor.word(2))):
        raise _no_variables(cursor)
    if cursor.word() in QUERY_STARTS:
        raise cursor.error("a query alone does nothing", "write CREATE VIEW name AS … or INSERT INTO table …")
    known = _ELSEWHERE.get(cursor.word()) or did_you_mean(cursor.word(), READERS)
    known = known or "a job file has " + ", ".join(STATEMENTS)
    raise cursor.error("expected a statement of a job file", known)


def _no_variables(cursor: TokenCursor) -> ScriptSyntaxError:
    help = "write `${x:5}` where the value is used, and set it with `-i x=…`; or select it in a CTE"
    return cursor.error("a job file has no session variables", help)


def _read_set(cursor: TokenCursor, comments: tuple[str, ...], _found: Diagnostics) -> SetOption:
    text = cursor.between(0, len(cursor.tokens))
    if cursor.word() in ("VAR", "VARIABLE") and cursor.word(1) != "=":
        raise _no_variables(cursor)
    if cursor.token is not None and cursor.token.token_type == TokenType.STRING:
        key = cursor.string("a key")
    else:
        key = cursor.until("=", what="a key")
    cursor.expect("=")
    if cursor.token is not None and cursor.token.token_type == TokenType.STRING:
        return SetOption(key, cursor.string("a value"), text, comments)
    start = cursor.index
    if cursor.at_end:
        raise cursor.error("expected a value")
    cursor.index = len(cursor.tokens)
    return SetOption(key, cursor.between(start, cursor.index), text, comments)


def _read_insert(cursor: TokenCursor, comments: tuple[str, ...], _found: Diagnostics) -> Insert:
    text = cursor.between(0, len(cursor.tokens))
    overwrite = cursor.take("OVERWRITE")
    if overwrite:
        cursor.take("INTO")
    else:
        cursor.expect("INTO")
    cursor.take("TABLE")
    target = cursor.name("the name of a table")
    partition = _partition(cursor) if cursor.take("PARTITION") else ()
    columns: tuple[PlacedText, ...] = ()
    by_name = cursor.take("BY", "NAME")
    if (
        not by_name
        and cursor.word() == "("
        and cursor.word(1) not in ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
    ):
        columns = cursor.names()
    if cursor.at_end:
        raise cursor.error("expected a query")
    start, cursor.index = cursor.index, len(cursor.tokens)
    query = cursor.between(start, cursor.index)
    return Insert(target, text, query, columns, by_name, overwrite, partition, comments)


def _partition(cursor: TokenCursor) -> tuple[PlacedText, ...]:
    if cursor.word(2) == "=":
        raise cursor.error(
            "a partition with a value is not supported", "let the query yield the column: PARTITION (column)"
        )
    return cursor.names()


Reader = Callable[[TokenCursor, tuple[str, ...], Diagnostics], Statement]
READERS: dict[str, Reader] = {"SET": _read_set, "CREATE": read_create, "INSERT": _read_insert}
