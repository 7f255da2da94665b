"""Spark's grammar of expressions (`SqlBaseParser.g4`): what may follow what, without a tree."""

from collections.abc import Callable, Mapping
from typing import Final

from sql.recognizer.clauses import sort_item, window
from sql.recognizer.cursor import NOT_AN_OPERAND, POSITIVE, Cursor, NotSparkError, is_name
from sql.recognizer.data_types import data_type
from sql.recognizer.function_syntax import FUNCTION_SYNTAX
from sql.recognizer.interval_syntax import interval
from sql.recognizer.lexer import END, NUMBER, QUOTED, STRING
from sql.recognizer.nested_queries import QUERY_STARTS, bracketed_query, starts_query, takes_query
from sql.recognizer.predicates import PREDICATE_STARTS, predicate

_OPERATORS: Final = frozenset("* / % DIV + - || << & ^ | = == <=> <> != < <= > >= !> !<".split())  # noqa: SIM905
_COMPARISONS: Final = frozenset("= == <=> <> != < <= > >= !> !<".split())  # noqa: SIM905
LITERAL_TYPES: Final = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "INTERVAL", "X", "TIME"))
_MOST_ANGLES: Final = 3
"""`>>>`, the longest operator of these signs."""
_PART_STARTS: Final = frozenset((".", "[", "::", ":", "COLLATE"))
_AROUND: Final = frozenset(("WITHIN", "FILTER", "IGNORE", "RESPECT", "OVER"))
_STATEMENT_WORDS: Final = (QUERY_STARTS - {"FROM"}) | {
    "OUTER",
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
    while kinds[cursor.at] in ("AND", "OR") and kinds[cursor.at + 1] not in NOT_AN_OPERAND:
        cursor.at += 1
        _negated(cursor)


def _negated(cursor: Cursor) -> None:
    kinds = cursor.kinds
    while kinds[cursor.at] in ("NOT", "!") and kinds[cursor.at + 1] not in NOT_AN_OPERAND and cursor.ahead() != ".":
        cursor.at += 1
    if kinds[cursor.at] == "EXISTS" and starts_query(cursor, 1):
        cursor.at += 1
        bracketed_query(cursor)
        return
    start = cursor.at
    compares = value(cursor)
    end = cursor.at
    if kinds[end] in PREDICATE_STARTS:
        predicate(cursor)
        if compares and cursor.at > end:  # `a = b IS NULL` is `(a = b) IS NULL`
            cursor.nested.append((start, end - 1, None))


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
        if kind not in _OPERATORS or (kind == "DIV" and cursor.ahead() in NOT_AN_OPERAND):
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
            if kind == "OUTER":
                cursor.aliases.append(at)
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
            interval(cursor)
        else:
            cursor.at += 2
    elif kind == "INTERVAL" and (
        follower == NUMBER or (follower in ("+", "-") and cursor.ahead(2) in (NUMBER, STRING))
    ):
        interval(cursor)
    elif kind == "CASE" and follower not in NOT_AN_OPERAND and follower not in (".", "AS") and _is_case(cursor):
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


def _bracket(cursor: Cursor) -> None:
    if starts_query(cursor, 0) and takes_query(cursor):
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
        raise NotSparkError("one value in brackets takes no alias")
    while cursor.take(","):
        named_expression(cursor)
    cursor.expect(")")


def _is_lambda(cursor: Cursor) -> bool:
    kinds, at = cursor.kinds, cursor.at + 1
    while is_name(kinds[at]) and kinds[at + 1] == ",":
        at += 2
    return is_name(kinds[at]) and kinds[at + 1] == ")" and kinds[at + 2] == "->"


def named_expression(cursor: Cursor) -> None:
    """An expression and perhaps its alias, or its aliases in brackets."""
    expression(cursor)
    alias(cursor)


def alias(cursor: Cursor) -> None:
    if cursor.kinds[cursor.at] in NOT_AN_OPERAND:
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
        if cursor.kind in ("DISTINCT", "ALL") and cursor.ahead() not in NOT_AN_OPERAND:
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


def _struct(cursor: Cursor) -> bool:
    cursor.expect("(")
    if not cursor.take(")"):
        cursor.several(named_expression)
        cursor.expect(")")
    return True


_OWN_SYNTAX: Final[Mapping[str, Callable[[Cursor], bool]]] = {**FUNCTION_SYNTAX, "STRUCT": _struct}
