"""Spark's grammar of GROUP BY, WINDOW and OVER, ORDER BY and similar clauses, LIMIT and OFFSET."""

from collections.abc import Callable

from sql.recognizer.cursor import Cursor, NotSparkError, is_name


def grouping(cursor: Cursor, item_end: Callable[[Cursor], None] | None = None) -> None:
    """What stands behind GROUP BY; `item_end` is what a pipe allows behind each item, an alias."""

    def item(cursor: Cursor) -> None:
        _group_item(cursor)
        if item_end is not None:
            item_end(cursor)

    cursor.several(item)
    if cursor.kind == "WITH" and cursor.ahead() in ("ROLLUP", "CUBE"):
        cursor.at += 2
    elif cursor.take_all("GROUPING", "SETS"):
        _sets(cursor)


def _group_item(cursor: Cursor) -> None:
    if cursor.kind in ("ROLLUP", "CUBE") and cursor.ahead() == "(":
        cursor.at += 1
        _sets(cursor)
    elif cursor.take_all("GROUPING", "SETS"):
        _sets(cursor)
    else:
        cursor.expression(cursor)
        if is_name(cursor.kind) and cursor.ahead() == "(" and not cursor.is_clause():  # Spark takes it for an alias
            cursor.at += 1
            raise NotSparkError


def _sets(cursor: Cursor) -> None:
    cursor.expect("(")
    cursor.several(_set)
    cursor.expect(")")


def _set(cursor: Cursor) -> None:
    if not cursor.take_all("(", ")"):
        _group_item(cursor)


def windows(cursor: Cursor) -> None:
    if cursor.kind == "WINDOW" and is_name(cursor.ahead()) and cursor.ahead(2) == "AS":
        cursor.at += 1
        cursor.several(_named_window)


def _named_window(cursor: Cursor) -> None:
    cursor.name()
    cursor.expect("AS")
    window(cursor)


def window(cursor: Cursor) -> None:
    """The window behind OVER, or of a WINDOW clause: a name, or its parts in brackets."""
    if cursor.kind != "(":
        cursor.name()
        return
    cursor.at += 1
    if is_name(cursor.kind) and cursor.ahead() == ")":
        cursor.at += 2
        return
    if cursor.take_all("CLUSTER", "BY"):
        cursor.several(cursor.expression)
    else:
        if cursor.take_all("PARTITION", "BY") or cursor.take_all("DISTRIBUTE", "BY"):
            cursor.several(cursor.expression)
        if cursor.take_all("ORDER", "BY") or cursor.take_all("SORT", "BY"):
            cursor.several(sort_item)
    if cursor.kind in ("ROWS", "RANGE"):
        cursor.at += 1
        if cursor.take("BETWEEN"):
            _bound(cursor)
            cursor.expect("AND")
        _bound(cursor)
    cursor.expect(")")


def _bound(cursor: Cursor) -> None:
    if cursor.take_all("CURRENT", "ROW"):
        return
    if cursor.kind == "UNBOUNDED" and cursor.ahead() in ("PRECEDING", "FOLLOWING"):
        cursor.at += 2
        return
    cursor.value(cursor)
    if cursor.kind not in ("PRECEDING", "FOLLOWING"):
        raise NotSparkError
    cursor.at += 1


def organization(cursor: Cursor) -> None:
    if cursor.take_all("ORDER", "BY"):
        cursor.several(sort_item)
    if cursor.take_all("CLUSTER", "BY"):
        cursor.several(cursor.expression)
    if cursor.take_all("DISTRIBUTE", "BY"):
        cursor.several(cursor.expression)
    if cursor.take_all("SORT", "BY"):
        cursor.several(sort_item)
    windows(cursor)
    if cursor.take("LIMIT") and not cursor.take("ALL"):
        cursor.expression(cursor)
    if cursor.take("OFFSET"):
        cursor.expression(cursor)


def sort_item(cursor: Cursor) -> None:
    cursor.expression(cursor)
    if cursor.kind in ("ASC", "DESC"):
        cursor.at += 1
    if cursor.kind == "NULLS":
        cursor.at += 1
        if cursor.kind not in ("FIRST", "LAST"):
            raise NotSparkError
        cursor.at += 1
