"""Warns of columns that are strings only because their type is not declared, used as numbers: `order by
delay` puts 100 before 99."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sqlglot import exp

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.types.datatypes import STRING
from sql.parsing.call_names import call_name
from sql.scopes.analysis import Binder, Bound
from sql.scopes.lineage import Dependency

_USES: Final[tuple[tuple[tuple[type[exp.Expr], ...], str], ...]] = (
    ((exp.Ordered,), "ordered"),
    ((exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between), "compared"),
    ((exp.Add, exp.Sub, exp.Mul, exp.Div), "computed with"),
)
_FUNCTIONS: Final = {"sum": "summed", "avg": "averaged", "mean": "averaged", "max": "compared", "min": "compared"}


def untyped_uses(binder: Binder, bound: Iterable[tuple[exp.Column, Bound]]) -> list[Diagnostic]:
    """A warning (PEN3030) for each untyped column that the query orders, compares, computes with or joins on."""
    found: dict[tuple[str, str], Diagnostic] = {}
    for node, column in bound:
        origin = _untyped(binder, column)
        use = _use(node) if origin else None
        if origin is None or use is None:
            continue
        span = binder.placed.span(*binder.places.range(node))
        if first := found.get(origin):
            if span != first.span and span not in first.also:
                found[origin] = replace(first, also=(*first.also, span))
            continue
        message = f"`{node.name}` is {use} as text: nobody gave this column of `{origin[0]}` a type"
        help = (
            f"declare its type: `schema {{ fields {{ {node.name} = … }} }}`, in SQL `CREATE TABLE {origin[0]} "
            f"({node.name} …)`; `penstock describe FILE` prints all types, and `penstock schema sync` locks them"
        )
        found[origin] = Diagnostic("PEN3030", message, span, help, Severity.WARNING)
    return list(found.values())


def _untyped(binder: Binder, bound: Bound) -> tuple[str, str] | None:
    if bound.typed.type != STRING or len(bound.origins) != 1:
        return None
    origin = bound.origins[0]
    table = binder.inputs.get(origin.input)
    column = table.column(origin.column) if table else None
    is_untyped = column is not None and column.is_untyped and origin.dependency is Dependency.IDENTITY
    return (origin.input, origin.column.lower()) if is_untyped else None


def _use(node: exp.Column) -> str | None:
    child: exp.Expr = node
    parent = node.parent
    while isinstance(parent, exp.Paren):
        child, parent = parent, parent.parent
    if parent is None:
        return None
    for kinds, use in _USES:
        if isinstance(parent, kinds):
            return use
    if isinstance(parent, exp.EQ | exp.NEQ | exp.NullSafeEQ):
        other = parent.expression if parent.this is child else parent.this
        if isinstance(other, exp.Literal) and not other.is_string:
            return "compared"
        if isinstance(other, exp.Column) and _is_join_condition(parent):
            return "joined"
    if isinstance(parent, exp.Anonymous):
        return _FUNCTIONS.get(call_name(parent).lower())
    return None


def _is_join_condition(node: exp.Expr) -> bool:
    return isinstance(node.find_ancestor(exp.Join, exp.Select, exp.Where), exp.Join)
