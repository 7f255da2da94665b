"""ORDER BY, SORT BY, DISTRIBUTE BY, CLUSTER BY, LIMIT and OFFSET."""

from collections import Counter
from collections.abc import Callable, Sequence

from sqlglot import exp

from catalog.types.datatypes import INT, SMALLINT, TINYINT, UNKNOWN, VARIANT
from sql.binding.group_keys import Grouping, Key, canonical
from sql.binding.select_item import Item
from sql.expressions import infer, is_aggregate
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.misplaced_functions import (
    find_special,
    has_over,
    is_grouping_function,
    is_query,
    own_nodes,
    refuse_misplaced,
)
from sql.scopes.relations import Attribute, merge
from sql.scopes.scope import SelectScope, is_aggregated
from sql.types.operators import is_orderable

CLAUSES = {"order": "ORDER BY", "sort": "SORT BY", "distribute": "DISTRIBUTE BY", "cluster": "CLUSTER BY"}


def bind_order(
    scope: SelectScope,
    node: exp.Expr,
    outputs: Sequence[Attribute],
    check: Callable[[exp.Expr, str], None] | None = None,
) -> Origins:
    """Type the sort and distribution expressions; `check` is called for each expression that is no ordinal."""
    origins: Origins = ()
    scope.take_used()
    for key, clause in CLAUSES.items():
        part = node.args.get(key)
        items = part.expressions if part is not None else ()
        for item in items:
            body = item.this if isinstance(item, exp.Ordered) else item
            origins = merge(origins, _item(scope, body, clause, outputs, check, is_only=len(items) == 1))
    return through(origins, Dependency.SORT)


def _item(
    scope: SelectScope,
    node: exp.Expr,
    clause: str,
    outputs: Sequence[Attribute],
    check: Callable[[exp.Expr, str], None] | None,
    *,
    is_only: bool,
) -> Origins:
    if clause == "ORDER BY" and is_only and is_all(node) and not _is_name(outputs, "all"):
        for output in outputs:
            if not is_orderable(output.typed.type):
                scope.report("PEN3008", node, f"rows cannot be sorted by `{output.name}` of type {output.typed.type}")
        return merge(*(slot.origins for slot in outputs))
    if isinstance(node, exp.Var) and is_all(node):
        help = "ORDER BY ALL has no other expressions"
        word = next(token for token in reversed(scope.tokens) if token.text.upper() == "ALL")
        message = f"column `{word.text}` does not exist"
        scope.binder.report_at("PEN3004", (word.start, word.end + 1), message, help)
    number = ordinal(node)
    if number is not None and clause in ("ORDER BY", "SORT BY"):
        if not 1 <= number <= len(outputs):
            if not scope.relation.is_open or outputs:
                scope.report("PEN3019", node, f"{clause} {number}: the query has {len(outputs)} columns")
            return ()
        output = outputs[number - 1]
        if not is_orderable(output.typed.type):
            scope.report("PEN3008", node, f"rows cannot be sorted by `{output.name}` of type {output.typed.type}")
        return output.origins
    for generator in find_special(node).generators:
        scope.report("PEN3011", generator, f"a generator is not allowed in {clause}")
    if clause in ("DISTRIBUTE BY", "CLUSTER BY"):
        _refuse_doubled(scope, node, clause)
    typed = infer(node, scope)
    for query in scope.correlated_scalars(node):
        scope.report(
            "PEN3016",
            query,
            f"a correlated scalar subquery is not allowed in {clause}",
            "select it and sort by its alias",
        )
    for predicate in node.find_all(exp.Exists, exp.In):
        if isinstance(predicate, exp.Exists) or predicate.args.get("query") is not None:
            message = f"EXISTS and IN over a subquery is not allowed in {clause}"
            scope.report("PEN3016", predicate, message, "select it and sort by its alias")
    if clause != "DISTRIBUTE BY" and not is_orderable(typed.type):
        scope.report("PEN3008", node, f"rows cannot be sorted by a value of type {typed.type}")
    elif clause == "DISTRIBUTE BY" and typed.type == VARIANT:
        scope.report("PEN3008", node, "rows cannot be distributed by a variant", "cast it to the type that it holds")
    if check is not None:
        check(node, clause)
    return scope.origins_for(Dependency.SORT)


def _refuse_doubled(scope: SelectScope, node: exp.Expr, clause: str) -> None:
    """Report the name of several output columns; ORDER BY and SORT BY take the column of FROM for it."""
    for column in own_nodes(node):
        if not isinstance(column, exp.Column) or len(scope.aliases.get(column.parts[0].name.lower(), ())) < 2:
            continue
        if len(column.parts) == 1 or scope.relation.find([column.parts[0].name])[0]:
            name = column.parts[0].name
            message = f"`{name}` is ambiguous: several columns of the select list have that name"
            scope.report("PEN3003", column, message, f"{clause} takes the alias of one column")


def is_all(node: exp.Expr) -> bool:
    """The word ALL, which stands for every output column."""
    unqualified = isinstance(node, exp.Column) and len(node.parts) == 1 and not node.this.args.get("quoted")
    return (isinstance(node, exp.Var) or unqualified) and node.name.upper() == "ALL"


