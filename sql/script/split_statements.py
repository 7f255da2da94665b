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
from sql.quoted_forms import LINE_COMMENT, QUOTED_NAME, TEXT
from sql.script.create import CREATE_CLAUSES, read_create
from sql.script.foreign_statements import INSTEAD
from sql.script.inserts import read_insert, read_leading
from sql.script.statements import ConfigBlock, SetOption, Statement
from sql.script.tokens import ScriptSyntaxError, TokenCursor

STATEMENTS = ("SET", "CREATE TABLE", "CREATE VIEW", "INSERT INTO", "INSERT OVERWRITE")
QUERY_STARTS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
LEXEMES = re.compile(rf"{LINE_COMMENT}|/\*.*?(?:\*/|\Z)|{TEXT}|{QUOTED_NAME}|(?P<open>['\"`])", re.DOTALL)
"""Comments and quoted texts; `open` is a quote that nothing closes. Used to place what the tokenizer only refuses."""

_FOLLOWERS: Final[Mapping[str, tuple[str, ...]]] = {
    "INSERT": ("INTO", "OVERWRITE"),
    "CREATE": ("TABLE", "TABLES", "VIEW", "OR", "TEMPORARY"),
}
"""The words behind the first one of a statement."""

CONFIG = re.compile(r"\s*config\b(?P<body>.*)", re.DOTALL | re.IGNORECASE)
COMMENT = re.compile(r"--(?P<line>[^\n]*)|/\*(?P<block>(?:(?!\*/).)*)\*/", re.DOTALL)


def read_script(text: PlacedText, diagnostics: Diagnostics, refused: set[str] | None = None) -> tuple[Statement, ...]:
    """The statements of a job file in their order; what cannot be read is reported and left out.

    `refused` takes the names, in lower case, that such statements would have made.
    """
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
            found = _statement(cursor, tuple(comments), diagnostics)
            if not cursor.at_end:
                raise cursor.error("expected `;`", CREATE_CLAUSES.get(cursor.word()))
            statements.extend(found)
        except ScriptSyntaxError as error:
            diagnostics.error("PEN3001", error.message, error.span, error.help)
            if refused is not None and (name := _made_name(TokenCursor(text, part))):
                refused.add(name)
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
            if _begins_statement(part, index) and not _is_led(part[start:index], part[index]):
                first = part[index]
                message = f"a `;` is missing before `{first.text}`"
                diagnostics.error("PEN3001", message, text.span(first.start, first.end + 1))
                yield part[start:index]
                start = index
        yield part[start:]


def _is_led(before: Sequence[Token], first: Token) -> bool:
    """Whether it is the INSERT behind CTEs: `WITH a AS (…) INSERT INTO t SELECT …`."""
    is_behind_ctes = before[0].token_type == TokenType.WITH and before[-1].token_type == TokenType.R_PAREN
    return is_behind_ctes and first.token_type == TokenType.INSERT


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


def _made_name(cursor: TokenCursor) -> str | None:
    """The name that a CREATE makes, in lower case; None of any other statement."""
    if not cursor.take("CREATE"):
        return None
    while not cursor.at_end and cursor.word() not in ("TABLE", "TABLES", "VIEW"):
        cursor.index += 1
    cursor.index += 1
    cursor.take("IF", "NOT", "EXISTS")
    try:
        return cursor.name("a name").value.lower()
    except ScriptSyntaxError:
        return None


def _statement(cursor: TokenCursor, comments: tuple[str, ...], diagnostics: Diagnostics) -> Sequence[Statement]:
    for word, read in READERS.items():
        if cursor.take(word):
            return [read(cursor, comments, diagnostics)]
    if cursor.word() in ("WITH", "FROM") and (inserts := read_leading(cursor, comments)):
        return inserts
    if cursor.word() == "DECLARE" or (cursor.word() == "DROP" and "VARIABLE" in (cursor.word(1), cursor.word(2))):
        raise _no_variables(cursor)
    if cursor.word() in QUERY_STARTS:
        raise cursor.error("a query alone does nothing", "write CREATE VIEW name AS … or INSERT INTO table …")
    known = INSTEAD.get(cursor.word()) or did_you_mean(cursor.word(), READERS)
    known = known or "a job file has " + ", ".join(STATEMENTS)
    raise cursor.error("expected a statement of a job file", known)


def _no_variables(cursor: TokenCursor) -> ScriptSyntaxError:
    help = "write `${x:5}` where the value is used, and set it with `-i x=…`; or select it in a CTE"
    return cursor.error("a job file has no session variables", help)


def _read_set(cursor: TokenCursor, comments: tuple[str, ...], _found: Diagnostics) -> SetOption:
    text = cursor.between(0, len(cursor.tokens))
    if cursor.word() in ("VAR", "VARIABLE") and cursor.word(1) != "=":
        raise _no_variables(cursor)
    if cursor.word() == "TIME" and cursor.word(1) == "ZONE":
        help = "write SET 'spark.sql.session.timeZone' = '…'"
        raise cursor.error("a job file sets keys to values", help)
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


Reader = Callable[[TokenCursor, tuple[str, ...], Diagnostics], Statement]
READERS: dict[str, Reader] = {
    "SET": _read_set,
    "CREATE": read_create,
    "INSERT": lambda cursor, comments, _diagnostics: read_insert(cursor, comments),
}
