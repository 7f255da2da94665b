"""Reads SQL that users wrote in the database's own dialect, as far as a commit needs it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

_TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | (?P<tag>\$\w*\$).*?(?P=tag) | --[^\n]* | /\*.*?\*/ | ::
        | :[^\W\d]\w* | .""",
    re.VERBOSE | re.DOTALL,
)
_INSERT: Final = re.compile(r"\s*(insert\s+(?:ignore\s+)?into\s.+?)\bvalues\s*\(", re.IGNORECASE | re.DOTALL)


def split_statements(text: str) -> tuple[str, ...]:
    """The statements between semicolons, without those in quotes and comments."""
    statements, current = [], ""
    for token in _tokens(text):
        if token == ";":
            statements.append(current.strip())
            current = ""
        elif not token.startswith(("--", "/*")):
            current += token
    return tuple(statement for statement in (*statements, current.strip()) if statement)


def count_placeholders(query: str) -> int:
    return sum(token == "?" for token in _tokens(query))


def named_placeholders(query: str) -> tuple[str, ...]:
    """The columns that `:name` placeholders stand for; none where the query has `?`, as in Apache SeaTunnel."""
    return () if count_placeholders(query) else tuple(token[1:] for token in _tokens(query) if _is_named(token))


def insert_from(query: str, columns: Mapping[str, str], source: str) -> str | None:
    """`insert into t (a, b) values (?, upper(?))` for all rows of a table: `… select s.c1, upper(s.c2) from source s`.

    `columns`: the names of the rows' columns, as the SQL writes them. A `?` stands for the next of them, `:name` for
    the one of that name. None if the query is no INSERT with one row of values.
    """
    match = _INSERT.match(query)
    if match is None:
        return None
    depth, values, rest = 1, "", ""
    following, by_name = iter(columns.values()), bool(named_placeholders(query))
    for token in _tokens(query[match.end() :].rstrip().rstrip(";")):
        if depth == 0:
            rest += token
            continue
        depth += (token == "(") - (token == ")")
        if depth and token == "?":
            values += f"s.{next(following)}"
        elif depth:
            values += f"s.{columns[token[1:]]}" if by_name and _is_named(token) else token
    if depth or rest.lstrip().startswith(","):
        return None
    return f"{match[1].rstrip()} select {values} from {source} s where 1 = 1{rest}".rstrip()


def _is_named(token: str) -> bool:
    return len(token) > 1 and token[0] == ":" and token != "::"


def _tokens(text: str) -> Iterator[str]:
    return (match[0] for match in _TOKEN.finditer(text))
