"""Checks columns outside aggregate functions in a query that groups or aggregates."""

from collections.abc import Sequence
from typing import TypeGuard

from sqlglot import exp

from sql.binding.group_keys import Grouping, Key, canonical
from sql.binding.select_item import Item
from sql.expressions import is_aggregate, is_deterministic
from sql.parsing.call_names import call_name
from sql.parsing.subquery_position import is_scalar, outermost
from sql.scopes.misplaced_functions import has_over, is_grouping_function, is_query, own_nodes, own_operands
from sql.scopes.scope import SelectScope, is_aggregated
from sql.scopes.stars import is_star


def check_grouped(scope: SelectScope, node: exp.Expr, grouping: Grouping) -> None:
    """Report columns that are neither grouped by nor inside an aggregate function."""
    if grouping.is_refused:
        return
    if is_query(node):
        _check_correlated(scope, node, grouping)
        return
    if is_star(node):
        if not _counts_rows(node):
            _check_star(scope, node, grouping)
        return
    if isinstance(node, exp.Column):
        _check_column(scope, node, grouping)
        return
    if not grouping.only_columns and canonical(scope, node) in grouping.keys:
        return
    if _is_time_window(node, scope):
        message = f"`{call_name(node)}` is neither aggregated nor in GROUP BY"
        scope.report("PEN3009", node, message, "group by the window itself")
        return
    if is_grouping_function(node):
        _check_grouping_function(scope, node, grouping)
        return
    if isinstance(node, exp.Filter):  # its condition is evaluated before the grouping
        check_grouped(scope, node.this, grouping)
        return
    if isinstance(node, exp.WithinGroup) and is_aggregate(node.this):
        for part in (node.this, node.expression):
            _check_nested(scope, part)
        return
    if is_aggregate(node) and not has_over(node):
        _check_nested(scope, node)
        return
    if is_aggregate(node) and grouping.has_sets:
        _refuse_columns(scope, node)
        return
    for child in node.iter_expressions():
        check_grouped(scope, child, grouping)


def _is_time_window(node: exp.Expr, scope: SelectScope) -> TypeGuard[exp.Anonymous]:
    """`window(ts, '1 hour')`, whose columns Spark makes below the grouping, and `window_time` of one."""
    if not isinstance(node, exp.Anonymous):
        return False
    name = call_name(node).lower()
    if name == "window_time":
        bound = scope.bound.get(id(node.expressions[0])) if node.expressions else None
        return bound is not None and bound.key is None and node.expressions[0].name.lower() == "window"
    return name in ("window", "session_window") and len(node.expressions) > 1


def _counts_rows(star: exp.Expr) -> bool:
    """Whether a star is that of `count(*)`, which reads no column."""
    call = star.parent
    is_bare = isinstance(star, exp.Star) and not any(star.args.values())
    return is_bare and isinstance(call, exp.Anonymous) and call_name(call).lower() == "count"


def _check_star(scope: SelectScope, node: exp.Expr, grouping: Grouping) -> None:
    """`struct(*)`, each of whose columns must be grouped by."""
    for attribute in scope.star(node) or ():
        if attribute.identity is not None and not _is_key(attribute.identity, grouping):
            message = f"column `{attribute.name}` of `*` is neither aggregated nor in GROUP BY"
            scope.report("PEN3009", node, message)
            return


def _check_column(scope: SelectScope, node: exp.Column, grouping: Grouping) -> None:
    bound = scope.bound.get(id(node))
    if bound is None or bound.depth or bound.is_alias or is_star(node) or _is_key(bound.key, grouping):
        return
    name = node.name
    if grouping.is_explicit:
        message = f"column `{name}` is neither aggregated nor in GROUP BY"
    else:
        message = f"column `{name}` is not aggregated, and the query has aggregate functions but no GROUP BY"
    scope.report("PEN3009", _windowed(node) or node, message, f"add `{name}` to GROUP BY or use any_value({name})")


def _windowed(node: exp.Expr) -> exp.Window | None:
    """The window function of which a column is an argument: `max(a) OVER ()` aggregates no group."""
    child = node
    while child.parent is not None and not is_query(child.parent):
        if isinstance(child.parent, exp.Window):
            return child.parent if child.arg_key == "this" and is_aggregate(child) else None
        child = child.parent
    return None


