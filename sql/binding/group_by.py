"""GROUP BY: ordinals, aliases, ALL, ROLLUP, CUBE and GROUPING SETS."""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from catalog.types.datatypes import VARIANT
from sql.binding.group_keys import Grouping, Key, canonical
from sql.binding.ordering import is_all, ordinal
from sql.binding.select_item import Item
from sql.binding.ungrouped_columns import refuse_grouping_functions
from sql.binding.windows import window_function
from sql.expressions import infer, is_aggregate, is_deterministic
from sql.parsing.call_names import call_name
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.misplaced_functions import own_nodes, refuse_misplaced
from sql.scopes.relations import merge
from sql.scopes.scope import SelectScope
from sql.scopes.stars import is_star

_ANALYTICS = ("rollup", "cube", "grouping_sets")
_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def bind_group(scope: SelectScope, select: exp.Select, items: "Sequence[Item]") -> Grouping | None:
    """The grouping of a SELECT; None if it neither groups nor aggregates."""
    group = select.args.get("group")
    having = select.args.get("having")
    if group is None:
        aggregates = any(item.special.aggregates for item in items)
        if not aggregates and having is None:
            refuse_grouping_functions(scope, items)
        return Grouping(frozenset(), is_explicit=False) if aggregates or having is not None else None
    if group.args.get("all") is True or _is_group_all(group):
        named = exp.column("all")
        if _aliased_item(scope, named, items) is None and not scope.relation.find(["all"])[0]:
            return _group_all(scope, items)
        group = exp.Group(expressions=[named])  # a column of that name comes first
    _refuse_empty_sets(scope, group)
    nodes = list(_group_items(group))
    before = len(scope.binder.diagnostics)
    bodies = [_grouped_body(scope, node, items) for node in nodes]
    keys: dict[int, Key] = {}
    origins: Origins = ()
    in_sets = has_sets(group)
    for node, (body, item) in zip(nodes, bodies, strict=True):
        if body is None:
            continue
        _refuse_random(scope, node, body, in_sets=in_sets)
        keys[id(node)] = canonical(scope, body)
        origins = merge(origins, item.attributes[0].origins if item is not None and item.attributes else ())
    origins = merge(origins, scope.origins_for(Dependency.GROUP_BY))
    only_columns = all(isinstance(body, exp.Column) for body, _ in bodies)
    return Grouping(
        frozenset(keys.values()),
        through(origins, Dependency.GROUP_BY),
        only_columns=only_columns,
        has_sets=in_sets,
        ordered=tuple(dict.fromkeys(keys.values())),
        sometimes_null=frozenset(_left_out(group, lambda node: keys.get(id(node)))),
        is_refused=len(scope.binder.diagnostics) > before,
    )


def _refuse_random(scope: SelectScope, node: exp.Expr, key: exp.Expr, *, in_sets: bool) -> None:
    """Spark computes a random key before it groups, but for `uniform` and the keys of several groupings."""
    if isinstance(key, exp.Column):
        return
    for call in own_nodes(key):
        if not isinstance(call, exp.Anonymous) or is_deterministic(call):
            continue
        name = call_name(call).lower()
        if in_sets or name == "uniform":
            scope.report("PEN3017", node, f"GROUP BY takes no `{name}()` here", "compute it in a subquery")
            return


def _is_group_all(group: exp.Expr) -> bool:
    return len(group.expressions) == 1 and isinstance(group.expressions[0], exp.Var) and is_all(group.expressions[0])


