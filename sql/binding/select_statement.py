"""One SELECT: its clauses in the order in which Spark resolves them."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sql.binding.from_clause import bind_from
from sql.binding.group_by import bind_group, nullable_keys
from sql.binding.group_keys import Grouping, canonical
from sql.binding.joins import condition
from sql.binding.ordering import (
    bind_limits,
    bind_order,
    check_sorted_aggregates,
    check_sorted_keys,
    check_sorted_sets,
    projected_by,
)
from sql.binding.outer_columns import refuse_outer_columns
from sql.binding.select_item import Item
from sql.binding.set_operations import refuse_unhashable
from sql.binding.ungrouped_columns import check_grouped
from sql.binding.windows import check_window, refuse_hidden_columns
from sql.expressions import generator_columns, infer, output_name
from sql.scopes.analysis import Binder, Environment
from sql.scopes.generator_items import (
    refuse_grouped_generators,
    refuse_nested_generator,
    unname_beside_generators,
)
from sql.scopes.lineage import Dependency, Origins
from sql.scopes.misplaced_functions import Special, find_special, refuse_misplaced
from sql.scopes.relations import Attribute, Output, merge
from sql.scopes.scope import SelectScope
from sql.scopes.script_transforms import is_script, refuse_inputs, script_columns
from sql.scopes.stars import is_star
from sql.types.expression_type import NamedTyped


def bind_select(binder: Binder, environment: Environment, select: exp.Select) -> Output:
    relation = bind_from(binder, environment, select)
    scope = SelectScope(binder, environment, relation, windows=_named_windows(binder, select))
    rows = merge(relation.row_origins, _where(scope, select))
    _named_window_parts(scope)
    scope.grouped_nullable = nullable_keys(scope, select)
    items = [_item(node) for node in select.expressions]
    if any(item.is_generator for item in items):
        is_aggregated = any(item.special.aggregates for item in items)
        unname_beside_generators(scope, select, [item.body for item in items], is_aggregated=is_aggregated)
    for item in items:
        _bind_item(scope, item)
    for item in items:
        refuse_nested_generator(scope, item.special, item.body)
    grouping = bind_group(scope, select, items)
    _make_nullable(scope, items, grouping)
    outputs = tuple(attribute for item in items for attribute in item.attributes)
    if select.args.get("distinct") is not None:
        refuse_unhashable(binder, outputs, select, "SELECT DISTINCT")
    if grouping is not None:
        refuse_grouped_generators(scope, [item.special for item in items], is_explicit=grouping.is_explicit)
        _check_items(scope, items, grouping)
        rows = merge(rows, grouping.origins)
    rows = merge(rows, _having(scope, select, items, grouping))
    rows = merge(rows, _order(scope, select, items, outputs, grouping))
    refuse_outer_columns(scope, select, items, grouping)
    bind_limits(scope, select)
    return Output(outputs, rows, any(item.is_open for item in items))


def _where(scope: SelectScope, select: exp.Select) -> Origins:
    where = select.args.get("where")
    if where is None:
        return ()
    condition(scope, where.this, "WHERE")
    return scope.origins_for(Dependency.FILTER)


def _named_windows(binder: Binder, select: exp.Select) -> dict[str, exp.Window]:
    windows: dict[str, exp.Window] = {}
    for window in select.args.get("windows") or ():
        name = window.this.name.lower()
        if name in windows:
            binder.report("PEN3017", window.this, f"two windows are named `{window.this.name}`")
        windows[name] = window
    return windows


def _named_window_parts(scope: SelectScope) -> None:
    for window in scope.windows.values():
        order = window.args.get("order")
        parts = [*(window.args.get("partition_by") or ()), *(order.expressions if order is not None else ())]
        for part in parts:
            infer(part.this if isinstance(part, exp.Ordered) else part, scope)
    scope.take_used()


def _item(node: exp.Expr) -> Item:
    body = node.this if isinstance(node, (exp.Alias, exp.Aliases)) else node
    body = body.unnest() if isinstance(body, exp.Paren) and is_star(body.unnest()) else body
    return Item(node, body, find_special(body))


def _bind_item(scope: SelectScope, item: Item) -> None:
    """Types one item and lets the items after it see its alias."""
    node, body = item.node, item.body
    if item.is_star:
        if isinstance(node, exp.Aliases):
            scope.report("PEN3017", node, "`*` takes no aliases")
        starred = scope.star(body)
        has_alias = isinstance(node, (exp.Alias, exp.Aliases))  # an error: what was meant is not known
        item.attributes, item.is_open = tuple(starred or ()), starred is None or has_alias
        return
    if item.is_generator:
        _bind_generator(scope, item)
        return
    if is_script(body):
        columns = script_columns(scope, body)
        item.attributes, item.is_open = columns or (), columns is None
        return
    _check_bare_windows(scope, item.special)
    typed = infer(body, scope)
    for window in item.special.windows:
        check_window(scope, window)
    if isinstance(node, exp.Aliases):
        scope.report("PEN3017", node, "several aliases for one column: only a generator has several columns")
    name = node.alias if isinstance(node, exp.Alias) else _name(scope, body)
    bound = scope.bound.get(id(node))  # of a column without an alias
    identity = bound.key if bound is not None and len(bound.key or ()) == 2 else None
    attribute = Attribute(name, typed, scope.origins_of(body), identity)
    item.attributes = (attribute,)
    if scope.names_aliases:
        _refuse_aggregated_aliases(scope, item.special)
    if isinstance(node, exp.Alias) or (isinstance(body, exp.Column) and len(scope.bound[id(body)].key or ()) > 2):
        scope.aliases.setdefault(name.lower(), []).append(attribute)  # a field of a struct has an alias from Spark


def _check_bare_windows(scope: SelectScope, special: Special) -> None:
    """Report pure window functions without OVER, and aggregates in FILTER."""
    for aggregate in special.aggregates:
        if isinstance(aggregate.parent, exp.Filter):
            refuse_misplaced(scope, aggregate.parent.expression, "FILTER")
    for function in special.bare_window_functions:
        scope.report("PEN3011", function, "a window function needs an OVER clause", "add `OVER (... ORDER BY ...)`")


def _windows(special: Special) -> list[tuple[str, exp.Expr]]:
    return [("a window", window) for window in special.windows]


def _refuse_aggregated_aliases(scope: SelectScope, special: Special) -> None:
    for kind, function in (*(("an aggregate", aggregate) for aggregate in special.aggregates), *_windows(special)):
        for column in function.find_all(exp.Column):
            if scope.is_lateral_alias(column):
                message = f"`{column.name}` is an alias of the same select list: {kind} function may not use it"
                scope.report("PEN3011", column, message, "compute it in a subquery")


def _name(scope: SelectScope, body: exp.Expr) -> str:
    return output_name(body, scope)


def _bind_generator(scope: SelectScope, item: Item) -> None:
    columns = generator_columns(item.body, scope)
    for window in item.special.windows:
        scope.report("PEN3011", window, "a window function is not allowed in a generator", "compute it in a subquery")
    for column in item.body.find_all(exp.Column):
        if scope.is_lateral_alias(column):
            message = f"`{column.name}` is an alias of the same select list: a generator may not use it"
            scope.report("PEN3011", column, message, "compute it in a subquery")
    origins = merge(*(origins for _, origins in scope.take_used()))
    if columns is None:
        item.is_open = True
        return
    names = _generator_names(scope, item, columns)
    item.attributes = tuple(Attribute(name, column.typed, origins) for name, column in zip(names, columns, strict=True))
    for attribute in item.attributes if isinstance(item.node, (exp.Alias, exp.Aliases)) else ():
        scope.aliases.setdefault(attribute.name.lower(), []).append(attribute)


def _generator_names(scope: SelectScope, item: Item, columns: Sequence[NamedTyped]) -> list[str]:
    node = item.node
    own = [column.name for column in columns]
    if isinstance(node, exp.Alias):
        given = [node.alias]
    elif isinstance(node, exp.Aliases):
        given = [expression.name for expression in node.expressions]
    else:
        return own
    if len(given) != len(own):
        message = f"{len(given)} aliases for the {len(own)} columns of a generator"
        scope.report("PEN3007", node, message, "write `AS (" + ", ".join(own) + ")`")
        return own
    return given


def _make_nullable(scope: SelectScope, items: Sequence[Item], grouping: Grouping | None) -> None:
    """Items that are expressions of ROLLUP, CUBE or GROUPING SETS are null in the rows of the sets without them."""
    if grouping is None or not grouping.sometimes_null:
        return
    for item in items:
        if not item.is_star and canonical(scope, item.body) in grouping.sometimes_null:
            nullable = (
                replace(attribute, typed=replace(attribute.typed, nullable=True)) for attribute in item.attributes
            )
            item.attributes = tuple(nullable)


def _check_items(scope: SelectScope, items: Sequence[Item], grouping: Grouping) -> None:
    for item in items:
        if item.is_aggregate and scope.environment.outer is None:  # nothing that could be wrong
            continue
        if not item.is_star or grouping.is_refused:
            check_grouped(scope, item.body, grouping)
            continue
        for attribute in item.attributes:
            found, _ = scope.relation.find([attribute.name])
            if found and not any(slot.key in grouping.keys for slot in found):
                message = f"column `{attribute.name}` of `*` is neither aggregated nor in GROUP BY"
                scope.report("PEN3009", item.body, message)
                break


def _having(scope: SelectScope, select: exp.Select, items: Sequence[Item], grouping: Grouping | None) -> Origins:
    """HAVING sees the columns of the select list, but for window functions, which come after it."""
    having = select.args.get("having")
    if having is None:
        return ()
    plain = (item for item in items if not item.special.windows)
    seen = _output_scope(scope, [attribute for item in plain for attribute in item.attributes])
    refuse_misplaced(seen, having.this, "HAVING", aggregates=True)
    infer(having.this, seen)
    if grouping is not None:
        check_grouped(seen, having.this, grouping)
        if not grouping.has_sets and any(item.special.windows for item in items):
            refuse_hidden_columns(seen, having.this)
    return seen.origins_for(Dependency.FILTER)


def _output_scope(scope: SelectScope, outputs: Sequence[Attribute]) -> SelectScope:
    """The scope of clauses behind the select list, which see its columns by name."""
    aliases: dict[str, list[Attribute]] = {}
    for attribute in outputs:
        same = aliases.setdefault(attribute.name.lower(), [])
        if not any(_is_same(attribute, other) for other in same):
            same.append(attribute)
    return replace(scope, aliases=aliases, aliases_first=True, used=[], bound=scope.bound)


def _is_same(one: Attribute, other: Attribute) -> bool:
    """Whether two output columns are one column, unchanged; a lateral alias is the item that it names."""
    first, second = (column.identity or ("alias", id(column)) for column in (one, other))
    return one is other or first == second


def _order(
    scope: SelectScope,
    select: exp.Select,
    items: Sequence[Item],
    outputs: Sequence[Attribute],
    grouping: Grouping | None,
) -> Origins:
    if not any(select.args.get(key) for key in ("order", "sort", "distribute", "cluster")):
        return ()
    seen = _output_scope(scope, outputs)
    distinct = select.args.get("distinct") is not None

    projected = projected_by(scope, select, items, grouping)

    def check(node: exp.Expr, clause: str) -> None:
        if grouping is not None:
            check_grouped(seen, node, grouping)
            if grouping.has_sets:
                check_sorted_sets(seen, node, clause, outputs)
            elif projected is not None and not grouping.is_refused:
                check_sorted_keys(seen, node, clause, grouping, projected)
        check_sorted_aggregates(seen, node, clause, grouping, projected)
        for window in find_special(node).windows:
            _check_sorted_window(scope, window, items)
        if distinct:
            _check_distinct(seen, node, items)
        if any(is_script(item.body) for item in items):
            refuse_inputs(seen, node, clause)

    return bind_order(seen, select, outputs, check)


def _check_sorted_window(scope: SelectScope, window: exp.Window, items: Sequence[Item]) -> None:
    """ORDER BY takes no window function of its own."""
    scope.report("PEN3011", window, "a window function is not allowed in ORDER BY", "select it and sort by its alias")


def _check_distinct(scope: SelectScope, node: exp.Expr, items: Sequence[Item]) -> None:
    """After SELECT DISTINCT, only output columns can be sorted by."""
    plain = [item.node.unnest() for item in items]
    keys = {scope.bound[id(item)].key for item in plain if isinstance(item, exp.Column) and id(item) in scope.bound}
    if any(item.is_star or item.is_open for item in items):
        return
    for column in node.find_all(exp.Column):
        bound = scope.bound.get(id(column))
        if (
            bound is not None
            and not bound.is_alias
            and bound.key is not None
            and bound.key not in keys
            and not bound.depth
        ):
            message = f"`{column.name}` is not in the select list of SELECT DISTINCT"
            scope.report("PEN3004", column, message, "sort by a column that is selected")