def _is_key(key: Key | None, grouping: Grouping) -> bool:
    """Whether a column, or the struct that it is a field of, is grouped by; what is not known is."""
    return key is None or any(key[:size] in grouping.keys for size in range(2, len(key) + 1))


def _check_correlated(scope: SelectScope, node: exp.Expr, grouping: Grouping) -> None:
    """A correlated scalar subquery next to aggregates must itself be grouped by, even if the columns it uses are."""
    if not is_scalar(node) or isinstance(node.find_ancestor(exp.Having, exp.Select), exp.Having):
        for column, bound in scope.correlated.get(id(outermost(node)), ()):
            if not _is_key(bound.key, grouping) and not is_aggregated(column):
                scope.report("PEN3009", column, f"column `{column.name}` is neither aggregated nor in GROUP BY")
    elif id(outermost(node)) in scope.correlated and canonical(scope, node) not in grouping.keys:
        message = "a correlated scalar subquery beside aggregates must be in GROUP BY or inside an aggregate function"
        scope.report("PEN3016", node, message, "compute it in a subquery of FROM")


def refuse_grouping_functions(scope: SelectScope, items: "Sequence[Item]") -> None:
    """Report `grouping` functions in a query without GROUP BY."""
    for item in items:
        for node in own_nodes(item.body):
            if is_grouping_function(node):
                _check_grouping_function(scope, node, Grouping(frozenset()))


def _check_grouping_function(scope: SelectScope, node: exp.Anonymous, grouping: Grouping) -> None:
    if not grouping.has_sets:
        message = f"{call_name(node)}() needs GROUP BY with ROLLUP, CUBE or GROUPING SETS"
        scope.report("PEN3011", node, message)
        return
    for argument in node.expressions:
        bound = scope.bound.get(id(argument))
        is_alias = bound is not None and bound.is_alias
        if not is_alias and canonical(scope, argument) not in grouping.keys:
            scope.report("PEN3009", argument, f"{call_name(node)}() takes columns of GROUP BY")
            return
    if call_name(node).lower() == "grouping_id" and node.expressions:
        given = tuple(canonical(scope, argument) for argument in node.expressions)
        if given != grouping.ordered and not any(scope.is_lateral_alias(part) for part in node.find_all(exp.Column)):
            message = "grouping_id() takes all columns of GROUP BY, in their order, or none"
            scope.report("PEN3009", node, message, "leave the arguments out")


def _refuse_columns(scope: SelectScope, node: exp.Expr) -> None:
    """With grouping sets, Spark does not group the columns of an aggregate with OVER, and then refuses them."""
    for column in own_nodes(node):
        if isinstance(column, exp.Column) and not is_aggregated(column, within=node):
            bound = scope.bound.get(id(column))
            if bound is not None and bound.key is not None and not bound.is_alias:
                message = f"with grouping sets, `{column.name}` is not allowed in an aggregate function with OVER"
                scope.report("PEN3009", column, message, "group in a subquery")


def _check_nested(scope: SelectScope, aggregate: exp.Expr) -> None:
    """Report aggregates, windows and outer columns inside an aggregate function."""
    for node in own_operands(aggregate):
        problem = None if node is aggregate else _nested_problem(scope, node)
        if problem is not None:
            scope.report(*problem)
            return


def _nested_problem(scope: SelectScope, node: exp.Expr) -> tuple[str, exp.Expr, str] | None:
    """The code, node and message of what may not be inside an aggregate function."""
    if isinstance(node, exp.Column):
        bound = scope.bound.get(id(node))
        if bound is not None and bound.depth:
            return "PEN3016", node, "an aggregate function may not use a column of the outer query"
    elif isinstance(node, exp.Anonymous):
        if is_aggregate(node) and not has_over(node):
            return "PEN3011", node, "an aggregate function is not allowed inside another"
        if not is_deterministic(node):
            message = "a function that is not deterministic is not allowed inside an aggregate function"
            return "PEN3011", node, message
    elif isinstance(node, exp.Window):
        return "PEN3011", node, "a window function is not allowed inside an aggregate function"
    return None
