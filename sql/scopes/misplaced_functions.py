"""Aggregates, window functions and generators, and where they are not allowed."""

from dataclasses import dataclass, field
from typing import Final, TypeGuard

from sqlglot import exp

from sql.expressions import call_kind
from sql.parsing.call_names import call_name
from sql.parsing.tree_nodes import classes_of, tree_nodes
from sql.types.expression_type import Scope


@dataclass(slots=True)
class Special:
    """The calls of an expression, subqueries left out, by kind; an aggregate with OVER is a window."""

    calls: list[exp.Anonymous] = field(default_factory=list)
    aggregates: list[exp.Expr] = field(default_factory=list)
    windows: list[exp.Window] = field(default_factory=list)
    generators: list[exp.Expr] = field(default_factory=list)
    bare_window_functions: list[exp.Expr] = field(default_factory=list)


_QUERIES: Final = classes_of(exp.Query) - classes_of(exp.Table)
_LEAVES: Final = _QUERIES | classes_of(exp.Column, exp.Literal)


def is_query(node: exp.Expr) -> bool:
    return type(node) in _QUERIES


def own_nodes(node: exp.Expr) -> list[exp.Expr]:
    """The nodes of an expression, not those of queries within it."""
    return tree_nodes(node, _QUERIES)


def own_operands(node: exp.Expr) -> list[exp.Expr]:
    """`own_nodes` but for the names that columns are made of: half of the nodes of most expressions."""
    return tree_nodes(node, _LEAVES)


def find_special(node: exp.Expr) -> Special:
    found = Special()
    if isinstance(node, (exp.Column, exp.Literal)):  # as most columns of most queries
        return found
    for inner in own_operands(node):
        if isinstance(inner, exp.Window):
            found.windows.append(inner)
        if not isinstance(inner, exp.Anonymous):
            continue
        found.calls.append(inner)
        match call_kind(inner):
            case "aggregate" if not has_over(inner):
                found.aggregates.append(inner)
            case "generator":
                found.generators.append(inner)
            case "window" if not has_over(inner):
                found.bare_window_functions.append(inner)
    return found


def has_over(node: exp.Expr) -> bool:
    """Whether the function is that of an OVER clause, through FILTER, IGNORE NULLS and WITHIN GROUP."""
    child, parent = node, node.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        child, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and child.arg_key == "this"


def is_of_outer(scope: Scope, aggregate: exp.Expr) -> bool:
    """Whether an aggregate function in a subquery is over columns of the query around only, which then computes it."""
    columns = list(aggregate.find_all(exp.Column))
    return bool(columns) and all(scope.is_outer(column) for column in columns)


def _is_in_having(aggregate: exp.Expr) -> bool:
    """Whether the subquery that holds the aggregate function stands in HAVING, where the query around computes it."""
    query = aggregate.find_ancestor(exp.Select)
    return query is not None and isinstance(query.find_ancestor(exp.Having, exp.Select), exp.Having)


def is_grouping_function(node: exp.Expr) -> TypeGuard[exp.Anonymous]:
    return isinstance(node, exp.Anonymous) and call_name(node).lower() in ("grouping", "grouping_id")


def refuse_misplaced(scope: Scope, node: exp.Expr, where: str, *, aggregates: bool = False) -> Special:
    """Reports the special functions of an expression that may hold none (or only aggregates)."""
    found = find_special(node)
    if not aggregates:
        for aggregate in found.aggregates:
            if is_of_outer(scope, aggregate) and _is_in_having(aggregate):
                continue
            help = "filter groups with HAVING" if where == "WHERE" else None
            scope.report("PEN3011", aggregate, f"an aggregate function is not allowed in {where}", help)
    for window in (*found.windows, *found.bare_window_functions):
        help = "compute it in a subquery and filter there" if where in ("WHERE", "HAVING") else None
        scope.report("PEN3011", window, f"a window function is not allowed in {where}", help)
    for generator in found.generators:
        scope.report("PEN3011", generator, f"a generator is not allowed in {where}", "use LATERAL VIEW")
    return found
