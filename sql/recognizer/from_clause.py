"""Spark's grammar of FROM: relations, joins, samples, PIVOT and UNPIVOT, LATERAL VIEW."""

from sql.recognizer.cursor import (
    BEFORE_BY,
    CLAUSES,
    IN_PIVOT,
    KEYWORD_NAMES,
    NEVER_TABLE_ALIASES,
    Cursor,
    NotFollowedError,
    NotSparkError,
    is_name,
)
from sql.recognizer.expressions import alias, expression, named_expression, value
from sql.recognizer.lexer import END, NUMBER
from sql.recognizer.nested_queries import bracketed_query, starts_query

JOINS = frozenset(("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI", "NATURAL"))


def from_items(cursor: Cursor) -> None:
    """What stands behind FROM."""
    cursor.several(_relation)
    lateral_views(cursor)
    if cursor.kind in ("PIVOT", "UNPIVOT"):
        pivots(cursor)


def _relation(cursor: Cursor) -> None:
    if cursor.kind == "LATERAL" and cursor.ahead() != "VIEW":
        cursor.at += 1
    _primary(cursor)
    while True:
        if cursor.kind in JOINS:
            join(cursor)
        elif not pivots(cursor):
            return


def join(cursor: Cursor) -> None:
    is_natural = cursor.take("NATURAL")
    if cursor.kind in ("LEFT", "RIGHT", "FULL"):
        is_left = cursor.kind == "LEFT"
        cursor.at += 1
        if cursor.kind == "OUTER" or (is_left and cursor.kind in ("SEMI", "ANTI")):
            cursor.at += 1
    elif cursor.kind in ("INNER", "CROSS", "SEMI", "ANTI"):
        cursor.at += 1
    cursor.expect("JOIN")
    cursor.take("LATERAL")
    _primary(cursor)
    if is_natural:
        return
    if cursor.take("ON"):
        expression(cursor)
    elif cursor.take("USING"):
        cursor.names()


def _primary(cursor: Cursor) -> None:
    kind = cursor.kind
    if kind == "(":
        if starts_query(cursor, 0) and _is_query(cursor):
            bracketed_query(cursor)
        else:
            cursor.expect("(")
            _relation(cursor)
            cursor.expect(")")
        sample(cursor)
    elif kind == "VALUES" and cursor.ahead() not in (END, ",", ")", ".") and not _is_aliased_table(cursor):
        start = cursor.at
        cursor.at += 1
        cursor.several(expression)
        if cursor.kinds[start - 1] == "(":  # `(VALUES (1) AS a JOIN b)`, where sqlglot wants brackets around VALUES
            cursor.nested.append((start, cursor.at - 1, None))
    elif kind == "STREAM" and is_name(cursor.ahead()):
        raise NotFollowedError
    elif kind == "IDENTIFIER" and cursor.ahead() == "(":
        cursor.at += 1
        _function(cursor)
        if cursor.kind == "(":
            _function(cursor)
        else:
            sample(cursor)
    elif is_name(kind):
        if (kind in CLAUSES or kind in KEYWORD_NAMES) and cursor.ahead() != "(":
            cursor.aliases.append(cursor.at)
        cursor.dotted_name()
        if cursor.kind == "(":
            _function(cursor)
        else:
            _version(cursor)
            sample(cursor)
    else:
        raise NotSparkError
    table_alias(cursor)


def _is_aliased_table(cursor: Cursor) -> bool:
    """Whether VALUES is a table with an alias: `FROM values v JOIN …`."""
    if cursor.ahead() == "AS":
        return True
    after = cursor.ahead(2)
    return is_name(cursor.ahead()) and (after in (END, ",", ")") or after in CLAUSES or after in BEFORE_BY)


def _is_query(cursor: Cursor) -> bool:
    """Whether the bracket holds one query, not a relation that begins with a query in brackets."""
    if cursor.ahead() not in ("(", "VALUES"):
        return True
    return cursor.would_take(bracketed_query)


def _function(cursor: Cursor) -> None:
    cursor.expect("(")
    if not cursor.take(")"):
        cursor.several(_table_argument)
        cursor.expect(")")


def _table_argument(cursor: Cursor) -> None:
    if is_name(cursor.kind) and cursor.ahead() == "=>":
        cursor.at += 2
    if cursor.kind == "TABLE" and (cursor.ahead() == "(" or is_name(cursor.ahead())):
        raise NotFollowedError
    expression(cursor)