def _group_all(scope: SelectScope, items: "Sequence[Item]") -> Grouping:
    """GROUP BY ALL: every item without an aggregate function."""
    plain = [item for item in items if not _is_aggregated(item) and not item.is_star]
    for item in plain:
        used = [column for column in item.body.find_all(exp.Column) if scope.is_lateral_alias(column)]
        if used:
            message = f"GROUP BY ALL takes no item that uses the alias `{used[0].name}` of the same select list"
            scope.report("PEN3017", used[0], message, "write the expression that the alias names")
    for item in plain:
        for window in item.special.windows[:1]:
            message = "GROUP BY ALL groups by every item without an aggregate function, and this is a window function"
            scope.report("PEN3011", window, message, "name the columns in GROUP BY")
    for item in plain:
        _refuse_random(scope, item.body, item.body, in_sets=False)
    keys = {canonical(scope, item.body) for item in plain}
    starred = [attribute for item in items if item.is_star for attribute in item.attributes]
    keys |= {slot.key for column in starred for slot in scope.relation.find([column.name])[0]}
    origins = merge(*(attribute.origins for item in plain for attribute in item.attributes))
    return Grouping(frozenset(keys), through(origins, Dependency.GROUP_BY), only_columns=False)


def _is_aggregated(item: "Item") -> bool:
    """Whether an item holds an aggregate function, be it one with OVER."""
    functions = (window_function(window) for window in item.special.windows)
    return bool(item.special.aggregates) or any(is_aggregate(function) for function in functions)


def _group_items(group: exp.Expr) -> Iterator[exp.Expr]:
    for expression in group.expressions:
        is_struct = isinstance(expression.unnest(), exp.Tuple)  # `(a, b)` and `((a, b))`, which no column is grouped by
        yield from (expression,) if is_struct else _flatten([expression])
    for key in _ANALYTICS:
        for part in group.args.get(key) or ():
            if isinstance(part, exp.Expr):
                yield from _flatten(part.expressions)


def has_sets(group: exp.Expr) -> bool:
    """Whether a GROUP BY has ROLLUP, CUBE or GROUPING SETS."""
    return any(isinstance(expression, _SETS) for expression in group.expressions) or any(
        group.args.get(key) for key in _ANALYTICS
    )


def _refuse_empty_sets(scope: SelectScope, group: exp.Expr) -> None:
    for part in (*group.expressions, *(group.args.get("rollup") or ()), *(group.args.get("cube") or ())):
        if isinstance(part, (exp.Rollup, exp.Cube)):
            for item in part.expressions:
                if isinstance(item, exp.Tuple) and not item.expressions:
                    word = type(part).__name__.upper()
                    scope.report("PEN3017", part, f"{word} takes no empty set", "it has the empty set anyway")


def _flatten(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, (*_SETS, exp.Tuple)):
            yield from _flatten(node.expressions)
        elif isinstance(node, exp.Paren):
            yield from _flatten([node.this])
        else:
            yield node


def nullable_keys(scope: SelectScope, select: exp.Select) -> set[Key]:
    """Columns of ROLLUP, CUBE and GROUPING SETS that some set leaves out: they are null in its rows."""
    group = select.args.get("group")
    return _left_out(group, lambda node: _group_key(scope, select, node)) if group is not None else set()


def _left_out(group: exp.Expr, key_of: Callable[[exp.Expr], Key | None]) -> set[Key]:
    """The keys that some grouping set does not have."""
    if not has_sets(group):
        return set()
    parts = [part for name in _ANALYTICS for part in group.args.get(name) or () if isinstance(part, exp.Expr)]
    kept: set[Key | None] = set()
    for part in parts or group.expressions:  # GROUP BY a, b GROUPING SETS ((a), (b)): the sets say everything
        kept |= _in_every_set(part, key_of)
    return {key for node in _group_items(group) if (key := key_of(node)) is not None and key not in kept}


def _in_every_set(part: exp.Expr, key_of: Callable[[exp.Expr], Key | None]) -> set[Key | None]:
    """The keys that each grouping set of one item of GROUP BY holds."""
    match part:
        case exp.Rollup() | exp.Cube():
            return set()
        case exp.GroupingSets():
            sets = [_in_every_set(expression, key_of) for expression in part.expressions]
            return set.intersection(*sets) if sets else set()
        case _:
            return {key_of(node) for node in _flatten([part])}