def ordinal(node: exp.Expr) -> int | None:
    """The column number that an integer literal stands for; one that is no INT is just a number."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return int(node.name) if int(node.name) < 1 << 31 else None
    if isinstance(node, exp.Neg) and (number := ordinal(node.this)) is not None:
        return -number
    return None


def _is_name(outputs: Sequence[Attribute], name: str) -> bool:
    return any(output.name.lower() == name for output in outputs)


def bind_limits(scope: SelectScope, node: exp.Expr) -> None:
    """LIMIT and OFFSET take a constant integer that is not negative."""
    for key, clause in (("limit", "LIMIT"), ("offset", "OFFSET")):
        part = node.args.get(key)
        body = part.args.get("expression") if part is not None else None
        if body is None or is_all(body):
            continue
        before = len(scope.binder.diagnostics)
        refuse_misplaced(scope, body, clause)
        typed = infer(body, SelectScope(scope.binder, scope.environment, type(scope.relation)()))
        if len(scope.binder.diagnostics) > before:
            continue
        if body.find(exp.Query) is not None:
            scope.report("PEN3017", body, f"{clause} takes a constant integer, not a subquery")
        elif typed.type not in (TINYINT, SMALLINT, INT, UNKNOWN):
            scope.report("PEN3017", body, f"{clause} takes a constant integer, this is {typed.type}")
        elif _is_null(body):
            scope.report("PEN3017", body, f"{clause} must not be null")
        elif (_constant(body) or 0) < 0:
            scope.report("PEN3017", body, f"{clause} must not be negative")


def _is_null(node: exp.Expr) -> bool:
    """Whether a constant is NULL, cast or within arithmetic."""
    match node:
        case exp.Null():
            return True
        case exp.Paren() | exp.Cast() | exp.Neg():
            return _is_null(node.this)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_null(node.this) or _is_null(node.expression)
    return False


def _constant(node: exp.Expr) -> int | None:
    """The value of a sum, a difference or a product of integers; None if it is something else."""
    if isinstance(node, exp.Paren):
        return _constant(node.this)
    if isinstance(node, exp.Neg):
        inner = _constant(node.this)
        return None if inner is None else -inner
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        left, right = _constant(node.this), _constant(node.expression)
        if left is None or right is None:
            return None
        return {exp.Add: left + right, exp.Sub: left - right}.get(type(node), left * right)
    return int(node.name) if isinstance(node, exp.Literal) and node.name.isdigit() else None


def check_sorted_aggregates(
    scope: SelectScope, node: exp.Expr, clause: str, grouping: Grouping | None, projected_by: str | None
) -> None:
    """Reports aggregate functions of one item of ORDER BY; `scope` sees the output columns as aliases.

    `projected_by`: what put another projection over the groups, if anything.
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


def check_sorted_keys(scope: SelectScope, node: exp.Expr, clause: str, grouping: Grouping, projected_by: str) -> None:
    """Behind another projection over the groups, of their keys only columns can be sorted by, no expressions."""
    for column in own_nodes(node):
        bound = scope.bound.get(id(column))
        if bound is None or bound.is_alias or bound.depth or bound.key is None or is_aggregated(column):
            continue
        if bound.key[:2] not in grouping.keys:
            message = f"`{column.name}` is not in the select list, which {clause} sees alone beside {projected_by}"
            scope.report("PEN3004", column, message, "select the expression, and sort by its alias")


def check_sorted_sets(scope: SelectScope, node: exp.Expr, clause: str, outputs: Sequence[Attribute]) -> None:
    """Behind ROLLUP, CUBE and GROUPING SETS only columns that are selected can be sorted by, without aggregates."""
    counts = Counter(output.name.lower() for output in outputs)
    selected = {output.identity for output in outputs if output.identity is not None}
    for column in own_nodes(node):
        if not isinstance(column, exp.Column):
            continue
        bound = scope.bound.get(id(column))
        if bound is None or bound.is_alias or bound.depth or bound.key is None:
            continue
        is_doubled = len(column.parts) == 1 and counts[column.name.lower()] > 1
        if is_aggregated(column) and not is_doubled:
            continue
        if bound.key[:2] not in selected or is_doubled:
            missing = "is the name of several columns of" if is_doubled else "is not in"
            message = f"`{column.name}` {missing} the select list, which {clause} sees alone behind grouping sets"
            scope.report("PEN3004", column, message, "select it, or sort by the alias of what is selected")


def projected_by(
    scope: SelectScope, select: exp.Select, items: Sequence[Item], grouping: Grouping | None
) -> str | None:
    """The operation between the groups and ORDER BY, which then sees only output columns and grouped ones."""
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
        selected |= {attribute.identity for attribute in item.attributes if attribute.identity is not None}
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
    if (
        isinstance(node, exp.Filter)
        or (is_aggregate(node) and not has_over(node))
        or is_grouping_function(node)
        or key in grouping.keys
    ):
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
