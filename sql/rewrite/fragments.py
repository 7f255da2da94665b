"""An expression as text that can be inserted into another: the columns it reads, and its side effects.

Rules use this before they merge queries, so all checks are conservative: None means that nothing is proved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from catalog.diagnostics.source import PlacedText
from sql.functions.catalogue import flags
from sql.parsing.call_names import call_name, keep_calls
from sql.parsing.recursion import too_deep, with_room
from sql.parsing.spark_tokens import SPARK, spark_tokens
from sql.rewrite.select_query import Fragment, text_of

PREFIX: Final = "SELECT "

PURE_NODES: Final = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg,
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.Is, exp.In,
    exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod,
    exp.DPipe, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Bracket, exp.Anonymous,
)  # fmt: skip
"""Syntax whose value follows from its operands alone."""


@dataclass(frozen=True, slots=True)
class ColumnReference:
    """A column that an expression reads, and the characters of the expression that name it (end exclusive)."""

    column: str
    start: int
    end: int


@lru_cache(maxsize=4096)
@with_room
def parse_expression(expression: str) -> exp.Expr | None:
    """The tree of a single expression without an alias; None if the text is anything else."""
    try:
        tokens = spark_tokens(PREFIX + expression)
        trees = [] if too_deep(tokens) else SPARK.parser().parse(keep_calls(tokens), PREFIX + expression)
    except (SqlglotError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        return None  # the latter are sqlglot's, over a tree that it cannot make
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Select) or [key for key, value in tree.args.items() if value] != ["expressions"]:
        return None
    found = tree.expressions
    return None if len(found) != 1 or isinstance(found[0], exp.Alias | exp.Star) else found[0]


def is_pure(expression: str) -> bool:
    """Whether the value follows from the row alone: no subquery, aggregate, window or generator, nothing random, no
    function that Penstock does not know, and nothing that takes a name from how a column is called."""
    tree = parse_expression(expression)
    return tree is not None and all(_is_pure(node) for node in tree.walk())


def _is_pure(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return "pure" in flags(call_name(node).lower())
    if isinstance(node, exp.In):
        return not node.args.get("query") and not node.args.get("unnest")
    return isinstance(node, PURE_NODES) and not isinstance(node.args.get("this"), exp.Star)


def is_column(expression: str) -> bool:
    """Whether the expression is a column and nothing else."""
    tree = parse_expression(expression)
    return isinstance(tree, exp.Column) and len(tree.parts) <= 2 and "--" not in expression and "/*" not in expression


def references(expression: str, source: str) -> tuple[ColumnReference, ...] | None:
    """The columns that a pure expression reads of `source`, which it may name before a dot; a struct's field counts as
    its column. In order of appearance."""
    tree = parse_expression(expression)
    if tree is None:
        return None
    found = [_reference(column, source) for column in tree.find_all(exp.Column)]
    known = [reference for reference in found if reference]
    return tuple(sorted(known, key=lambda reference: reference.start)) if len(known) == len(found) else None


def _reference(column: exp.Column, source: str) -> ColumnReference | None:
    parts = column.parts
    first = parts[0]
    used = first if len(parts) == 1 or first.name.lower() != source.lower() else parts[1]
    try:
        start, end = first.meta["start"], used.meta["end"]
    except KeyError:
        return None
    return ColumnReference(used.name, start - len(PREFIX), end + 1 - len(PREFIX))


def substitute(expression: Fragment, source: str, replacement: Callable[[str], Fragment | None]) -> Fragment | None:
    """The expression with each column of `source` replaced; None if one has no replacement."""
    found = references(text_of(expression), source)
    if found is None:
        return None
    new = [replacement(reference.column) for reference in found]
    parts: list[Fragment] = []
    last = 0
    for place, text in zip(found, new, strict=True):
        if text is None:
            return None
        parts += [_slice(expression, last, place.start), text]
        last = place.end
    parts.append(_slice(expression, last, len(text_of(expression))))
    if all(isinstance(part, str) for part in parts):
        return "".join(text_of(part) for part in parts)
    return PlacedText.join(parts)


def _slice(fragment: Fragment, start: int, end: int) -> Fragment:
    return fragment[start:end] if isinstance(fragment, str) else fragment.slice(start, end)
