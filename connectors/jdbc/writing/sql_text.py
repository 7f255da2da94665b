"""Reads SQL that users wrote in the database's own dialect, as far as a commit needs it."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

_TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | (?P<tag>\$\w*\$).*?(?P=tag) | --[^\n]* | /\*.*?\*/ | ::
        | :[^\W\d]\w* | .""",
    re.VERBOSE | re.DOTALL,
)
_INSERT: Final = re.compile(r"\s*(insert\s+(?:ignore\s+)?into\s.+?)\bvalues\s*\(", re.IGNORECASE | re.DOTALL)

_COLUMNS: Final = re.compile(r"\(([^()]*)\)\s*\Z")


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


def insert_from(
    query: str, columns: Mapping[str, str], source: str, types: Sequence[str | None] = (), texts: Collection[str] = ()
) -> str | None:
    """`insert into t (a, b) values (?, upper(?))` for all rows of a table: `… select s.c1, upper(s.c2) from source s`.

    `columns`: the names of the rows' columns, as the SQL writes them. A `?` stands for the next of them, `:name` for
    the one of that name. `types`: by their place, the types of the columns that the INSERT fills; a placeholder that is
    a whole value is cast to its type where its column is one of `texts`. None if the query is no INSERT with one row
    of values.
    """
    match = _INSERT.match(query)
    if match is None:
        return None
    depth, values, rest = 1, [""], ""
    cast: dict[int, str] = {}
    following, by_name = iter(columns), bool(named_placeholders(query))
    for token in _tokens(query[match.end() :].rstrip().rstrip(";")):
        if depth == 0:
            rest += token
            continue
        depth += (token == "(") - (token == ")")
        name = next(following) if token == "?" and depth else token[1:] if by_name and _is_named(token) else None
        if depth == 1 and token == ",":
            values.append("")
        elif depth and name is not None:
            if not values[-1].strip() and name in texts:
                cast[len(values) - 1] = f"s.{columns[name]}"
            values[-1] += f"s.{columns[name]}"
        elif depth:
            values[-1] += token
    if depth or rest.lstrip().startswith(","):
        return None
    for place, value in cast.items():
        type = types[place] if place < len(types) else None
        if type is not None and values[place].strip() == value:
            values[place] = values[place].replace(value, f"cast({value} as {type})")
    return f"{match[1].rstrip()} select {','.join(values)} from {source} s where 1 = 1{rest}".rstrip()


def filled_columns(query: str) -> tuple[str, ...]:
    """The columns that an INSERT names, without their quotes; none if it names none."""
    match = _COLUMNS.search(match[1]) if (match := _INSERT.match(query)) else None
    names = match[1].split(",") if match else ()
    return tuple(name.strip().strip('"`') for name in names)


def _is_named(token: str) -> bool:
    return len(token) > 1 and token[0] == ":" and token != "::"


def _tokens(text: str) -> Iterator[str]:
    return (match[0] for match in _TOKEN.finditer(text))
