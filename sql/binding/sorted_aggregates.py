"""Aggregate functions in ORDER BY: where Spark computes them, and where only output columns are left to sort by."""

from collections.abc import Sequence

from sqlglot import exp

from sql.binding.group_keys import Grouping, Key, canonical
from sql.binding.select_item import Item
from sql.expressions import is_aggregate
from sql.scopes.misplaced_functions import find_special, has_over, is_grouping_function, is_query
from sql.scopes.scope import SelectScope, is_aggregated


def check_sorted_aggregates(
    scope: SelectScope, node: exp.Expr, clause: str, grouping: Grouping | None, projected_by: str | None
) -> None:
    """Reports aggregate functions of one item of ORDER BY; `scope` sees the output columns as aliases.

    `projected_by`: what put another projection over the groups (`is_projected`), if anything.
    """
    for aggregate in find_special(node).aggregates:
        help = "select it and sort by its alias"
        if grouping is None:
            message = f"an aggregate function in {clause} needs a query with GROUP BY or aggregates"
            scope.report("PEN3011", node, message)
        elif clause not in ("ORDER BY", "SORT BY"):
            scope.report("PEN3011", aggregate, f"an aggregate function is not allowed in {clause}", help)
        elif projected_by is not None:
            message = f"an aggregate function is not allowed in {clause} beside {projected_by}"
            scope.report("PEN3011", aggregate, message, help)
        else:
            _refuse_shadowed(scope, aggregate)


def projected_by(
    scope: SelectScope, select: exp.Select, items: Sequence[Item], grouping: Grouping | None
) -> str | None:
    """What stands between the groups and ORDER BY, which then sees output columns and grouped ones only."""
    if grouping is None:
        return None
    if select.args.get("distribute") is not None:
        return "DISTRIBUTE BY"
    if any(item.special.windows for item in items):
        return "a window function in the select list"
    if any(item.special.generators for item in items):
        return "a generator in the select list"
    having = select.args.get("having")
    if having is None:
        return None
    selected = {canonical(scope, item.body) for item in items if not item.is_star}
    for item in items:
        selected |= {each.identity for each in item.attributes if each.identity is not None}
    if _computes_more(scope, having.this, selected, grouping):
        return "a HAVING that uses what the select list does not have"
    return None


def _computes_more(scope: SelectScope, node: exp.Expr, selected: set[Key], grouping: Grouping) -> bool:
    """Whether HAVING needs an aggregate or a key that is no output column."""
    if is_query(node):
        return False
    key = canonical(scope, node)
    if key in selected:
        return False
    if (is_aggregate(node) and not has_over(node)) or is_grouping_function(node) or key in grouping.keys:
        return True
    return any(_computes_more(scope, child, selected, grouping) for child in node.iter_expressions())


def _refuse_shadowed(scope: SelectScope, aggregate: exp.Expr) -> None:
    """Within an aggregate function of ORDER BY, too, a name means the output column before that of FROM."""
    for column in aggregate.find_all(exp.Column):
        named = scope.aliases.get(column.name.lower(), ()) if len(column.parts) == 1 else ()
        bound = scope.bound.get(id(column))
        if len(named) != 1 or named[0].identity is not None or bound is None or bound.is_alias or bound.depth:
            continue
        if is_aggregated(column):
            message = f"`{column.name}` means the column of the select list here, which is computed after the groups"
            scope.report("PEN3011", column, message, "give that column another alias, or sort by it")
