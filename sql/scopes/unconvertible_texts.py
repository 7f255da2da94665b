"""Warns of texts that never become the type that they are compared with: `amount = 'abc'` fails in every run.

Spark accepts such a query, casts the text to the type of the column, and stops when it optimizes the query, even if
there are no rows. Inside CASE, COALESCE and the like it casts only when it gets there.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from sqlglot import exp

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.types.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    INTEGRAL_TYPES,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    is_numeric,
)
from sql.parsing.tree_nodes import classes_of
from sql.scopes.analysis import Binder, Bound
from sql.types.text_values import may_be

_COMPARISONS: Final = classes_of(
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)
)
_UNCONDITIONAL: Final = _COMPARISONS | classes_of(exp.And, exp.Or, exp.Not, exp.Paren, exp.Alias)
_CLAUSES: Final = (exp.Where, exp.Having, exp.Join, exp.Select)
_COMPARED: Final = (BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ)
_TODAY: Final = frozenset(("epoch", "now", "today", "tomorrow", "yesterday"))
"""Names of instants that Spark takes for dates and timestamps where a text is a literal."""


def unconvertible_texts(binder: Binder, bound: Iterable[tuple[exp.Column, Bound]]) -> Iterator[Diagnostic]:
    """A warning (PEN3013) for each literal text that is compared with a column of a type it can't be cast to."""
    for node, column in bound:
        around = node.parent
        if around is None or type(around) not in _COMPARISONS or not _is_computed(around):
            continue
        target = BIGINT if column.typed.type in INTEGRAL_TYPES else column.typed.type
        for other in around.iter_expressions():
            if isinstance(other, exp.Literal) and other.is_string and not _may_be(other.this, target):
                message = f"`{node.name}` is {column.typed.type}, and '{_short(other.this)}' cannot be cast to {target}"
                span = binder.placed.span(*binder.places.range(other))
                help = f"Spark stops at the comparison: write {_example(target)}"
                yield Diagnostic("PEN3013", message, span, help, Severity.WARNING)


def _is_computed(node: exp.Expr) -> bool:
    """Whether Spark computes the comparison whatever the rows are."""
    while type(node) in _UNCONDITIONAL and node.parent is not None:
        node = node.parent
    return isinstance(node, _CLAUSES)


def _may_be(text: str, target: DataType) -> bool:
    if target not in _COMPARED and not is_numeric(target):
        return True
    text = text.strip()
    return may_be(text, target) or (target in _COMPARED[1:] and text.lower() in _TODAY)


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"


def _example(target: DataType) -> str:
    if target in _COMPARED[1:]:
        return "'2024-12-31'" if target == DATE else "'2024-12-31 23:59:59'"
    return "true or false" if target == BOOLEAN else "a number, or cast the column to string"
