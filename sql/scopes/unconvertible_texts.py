"""Reports texts that never become the type that they are compared or computed with: `amount = 'abc'` and
`amount + 'abc'` fail in every run.

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
_ARITHMETIC: Final = classes_of(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_UNCONDITIONAL: Final = _COMPARISONS | _ARITHMETIC | classes_of(exp.And, exp.Or, exp.Not, exp.Paren, exp.Alias)
_CLAUSES: Final = (exp.Where, exp.Having, exp.Join, exp.Select)
_COMPARED: Final = (BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ)
_TODAY: Final = frozenset(("epoch", "now", "today", "tomorrow", "yesterday"))
"""Names of instants that Spark takes for dates and timestamps where a text is a literal."""


def unconvertible_texts(binder: Binder, bound: Iterable[tuple[exp.Column, Bound]]) -> Iterator[Diagnostic]:
    """For each literal text that can't be cast to the type of a column: a warning (PEN3013) where it is compared with
    the column, an error where it is added to it, or the like."""
    for node, column in bound:
        around = node.parent
        is_compared = type(around) in _COMPARISONS
        is_operand = type(around) in _ARITHMETIC and is_numeric(column.typed.type)
        if around is None or not (is_compared or is_operand) or not _is_computed(around):
            continue
        target = BIGINT if column.typed.type in INTEGRAL_TYPES else column.typed.type
        for other in around.iter_expressions():
            if isinstance(other, exp.Literal) and other.is_string and not _may_be(other.this, target):
                message = f"`{node.name}` is {column.typed.type}, and '{_short(other.this)}' cannot be cast to {target}"
                span = binder.placed.span(*binder.places.range(other))
                what = "comparison" if is_compared else "computation"
                help = f"Spark stops at the {what}: write {_example(target)}"
                yield Diagnostic("PEN3013", message, span, help, Severity.WARNING if is_compared else Severity.ERROR)


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
