"""ORDER BY, SORT BY, DISTRIBUTE BY, CLUSTER BY, LIMIT and OFFSET."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from catalog.datatypes import INTEGRAL_TYPES, UNKNOWN, VARIANT
from sql.expressions import infer
from sql.scopes.lineage import Dependency, Origins, through
from sql.scopes.misplaced_functions import find_special, refuse_misplaced
from sql.scopes.relations import Attribute, merge
from sql.scopes.scope import SelectScope
from sql.types.operators import is_orderable

CLAUSES = {"order": "ORDER BY", "sort": "SORT BY", "distribute": "DISTRIBUTE BY", "cluster": "CLUSTER BY"}


def bind_order(
    scope: SelectScope,
    node: exp.Expr,
    outputs: Sequence[Attribute],
    check: Callable[[exp.Expr, str], None] | None = None,
) -> Origins:
    """Types what a query is sorted or distributed by; `check` is asked of each expression that is no ordinal."""
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
    number = ordinal(node)
    if number is not None and clause in ("ORDER BY", "SORT BY"):
        if not 1 <= number <= len(outputs):
            if not scope.relation.is_open or outputs:
                scope.report("PEN3019", node, f"{clause} {number}: the query has {len(outputs)} columns")
            return ()
        return outputs[number - 1].origins
    for generator in find_special(node).generators:
        scope.report("PEN3011", generator, f"a generator is not allowed in {clause}")
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
        elif typed.type not in INTEGRAL_TYPES and typed.type != UNKNOWN:
            scope.report("PEN3017", body, f"{clause} takes a constant integer, this is {typed.type}")
        elif isinstance(body, exp.Neg) or (isinstance(typed.value, int) and typed.value < 0):
            scope.report("PEN3017", body, f"{clause} must not be negative")
