"""Calls, and the clauses around them: FILTER, WITHIN GROUP, OVER; lambda functions."""

from sqlglot import exp

from catalog.types.datatypes import BOOLEAN, DOUBLE, UNKNOWN, Array, DataType, Interval
from sql.expressions.walk import infer
from sql.functions.argument_kinds import kind
from sql.functions.resolve import infer_call
from sql.parsing.call_names import call_name
from sql.types.expression_type import NOT_KNOWN, Scope, Typed


def infer_function(node: exp.Anonymous, scope: Scope) -> Typed:
    name = call_name(node).lower()
    if name in ("percentile_cont", "percentile_disc") and not isinstance(node.parent, exp.WithinGroup):
        scope.report("PEN3011", node, f"`{name}` needs WITHIN GROUP (ORDER BY …)")
    return infer_call(node, scope, infer)


def infer_arrow(node: exp.JSONExtract, scope: Scope) -> Typed:
    """`(x -> x)` in brackets or alone, which sqlglot takes for a path in JSON."""
    scope.report("PEN3011", node, "a lambda function may only be an argument of a function that takes one")
    return NOT_KNOWN


def infer_lambda(node: exp.Lambda, scope: Scope) -> Typed:
    """A lambda function where none is taken: its names are bound, nothing is known of it."""
    if not isinstance(node.parent, exp.Anonymous):
        scope.report("PEN3011", node, "a lambda function may only be an argument of a function that takes one")
    with scope.bind({expression.name: NOT_KNOWN for expression in node.expressions}):
        infer(node.this, scope)
    return NOT_KNOWN


def infer_filter(node: exp.Filter, scope: Scope) -> Typed:
    found = infer(node.this, scope)
    condition = node.expression.this
    typed = infer(condition, scope)
    if typed.type not in (BOOLEAN, UNKNOWN):
        scope.report("PEN3008", condition, f"a condition is boolean, this is {typed.type}")
    return found


def infer_within_group(node: exp.WithinGroup, scope: Scope) -> Typed:
    found = infer(node.this, scope)
    ordered = [infer(expression.this, scope) for expression in node.expression.expressions]
    function = node.this
    name = call_name(function).lower() if isinstance(function, exp.Anonymous) else ""
    if len(ordered) != 1 or ordered[0].type == UNKNOWN:
        return found if name in ("listagg", "string_agg") else NOT_KNOWN
    type = ordered[0].type
    if name == "mode":
        return Typed(type)
    if name in ("percentile_cont", "percentile_disc"):
        if not kind("number_or_interval").takes(type):
            scope.report("PEN3008", node.expression, f"`{name}` orders numbers or intervals, this is {type}")
            return NOT_KNOWN
        result: DataType = DOUBLE
        if isinstance(type, Interval):
            result = Interval("year", "month") if type.is_year_month else Interval("day", "second")
        many = bool(function.expressions) and _is_array(function.expressions[0])
        return Typed(Array(result, False) if many else result)
    return found


def _is_array(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and call_name(node).lower() == "array"


def infer_window(node: exp.Window, scope: Scope) -> Typed:
    scope.window(node)
    inner = node.this
    if isinstance(inner, exp.Identifier):
        return NOT_KNOWN
    found = infer(inner, scope)
    for key in node.args.get("partition_by") or ():
        infer(key, scope)
    order = node.args.get("order")
    for expression in order.expressions if order is not None else ():
        infer(expression.this, scope)
    return found
