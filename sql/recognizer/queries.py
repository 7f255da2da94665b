"""Spark's grammar of queries: WITH, set operations, SELECT and its clauses in their order."""

from sql.recognizer.clauses import grouping, organization, windows
from sql.recognizer.cursor import Cursor, NotFollowedError, NotSparkError
from sql.recognizer.expressions import expression, named_expression
from sql.recognizer.from_clause import from_items, lateral_views, table_alias
from sql.recognizer.lexer import NUMBER
from sql.recognizer.nested_queries import starts_query
from sql.recognizer.pipe_operators import operator

_SET_OPERATIONS = ("UNION", "EXCEPT", "MINUS", "INTERSECT")


def query(cursor: Cursor) -> None:
    """A whole query, ORDER BY and LIMIT included."""
    if cursor.kind == "WITH":
        cursor.at += 1
        cursor.take("RECURSIVE")
        cursor.several(_cte)
    _term(cursor)
    while cursor.kind in _SET_OPERATIONS:
        cursor.at += 1
        if cursor.kind in ("ALL", "DISTINCT"):
            cursor.at += 1
        _term(cursor)
    while cursor.take("|>"):
        operator(cursor, _term)
    organization(cursor)


def _cte(cursor: Cursor) -> None:
    cursor.alias()
    if cursor.kind == "(" and not starts_query(cursor, 0):
        cursor.names()
    if cursor.take_all("MAX", "RECURSION", "LEVEL"):
        cursor.expect(NUMBER)
    cursor.take("AS")
    cursor.expect("(")
    query(cursor)
    cursor.expect(")")


def _term(cursor: Cursor) -> None:
    kind = cursor.kind
    if kind == "SELECT":
        _select(cursor)
    elif kind == "(":
        cursor.at += 1
        query(cursor)
        cursor.expect(")")
    elif kind == "FROM":
        _from_first(cursor)
    elif kind == "VALUES":
        cursor.at += 1
        cursor.several(expression)
        table_alias(cursor)
    elif kind == "TABLE":
        cursor.at += 1
        if cursor.kind == "IDENTIFIER":
            raise NotFollowedError
        cursor.dotted_name()
    elif kind in ("MAP", "REDUCE"):
        raise NotFollowedError
    else:
        raise NotSparkError


def _from_first(cursor: Cursor) -> None:
    cursor.at += 1
    from_items(cursor)
    while cursor.kind == "SELECT":
        _select(cursor)
        organization(cursor)


def _select(cursor: Cursor) -> None:
    cursor.at += 1
    if cursor.kind == "TRANSFORM" and cursor.ahead() == "(":
        raise NotFollowedError
    is_name = cursor.ahead() in (",", ".", "AS") or (cursor.kind == "ALL" and cursor.ahead() == "(")
    if cursor.kind in ("DISTINCT", "ALL"):
        if not is_name:
            cursor.at += 1
            if cursor.kinds[cursor.at - 1] == "ALL" and cursor.kind == "FROM":  # `FROM` is a column then
                cursor.aliases.append(cursor.at)
        elif cursor.ahead() != "(":
            cursor.aliases.append(cursor.at)
    cursor.several(named_expression)
    if cursor.kind == "FROM":
        cursor.at += 1
        from_items(cursor)
    lateral_views(cursor)
    if cursor.take("WHERE"):
        expression(cursor)
    if cursor.take_all("GROUP", "BY"):
        grouping(cursor)
    if cursor.take("HAVING"):
        expression(cursor)
    windows(cursor)