def _version(cursor: Cursor) -> None:
    start = cursor.at
    cursor.take("FOR")
    is_version = cursor.kind in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME")
    if is_version and (cursor.ahead(), cursor.ahead(2)) == ("AS", "OF"):
        cursor.at += 3
        value(cursor)
        return
    cursor.at = start
    if cursor.kind == "WITH" and cursor.ahead() == "(":
        raise NotFollowedError


def sample(cursor: Cursor) -> None:
    if cursor.kind != "TABLESAMPLE" or cursor.ahead() != "(":
        return
    cursor.at += 2
    _sampled(cursor)
    cursor.expect(")")
    if cursor.take_all("REPEATABLE", "("):
        cursor.expect(NUMBER, ")")


def _sampled(cursor: Cursor) -> None:
    if cursor.take_all("BUCKET", NUMBER, "OUT", "OF", NUMBER):
        if cursor.take("ON"):
            cursor.dotted_name()
            cursor.take_all("(", ")")
        return
    cursor.take("-")
    if cursor.take_all(NUMBER, "PERCENT") or cursor.take_all(NUMBER, "%"):
        return
    expression(cursor)
    cursor.take("ROWS")


def table_alias(cursor: Cursor) -> None:
    has_as = cursor.take("AS")
    may_be_name = is_name(cursor.kind) and cursor.kind not in NEVER_TABLE_ALIASES
    if not may_be_name or (not has_as and cursor.is_clause()):
        if has_as:  # behind `FROM t AS` the word AS is the alias itself
            cursor.aliases.append(cursor.at - 1)
        return
    cursor.alias()
    if cursor.kind == "(":
        cursor.names()


def pivots(cursor: Cursor) -> bool:
    if cursor.kind == "PIVOT" and cursor.ahead() == "(":
        cursor.at += 2
        cursor.several(_pivot_aggregate)
        cursor.expect("FOR")
        if cursor.kind == "(":
            cursor.names()
        else:
            cursor.name()
        _expect_in(cursor, "PIVOT takes the name of a column here")
        cursor.several(named_expression)
        cursor.expect(")", ")")
        return True
    if cursor.kind == "UNPIVOT" and cursor.ahead() in ("(", "INCLUDE", "EXCLUDE"):
        _unpivot(cursor)
        return True
    return False


def _pivot_aggregate(cursor: Cursor) -> None:
    """An expression, which sqlglot parses where it is one call."""
    start = cursor.at
    expression(cursor)
    if not _is_one_call(cursor, start):
        cursor.nested.append((start, cursor.at - 1, IN_PIVOT))
    alias(cursor)


def _is_one_call(cursor: Cursor, start: int) -> bool:
    depth = 0
    for at in range(start + 1, cursor.at):
        depth += (cursor.kinds[at] == "(") - (cursor.kinds[at] == ")")
        if depth == 0:
            return at == cursor.at - 1
    return False


def _expect_in(cursor: Cursor, message: str) -> None:
    if cursor.kind != "IN":
        raise NotSparkError(message)
    cursor.expect("IN", "(")


def _unpivot(cursor: Cursor) -> None:
    cursor.at += 1
    if cursor.kind in ("INCLUDE", "EXCLUDE"):
        cursor.at += 1
        cursor.expect("NULLS")
    cursor.expect("(")
    is_several = cursor.kind == "("
    if is_several:
        cursor.names()
    else:
        cursor.name()
    cursor.expect("FOR")
    cursor.name()
    cursor.expect("IN", "(")
    cursor.several(_unpivot_set if is_several else _unpivot_column)
    if cursor.kind != ")":
        raise NotSparkError("UNPIVOT takes the name of a column here")
    cursor.expect(")", ")")
    may_be_name = is_name(cursor.kind) and cursor.kind not in NEVER_TABLE_ALIASES
    if cursor.take("AS") or (may_be_name and not cursor.is_clause()):
        cursor.alias()


def _unpivot_column(cursor: Cursor) -> None:
    cursor.dotted_name()
    alias(cursor)


def _unpivot_set(cursor: Cursor) -> None:
    cursor.expect("(")
    cursor.several(Cursor.dotted_name)
    cursor.expect(")")
    alias(cursor)


def lateral_views(cursor: Cursor) -> None:
    while cursor.kind == "LATERAL" and cursor.ahead() == "VIEW":
        cursor.at += 2
        cursor.take("OUTER")
        cursor.dotted_name()
        cursor.expect("(")
        if not cursor.take(")"):
            cursor.several(expression)
            cursor.expect(")")
        if cursor.kind != "AS" and is_name(cursor.kind) and not cursor.is_clause():
            cursor.alias()
        if cursor.take("AS") or (is_name(cursor.kind) and not cursor.is_clause()):
            cursor.alias()
            while cursor.take(","):
                cursor.alias()