def _group_key(scope: SelectScope, select: exp.Select, node: exp.Expr) -> Key | None:
    """The key of a grouped column of FROM, named itself or by the alias of a select item."""
    if not isinstance(node, exp.Column):
        return None
    found, taken = scope.relation.find([part.name for part in node.parts])
    if not found and len(node.parts) == 1:
        folded = node.name.lower()
        aliased = (
            expression.this
            for expression in select.expressions
            if isinstance(expression, exp.Alias) and expression.alias.lower() == folded
        )
        body = next(aliased, None)
        return _group_key(scope, select, body) if isinstance(body, exp.Column) and body.name.lower() != folded else None
    return found[0].key if len(found) == 1 and taken == len(node.parts) else None


def _grouped_body(scope: SelectScope, node: exp.Expr, items: "Sequence[Item]") -> "tuple[exp.Expr | None, Item | None]":
    """The expression that a GROUP BY item means: itself, or that of the select item it numbers or names."""
    number = ordinal(node)
    if number is not None:
        return _numbered(scope, node, number, items)
    if isinstance(node, exp.Column) and (item := _aliased_item(scope, node, items)) is not None:
        _refuse_aggregates(scope, node, item)
        return item.body, item
    node = node if isinstance(node, exp.Column) else _with_aliases(scope, node, items)
    refuse_misplaced(scope, node, "GROUP BY")
    if is_star(node):
        scope.report("PEN3017", node, "GROUP BY takes no `*`", "name the columns")
        return None, None
    saved, scope.aliases = scope.aliases, {}
    typed = infer(node, scope)
    scope.aliases = saved
    if typed.type == VARIANT:
        scope.report("PEN3008", node, f"rows cannot be grouped by a value of type {typed.type}")
    return node, None


def _with_aliases(scope: SelectScope, node: exp.Expr, items: "Sequence[Item]") -> exp.Expr:
    """An expression of GROUP BY with the select items that it names in the place of their aliases."""

    def meant(part: exp.Expr) -> "Item | None":
        return _aliased_item(scope, part, items) if isinstance(part, exp.Column) else None

    if all(meant(part) is None for part in own_nodes(node)):
        return node
    made = node.copy()
    for column in list(own_nodes(made)):
        if (item := meant(column)) is not None:
            _refuse_aggregates(scope, column, item)
            column.replace(exp.Paren(this=item.body.copy()))
    return made


def _numbered(
    scope: SelectScope, node: exp.Expr, number: int, items: "Sequence[Item]"
) -> "tuple[exp.Expr | None, Item | None]":
    if any(item.is_star for item in items):
        return _numbered_star(scope, node, number, items), None
    if not 1 <= number <= len(items):
        scope.report("PEN3019", node, f"GROUP BY {number}: the query has {len(items)} columns")
        return None, None
    item = items[number - 1]
    _refuse_aggregates(scope, node, item)
    return item.body, item


def _numbered_star(scope: SelectScope, node: exp.Expr, number: int, items: "Sequence[Item]") -> exp.Expr | None:
    total = sum(len(item.attributes) for item in items)
    if not any(item.is_open for item in items) and not 1 <= number <= total:
        scope.report("PEN3019", node, f"GROUP BY {number}: the query has {total} columns")
    else:
        scope.report("PEN3017", node, "GROUP BY takes no number beside `*`", "write the name of the column")
    return None


def _refuse_aggregates(scope: SelectScope, node: exp.Expr, item: "Item") -> None:
    for column in item.body.find_all(exp.Column):
        if scope.is_lateral_alias(column):
            message = f"GROUP BY means a select item that uses the alias `{column.name}` of the same select list"
            scope.report("PEN3017", node, message, "write the expression that the alias names")
            return
    if item.special.aggregates:
        scope.report("PEN3011", node, "GROUP BY means a select item that holds an aggregate function")


def _aliased_item(scope: SelectScope, node: exp.Column, items: "Sequence[Item]") -> "Item | None":
    """The select item of that name, given or its own, where FROM has no such column."""
    if len(node.parts) > 1 or scope.relation.find([node.name])[0]:
        return None
    folded = node.name.lower()
    named = (item for item in items if not item.is_star and len(item.attributes) == 1)
    return next((item for item in named if item.attributes[0].name.lower() == folded), None)
