"""Columns, literals and what stands for itself."""

from typing import Final

from sqlglot import exp

from catalog.types.datatypes import BINARY, DATE, STRING, TIMESTAMP, DataType, Time
from sql.expressions.walk import Handler, infer
from sql.parsing.call_names import call_name
from sql.parsing.node_ranges import is_added_number
from sql.types import literals
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch

LITERAL_FUNCTIONS: Final[dict[str, DataType]] = {
    "current_date": DATE,
    "current_timestamp": TIMESTAMP,
    "current_time": Time(6),
    "current_user": STRING,
    "user": STRING,
    "session_user": STRING,
}
"""Functions that may be called without brackets, where no column bears their name."""


def literal_function(name: str) -> Typed | None:
    """What a bare word such as `current_date` is, where no column bears that name."""
    type = LITERAL_FUNCTIONS.get(name.lower())
    return None if type is None else Typed(type, False, True)


def time_window(node: exp.Column, scope: Scope) -> Typed | None:
    """What `window` is in a query that calls `window(…)`, where no column bears that name; so too `session_window`."""
    name = node.parts[0].name.lower()
    select = node.find_ancestor(exp.Select)
    if name not in ("window", "session_window") or select is None:
        return None
    for call in select.find_all(exp.Anonymous):
        if call_name(call).lower() == name and call.expressions:
            return infer(call, scope)
    return None


def infer_column(node: exp.Column, scope: Scope) -> Typed:
    if isinstance(node.this, exp.Star):
        scope.expand(node)
        return NOT_KNOWN
    return scope.resolve(node)


def infer_star(node: exp.Star, scope: Scope) -> Typed:
    scope.expand(node)
    return NOT_KNOWN


def infer_identifier(node: exp.Identifier, scope: Scope) -> Typed:
    return scope.variable(node.name) or NOT_KNOWN


def infer_literal(node: exp.Literal, scope: Scope) -> Typed:
    return literals.string(node.this) if node.is_string else _number(node, scope)


def _number(node: exp.Literal, scope: Scope) -> Typed:
    """A number by its text: its suffix is not in the tree."""
    start, end = node.meta.get("start"), node.meta.get("end")
    text = node.this if start is None or end is None else scope.text[start : end + 1]
    typed = literals.number(text, negative=isinstance(node.parent, exp.Neg))
    return literals.number(node.this) if typed is NOT_KNOWN else typed


def infer_binary_literal(node: exp.HexString, scope: Scope) -> Typed:
    return Typed(BINARY, False, True)


def infer_interval(node: exp.Interval, scope: Scope) -> Typed:
    if node.this is not None and not isinstance(node.this, (exp.Literal, exp.Neg)):
        raise Mismatch("INTERVAL takes a number or string literal", 0)
    if isinstance(node.this, exp.Literal) and literals.stands_alone(node, scope.text):
        return infer(node.this, scope)
    if isinstance(node.this, exp.Literal) and is_added_number(node):
        return literals.number(node.this.name)
    return literals.interval(node)


def infer_paren(node: exp.Paren, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    if isinstance(node.this, exp.Neg):
        return inner
    return Typed(inner.type, inner.nullable, inner.foldable, inner.value, inner.elements)


def infer_alias(node: exp.Expr, scope: Scope) -> Typed:
    return infer(node.this, scope)


def infer_clock(type: DataType) -> Handler:
    return lambda node, scope: Typed(type, False, True)
