"""INSERT of a SQL job file: alone, behind the CTEs of its query, and several behind one FROM."""

from catalog.diagnostics.source import PlacedText
from sql.script.foreign_statements import INSERT_INSTEAD
from sql.script.statements import Insert
from sql.script.tokens import TokenCursor

_QUERY_STARTS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")


def read_insert(cursor: TokenCursor, comments: tuple[str, ...], before: PlacedText | None = None) -> Insert:
    """What follows the word INSERT; `before`: the CTEs, or the FROM clause, that stand before it."""
    text = cursor.between(0, len(cursor.tokens))
    overwrite = cursor.take("OVERWRITE")
    if cursor.word() in ("DIRECTORY", "LOCAL") and (cursor.word(1) in ("", "DIRECTORY")):
        raise cursor.error("a directory is no target", INSERT_INSTEAD[cursor.word()])
    if overwrite:
        cursor.take("INTO")
    else:
        cursor.expect("INTO")
    cursor.take("TABLE")
    target = cursor.name("the name of a table")
    if cursor.word() == "REPLACE":
        raise cursor.error("INSERT has no REPLACE", INSERT_INSTEAD["REPLACE"])
    partition = _partition(cursor) if cursor.take("PARTITION") else ()
    columns: tuple[PlacedText, ...] = ()
    by_name = cursor.take("BY", "NAME")
    if not by_name and cursor.word() == "(" and cursor.word(1) not in _QUERY_STARTS:
        columns = cursor.names()
    if cursor.word() == "REPLACE":
        raise cursor.error("INSERT has no REPLACE", INSERT_INSTEAD["REPLACE"])
    if cursor.at_end:
        raise cursor.error("expected a query")
    start, cursor.index = cursor.index, _next_insert(cursor, cursor.index)
    query = cursor.between(start, cursor.index)
    if before is not None:
        query = PlacedText.join([before, "\n", query])
    return Insert(target, text, query, columns, by_name, overwrite, partition, comments)


def read_leading(cursor: TokenCursor, comments: tuple[str, ...]) -> tuple[Insert, ...] | None:
    """`WITH … INSERT INTO t SELECT …` and `FROM s INSERT INTO a SELECT … INSERT INTO b SELECT …`, as Spark has them.

    None where no INSERT follows.
    """
    first = _next_insert(cursor, 1)
    if first == len(cursor.tokens):
        return None
    before = cursor.between(0, first)
    several = cursor.word() == "FROM"
    inserts: list[Insert] = []
    cursor.index = first
    while cursor.take("INSERT"):
        inserts.append(read_insert(cursor, () if inserts else comments, before))
        if not several:
            break
    return tuple(inserts)


def _next_insert(cursor: TokenCursor, start: int) -> int:
    """The index of the next INSERT outside brackets; that behind the last token where there is none."""
    depth = 0
    at, cursor.index = cursor.index, 0
    for index in range(start, len(cursor.tokens)):
        word = cursor.word(index)
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "INSERT" and cursor.word(index + 1) in ("INTO", "OVERWRITE"):
            break
    else:
        index = len(cursor.tokens)
    cursor.index = at
    return index


def _partition(cursor: TokenCursor) -> tuple[PlacedText, ...]:
    if cursor.word(2) == "=":
        raise cursor.error(
            "a partition with a value is not supported", "let the query yield the column: PARTITION (column)"
        )
    return cursor.names()
