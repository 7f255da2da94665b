"""Where a subquery may use columns of the outer query: in WHERE, HAVING, join conditions and plain select items."""

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from sql.binding.group_keys import Grouping
from sql.binding.ordering import CLAUSES
from sql.binding.select_item import Item
from sql.binding.windows import window_function
from sql.expressions import is_aggregate
from sql.scopes.misplaced_functions import is_query
from sql.scopes.scope import SelectScope


def refuse_outer_columns(
    scope: SelectScope, select: exp.Select, items: Sequence[Item], grouping: Grouping | None
) -> None:
    """Report columns of the outer query where Spark cannot decorrelate the subquery: groups, windows and sorting."""
    if scope.environment.outer is None:
        return
    group = select.args.get("group")
    parts: list[tuple[str, exp.Expr]] = []
    if grouping is not None:
        parts += [("beside an aggregate function or GROUP BY", item.body) for item in items if not item.is_star]
    if group is not None:
        parts.append(("in GROUP BY", group))
    windows = [window for item in items for window in item.special.windows]
    parts += [("in a window function", operand) for window in windows for operand in _window_columns(window)]
    parts += [(f"in {clause}", part) for key, clause in CLAUSES.items() if (part := select.args.get(key)) is not None]
    plain = (item.node.unnest() for item in items)
    selected = {scope.bound[id(node)].key for node in plain if id(node) in scope.bound}
    for where, part in parts:
        for column in _outer(scope, _plain_columns(part)):
            if part.arg_key in CLAUSES and scope.bound[id(column)].key in selected:
                continue  # it is sorted by the output column
            message = f"a subquery may not use `{column.sql('spark')}` of the query around it {where}"
            scope.report("PEN3016", column, message, "use it in WHERE, or join the tables")


def _window_columns(window: exp.Window) -> Iterator[exp.Column]:
    """The columns that stand alone in a window function; Spark computes expressions before it, in a projection."""
    function, order = window_function(window), window.args.get("order")
    keys = (key.this for key in order.expressions) if order is not None else ()
    for operand in (*function.iter_expressions(), *(window.args.get("partition_by") or ()), *keys):
        if isinstance(plain := operand.unnest(), exp.Column):
            yield plain


def _plain_columns(part: exp.Expr) -> Iterator[exp.Column]:
    """The columns outside aggregate functions and inner queries."""
    for node in part.walk(prune=lambda node: is_query(node) or (is_aggregate(node) and node is not part)):
        if isinstance(node, exp.Column):
            yield node


def _outer(scope: SelectScope, columns: Iterable[exp.Column]) -> Iterator[exp.Column]:
    return (column for column in columns if scope.is_outer(column))
