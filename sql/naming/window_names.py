"""Window functions and their frames, and what else follows a call: orders, FILTER, WITHIN GROUP, IGNORE NULLS."""

from typing import Final

from sqlglot import exp

from sql.naming.dispatch import pretty, pretty_all
from sql.parsing.call_names import call_name
from sql.types.expression_type import Scope

RANKINGS: Final = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "ntile"))


def pretty_window(node: exp.Window, scope: Scope) -> str:
    window = scope.window(node) or node
    function = node.this
    parts: list[str] = []
    partition = window.args.get("partition_by") or node.args.get("partition_by")
    order = window.args.get("order") or node.args.get("order")
    if partition:
        parts.append("PARTITION BY " + ", ".join(pretty_all(partition, scope)))
    if order is not None:
        parts.append("ORDER BY " + ", ".join(pretty_all(order.expressions, scope)))
    spec = window.args.get("spec") or node.args.get("spec")
    parts.append(_frame(function, spec, order is not None, scope))
    return f"{pretty(function, scope)} OVER ({' '.join(parts)})"


def _frame(function: exp.Expr, spec: exp.Expr | None, is_ordered: bool, scope: Scope) -> str:
    while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        function = function.this
    name = call_name(function).lower() if isinstance(function, exp.Anonymous) else ""
    if name in ("lag", "lead") and isinstance(function, exp.Anonymous):
        offset = pretty(function.expressions[1], scope) if len(function.expressions) > 1 else "1"
        offset = _minus(offset) if name == "lag" else offset
        return f"ROWS BETWEEN {offset} FOLLOWING AND {offset} FOLLOWING"
    if spec is not None:
        kind = str(spec.args["kind"]).upper()
        start = _bound(spec.args["start"], spec.args.get("start_side"), kind, scope)
        end = spec.args.get("end")
        last = "CURRENT ROW" if end is None else _bound(end, spec.args.get("end_side"), kind, scope)
        return f"{kind} BETWEEN {start} AND {last}"
    if name in RANKINGS:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    if is_ordered:
        return "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def _minus(text: str) -> str:
    if text.lstrip("-").isdigit():
        return str(-int(text))
    return f"(- {text})"


def _bound(bound: object, side: object, kind: str, scope: Scope) -> str:
    if isinstance(bound, exp.Expr):
        text = pretty(bound, scope)
        if scope.printed.shape(bound) == "cast" and str(side).upper() == "PRECEDING":
            return f"(- {text}) FOLLOWING"
        return f"{text} {str(side).upper()}"
    return f"{bound} {side}".upper() if str(bound).upper() == "UNBOUNDED" else str(bound).upper()


def pretty_ordered(node: exp.Ordered, scope: Scope) -> str:
    descending = bool(node.args.get("desc"))
    first = node.args.get("nulls_first")
    nulls_first = (not descending) if first is None else bool(first)
    return f"{pretty(node.this, scope)} {'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"


def pretty_within_group(node: exp.WithinGroup, scope: Scope) -> str:
    function = pretty(node.this, scope)
    ordered = node.expression.expressions
    if function.startswith("listagg"):
        return f"{function} WITHIN GROUP (ORDER BY {', '.join(pretty_all(ordered, scope))})"
    descending = any(key.args.get("desc") for key in ordered)
    if function.startswith("mode"):
        descending = not descending
    inner = ", ".join(pretty(key.this, scope) for key in ordered)
    return f"{function} WITHIN GROUP (ORDER BY {inner}{' DESC' if descending else ''})"


def pretty_filter(node: exp.Filter, scope: Scope) -> str:
    return f"{pretty(node.this, scope)} FILTER (WHERE {pretty(node.expression.this, scope)})"


def pretty_ignoring_nulls(node: exp.IgnoreNulls, scope: Scope) -> str:
    """Spark prints `first_value(x) IGNORE NULLS` as `first(x)`, and tells of `nth_value` only that it ignores any."""
    shown = pretty(node.this, scope)
    if shown.startswith("nth_value("):
        return f"{shown} ignore nulls"
    return shown.replace("_value(", "(", 1) if shown.startswith(("first_value(", "last_value(")) else shown
