"""Spark's grammar of expressions (`SqlBaseParser.g4`): what may follow what, without a tree."""

from collections.abc import Callable
from typing import Final

from sql.spark_grammar.cursor import POSITIVE, Cursor, NotSparkError, is_name
from sql.spark_grammar.data_types import data_type
from sql.spark_grammar.lexer import END, NUMBER, QUOTED, STRING

_OPERATORS: Final = frozenset("* / % DIV + - || << & ^ | = == <=> <> != < <= > >= !> !<".split())  # noqa: SIM905
_COMPARISONS: Final = frozenset("= == <=> <> != < <= > >= !> !<".split())  # noqa: SIM905
_PREDICATES: Final = frozenset(("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP"))
_QUERY_STARTS: Final = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE"))
LITERAL_TYPES: Final = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "INTERVAL", "X", "TIME"))
_UNITS: Final = frozenset(
    f"{unit}{plural}"
    for unit in ("NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
    for plural in ("", "S")
)
_NOT_AN_OPERAND: Final = frozenset((END, ",", ")", "]"))
_MOST_ANGLES: Final = 3
"""`>>>`, the longest operator of these signs."""
_PREDICATE_STARTS: Final = _PREDICATES | {"IS", "NOT", "!"}
_PART_STARTS: Final = frozenset((".", "[", "::", ":", "COLLATE"))
_AROUND: Final = frozenset(("WITHIN", "FILTER", "IGNORE", "RESPECT", "OVER"))
_STATEMENT_WORDS: Final = (_QUERY_STARTS - {"FROM"}) | {
    "WHERE",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "QUALIFY",
}
"""Names to Spark where an operand may stand, but not to sqlglot."""
_AFTER_COLUMN: Final = _COMPARISONS | {",", ")", END, "AND", "OR", "FROM", "AS", "THEN", "IS", "IN", "BETWEEN"}
"""Behind a word these make it a column, and end it: what most operands of a query are."""


def expression(cursor: Cursor) -> None:
    """A condition or value: NOT, EXISTS, AND and OR over values with predicates."""
    kinds = cursor.kinds
    _negated(cursor)
    while kinds[cursor.at] in ("AND", "OR") and kinds[cursor.at + 1] not in _NOT_AN_OPERAND:
        cursor.at += 1
        _negated(cursor)


def _negated(cursor: Cursor) -> None:
    kinds = cursor.kinds
    while kinds[cursor.at] in ("NOT", "!") and kinds[cursor.at + 1] not in _NOT_AN_OPERAND and cursor.ahead() != ".":
        cursor.at += 1
    if kinds[cursor.at] == "EXISTS" and starts_query(cursor, 1):
        cursor.at += 1
        bracketed_query(cursor)
        return
    start = cursor.at
    compares = value(cursor)
    end = cursor.at
    if kinds[end] in _PREDICATE_STARTS:
        _predicate(cursor)
        if compares and cursor.at > end:  # `a = b IS NULL` is `(a = b) IS NULL`
            cursor.nested.append((start, end - 1, None))


def _predicate(cursor: Cursor) -> None:
    kind, follower = cursor.kind, cursor.ahead()
    if kind == "!" and follower in _PREDICATES:
        raise NotSparkError
    if kind == "NOT" and follower in _PREDICATES:
        cursor.at += 1
        kind, follower = follower, cursor.ahead()
        if kind == "IN" and follower != "(":
            cursor.at += 1
            raise NotSparkError
    if kind == "IS" and follower in ("NULL", "NOT", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"):
        _is(cursor)
    elif kind == "IN" and follower == "(":
        cursor.at += 1
        if not starts_query(cursor, 0) or not _takes_query(cursor):
            cursor.expect("(")
            cursor.several(expression)
            cursor.expect(")")
    elif kind == "BETWEEN" and follower not in _NOT_AN_OPERAND:
        cursor.at += 1
        value(cursor)
        cursor.expect("AND")
        value(cursor)
    elif kind in ("LIKE", "ILIKE", "RLIKE", "REGEXP") and follower not in _NOT_AN_OPERAND:
        _pattern(cursor, kind)


def _is(cursor: Cursor) -> None:
    cursor.at += 1
    cursor.take("NOT")
    if cursor.take("DISTINCT"):
        cursor.expect("FROM")
        value(cursor)
    elif cursor.kind in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
        cursor.at += 1
    else:
        raise NotSparkError


def _pattern(cursor: Cursor, kind: str) -> None:
    cursor.at += 1
    is_quantified = cursor.kind in ("ANY", "SOME", "ALL") and cursor.ahead() == "("
    if is_quantified and kind in ("LIKE", "ILIKE"):
        cursor.at += 2
        cursor.several(expression)
        cursor.expect(")")
        return
    value(cursor)
    if kind in ("LIKE", "ILIKE") and cursor.kind == "ESCAPE" and cursor.ahead() not in _NOT_AN_OPERAND:
        cursor.at += 1
        cursor.string()


def value(cursor: Cursor) -> bool:
    """Operands and operators by turns, of which these rules keep the nesting of comparisons only: left to right.

    Whether there was a comparison.
    """
    kinds, start, compares = cursor.kinds, cursor.at, False
    while True:
        if kinds[cursor.at] in ("-", "+", "~"):
            _signed(cursor)
        else:
            _primary(cursor)
        kind = kinds[cursor.at]
        if kind not in _OPERATORS or (kind == "DIV" and cursor.ahead() in _NOT_AN_OPERAND):
            return compares
        end = cursor.at
        is_shift = kind == ">" and _take_shift(cursor)
        if kind != ">":
            cursor.at += 1
        if kind in _COMPARISONS and not is_shift:
            if compares:
                cursor.nested.append((start, end - 1, None))
            compares = True


def _signed(cursor: Cursor) -> None:
    pluses: list[int] = []
    while cursor.kind in ("-", "+", "~"):
        if cursor.kind == "+":
            pluses.append(cursor.at)
        cursor.at += 1
    _primary(cursor)
    cursor.nested.extend((plus, cursor.at - 1, POSITIVE) for plus in pluses)


def _take_shift(cursor: Cursor) -> bool:
    """`>`, or the two and three of a shift, which touch each other: whether it is a shift."""
    span = cursor.tokens.span
    start = cursor.at
    cursor.at += 1
    while cursor.kind == ">" and span(cursor.at)[0] == span(cursor.at - 1)[1] and cursor.at < start + _MOST_ANGLES:
        cursor.at += 1
    return cursor.at > start + 1


def _primary(cursor: Cursor) -> None:
    kinds, at = cursor.kinds, cursor.at
    kind, follower = kinds[at], kinds[at + 1]
    if follower == "." and kind.isidentifier() and kinds[at + 2].isidentifier():
        if kinds[at + 3] in _AFTER_COLUMN:
            cursor.at = at + 3
            return
    elif follower in _AFTER_COLUMN and kind != "CASE" and kind.isidentifier():
        if kind in _STATEMENT_WORDS:
            cursor.aliases.append(at)
        cursor.at = at + 1
        return
    if kind == NUMBER:
        cursor.at += 1
    elif kind == STRING:
        while cursor.take(STRING):
            pass
    elif kind == "(":
        _bracket(cursor)
    elif kind == "*":
        if follower == "*":  # which Spark's parser takes for a product of stars, as no other rule of it does
            raise NotSparkError("`*` is not allowed here")
        cursor.at += 1
        _except(cursor)
    elif kind in ("?", ":"):
        cursor.at += 1
        if kind == ":":
            cursor.name()
    elif is_name(kind):
        _word(cursor, kind)
    else:
        raise NotSparkError
    if kinds[cursor.at] in _PART_STARTS:
        _parts(cursor)


def _word(cursor: Cursor, kind: str) -> None:
    at, follower = cursor.at, cursor.ahead()
    if follower == STRING and kind not in (QUOTED, "CASE"):
        if kind not in LITERAL_TYPES:
            raise NotSparkError
        if kind == "INTERVAL":
            _interval(cursor)
        else:
            cursor.at += 2
    elif kind == "INTERVAL" and (
        follower == NUMBER or (follower in ("+", "-") and cursor.ahead(2) in (NUMBER, STRING))
    ):
        _interval(cursor)
    elif kind == "CASE" and follower not in _NOT_AN_OPERAND and follower not in (".", "AS") and _is_case(cursor):
        _case(cursor)
    elif follower == "->":
        cursor.at += 2
        expression(cursor)
    elif follower == "(":
        _call(cursor, kind)
        if kind == "IDENTIFIER" and cursor.kind == "(":  # `IDENTIFIER('upper')(x)`
            cursor.at -= 1
            _call(cursor, QUOTED)
        elif kind in ("AND", "OR"):
            _check_two_arguments(cursor, at)
    else:
        if kind in _STATEMENT_WORDS:
            cursor.aliases.append(at)
        cursor.at += 1


def _check_two_arguments(cursor: Cursor, start: int) -> None:
    """`and(a, b)` is a function to Spark; sqlglot takes `and(a)` for `a`."""
    depth = commas = 0
    for kind in cursor.kinds[start + 1 : cursor.at]:
        depth += (kind == "(") - (kind == ")")
        commas += kind == "," and depth == 1
    if commas != 1 or cursor.kinds[start + 2] == "*":
        cursor.at = start
        raise NotSparkError(f"`{cursor.kind.lower()}` takes 2 arguments where it is called as a function")


def _is_case(cursor: Cursor) -> bool:
    return cursor.ahead() not in _OPERATORS or cursor.ahead() in ("-", "+")


def _case(cursor: Cursor) -> None:
    cursor.at += 1
    if cursor.kind != "WHEN":
        expression(cursor)
    cursor.expect("WHEN")
    while True:
        expression(cursor)
        cursor.expect("THEN")
        expression(cursor)
        if not cursor.take("WHEN"):
            break
    if cursor.take("ELSE"):
        expression(cursor)
    cursor.expect("END")


def _interval(cursor: Cursor) -> None:
    """`INTERVAL '1 day'`, `INTERVAL 1 DAY 2 HOURS`, `INTERVAL '1-2' YEAR TO MONTH`."""
    cursor.at += 1
    if cursor.kind == STRING and cursor.ahead() not in _UNITS:
        cursor.at += 1
        return
    while cursor.kind in (NUMBER, STRING) or (cursor.kind in ("+", "-") and cursor.ahead() in (NUMBER, STRING)):
        signed = cursor.kind in ("+", "-")
        if cursor.ahead(1 + signed) not in _UNITS:
            if is_name(cursor.ahead(1 + signed)) and cursor.kinds[cursor.at - 1] == "INTERVAL":
                cursor.at += 1 + signed
                raise NotSparkError(f"`{cursor.kind}` is not a unit of time")
            break
        cursor.at += 2 + signed
        if cursor.kind == "TO" and cursor.ahead() in _UNITS:
            cursor.at += 2
            return


def _bracket(cursor: Cursor) -> None:
    if starts_query(cursor, 0) and _takes_query(cursor):
        return
    if _is_lambda(cursor):
        cursor.names()
        cursor.expect("->")
        expression(cursor)
        return
    cursor.expect("(")
    expression(cursor)
    end = cursor.at
    alias(cursor)
    if cursor.at > end and cursor.kind == ")":  # one value in brackets has no alias, a row of several has
        raise NotSparkError
    while cursor.take(","):
        named_expression(cursor)
    cursor.expect(")")


def _is_lambda(cursor: Cursor) -> bool:
    kinds, at = cursor.kinds, cursor.at + 1
    while is_name(kinds[at]) and kinds[at + 1] == ",":
        at += 2
    return is_name(kinds[at]) and kinds[at + 1] == ")" and kinds[at + 2] == "->"


def starts_query(cursor: Cursor, ahead: int) -> bool:
    """Whether brackets open there with a query in them."""
    kinds, at = cursor.kinds, cursor.at + ahead
    if kinds[at] != "(":
        return False
    while kinds[at] == "(":
        at += 1
    follower = kinds[at + 1]
    if follower == "(":
        return kinds[at] in ("SELECT", "VALUES", "FROM")
    return kinds[at] in _QUERY_STARTS and follower not in (".", ")", ",", END, "->")


def _takes_query(cursor: Cursor) -> bool:
    """Reads the query in the brackets; not `((SELECT 1) + 1)`, which begins with one."""
    start = cursor.at
    if cursor.ahead() == "(":
        if start in cursor.no_queries:
            return False
        if not cursor.takes(bracketed_query):
            cursor.no_queries.add(start)
            return False
    else:
        bracketed_query(cursor)
    return True


def bracketed_query(cursor: Cursor) -> None:
    cursor.expect("(")
    cursor.query(cursor)
    cursor.expect(")")


def named_expression(cursor: Cursor) -> None:
    """An expression and perhaps its alias, or its aliases in brackets."""
    expression(cursor)
    alias(cursor)


def alias(cursor: Cursor) -> None:
    if cursor.kinds[cursor.at] in _NOT_AN_OPERAND:
        return
    if cursor.kinds[cursor.at] == "AS" and not cursor.is_forced_name():
        cursor.at += 1
        if cursor.kind == "(":
            cursor.names()
        else:
            cursor.alias()
    elif cursor.kind == "(":
        cursor.names()
    elif is_name(cursor.kind) and not cursor.is_clause():
        cursor.alias()


def _parts(cursor: Cursor) -> None:
    """What stands behind a value: fields, elements, casts, paths and collations."""
    while True:
        kind = cursor.kind
        if kind == ".":
            cursor.at += 1
            if cursor.take("*"):
                _except(cursor)
                return
            cursor.name()
            if cursor.kind == "(":
                cursor.at -= 1
                _call(cursor, QUOTED)
        elif kind == "[":
            cursor.at += 1
            value(cursor)
            cursor.expect("]")
        elif kind == "::":
            cursor.at += 1
            data_type(cursor)
        elif kind == ":" and (is_name(cursor.ahead()) or cursor.ahead() == "["):
            cursor.at += 1
            if cursor.kind != "[":
                cursor.at += 1
        elif kind == "COLLATE" and is_name(cursor.ahead()) and cursor.ahead() != "FROM":
            cursor.at += 1
            cursor.dotted_name()
        else:
            return


def _except(cursor: Cursor) -> None:
    if cursor.kind == "EXCEPT" and cursor.ahead() == "(" and not starts_query(cursor, 1):
        cursor.at += 2
        cursor.several(Cursor.dotted_name)
        cursor.expect(")")


def _call(cursor: Cursor, name: str) -> None:
    """A call from its name on; some functions have a syntax of their own."""
    cursor.at += 1
    own = _OWN_SYNTAX.get(name)
    if own is not None and cursor.ahead() != ")" and own(cursor):
        return
    cursor.expect("(")
    if not cursor.take(")"):
        if cursor.kind in ("DISTINCT", "ALL") and cursor.ahead() not in _NOT_AN_OPERAND:
            cursor.at += 1
        cursor.several(_argument)
        cursor.expect(")")
    if cursor.kinds[cursor.at] in _AROUND:
        _around(cursor)


def _argument(cursor: Cursor) -> None:
    if cursor.kinds[cursor.at + 1] == "=>" and is_name(cursor.kind):
        cursor.at += 2
    expression(cursor)


def _around(cursor: Cursor) -> None:
    """WITHIN GROUP, FILTER, IGNORE NULLS and OVER."""
    if cursor.kind == "WITHIN" and cursor.ahead() == "GROUP":
        cursor.at += 2
        cursor.expect("(", "ORDER", "BY")
        cursor.several(sort_item)
        cursor.expect(")")
    if cursor.kind == "FILTER" and cursor.ahead() == "(":
        cursor.at += 1
        cursor.expect("(", "WHERE")
        expression(cursor)
        cursor.expect(")")
    if cursor.kind in ("IGNORE", "RESPECT") and cursor.ahead() == "NULLS":
        cursor.at += 2
    if cursor.kind == "OVER" and (cursor.ahead() == "(" or is_name(cursor.ahead())) and cursor.ahead() != "FROM":
        cursor.at += 1
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
        cursor.several(expression)
    else:
        if cursor.take_all("PARTITION", "BY") or cursor.take_all("DISTRIBUTE", "BY"):
            cursor.several(expression)
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
    value(cursor)
    if cursor.kind not in ("PRECEDING", "FOLLOWING"):
        raise NotSparkError
    cursor.at += 1


def sort_item(cursor: Cursor) -> None:
    expression(cursor)
    if cursor.kind in ("ASC", "DESC"):
        cursor.at += 1
    if cursor.kind == "NULLS":
        cursor.at += 1
        if cursor.kind not in ("FIRST", "LAST"):
            raise NotSparkError
        cursor.at += 1


def _cast(cursor: Cursor) -> bool:
    cursor.expect("(")
    expression(cursor)
    cursor.expect("AS")
    data_type(cursor)
    cursor.expect(")")
    return True


def _extract(cursor: Cursor) -> bool:
    if not (is_name(cursor.ahead()) and cursor.ahead(2) == "FROM"):
        return False
    cursor.at += 3
    value(cursor)
    cursor.expect(")")
    return True


def _struct(cursor: Cursor) -> bool:
    cursor.expect("(")
    if not cursor.take(")"):
        cursor.several(named_expression)
        cursor.expect(")")
    return True


def _position(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    try:
        value(cursor)
        cursor.expect("IN")
    except NotSparkError:
        cursor.at = start
        return False
    value(cursor)
    cursor.expect(")")
    return True


def _substring(cursor: Cursor) -> bool:
    cursor.expect("(")
    value(cursor)
    if not cursor.take("FROM"):
        cursor.expect(",")
    value(cursor)
    if cursor.take("FOR") or cursor.take(","):
        value(cursor)
    cursor.expect(")")
    return True


def _trim(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    has_side = cursor.kind in ("BOTH", "LEADING", "TRAILING") and cursor.ahead() not in _NOT_AN_OPERAND
    cursor.at += has_side
    if not cursor.take("FROM"):
        value(cursor)
        if not cursor.take("FROM"):
            if has_side:
                raise NotSparkError
            cursor.at = start
            return False
    value(cursor)
    cursor.expect(")")
    return True


def _overlay(cursor: Cursor) -> bool:
    start = cursor.at
    cursor.expect("(")
    value(cursor)
    if not cursor.take("PLACING"):
        cursor.at = start
        return False
    value(cursor)
    cursor.expect("FROM")
    value(cursor)
    if cursor.take("FOR"):
        value(cursor)
    cursor.expect(")")
    return True


def _ignoring(cursor: Cursor) -> bool:
    """`first(x IGNORE NULLS)`, which takes no OVER."""
    start = cursor.at
    cursor.expect("(")
    if cursor.kind in ("DISTINCT", "ALL", ")"):
        cursor.at = start
        return False
    expression(cursor)
    if not cursor.take_all("IGNORE", "NULLS"):
        cursor.at = start
        return False
    cursor.expect(")")
    return True


_OWN_SYNTAX: Final[dict[str, Callable[[Cursor], bool]]] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "EXTRACT": _extract,
    "STRUCT": _struct,
    "POSITION": _position,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "TRIM": _trim,
    "OVERLAY": _overlay,
    **dict.fromkeys(("FIRST", "LAST", "ANY_VALUE"), _ignoring),
}
