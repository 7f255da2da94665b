"""OVER: which functions may have it, and what Spark allows of its order and frame."""

from math import inf
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import (
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    VARIANT,
    VOID,
    DataType,
    Interval,
    Map,
    is_numeric,
)
from sql.binding.ordering import is_all
from sql.expressions import infer, is_aggregate, is_window_only
from sql.parsing.call_names import call_name
from sql.scopes.misplaced_functions import own_nodes
from sql.scopes.scope import SelectScope, is_aggregated
from sql.types.casts import can_cast
from sql.types.expression_type import Typed
from sql.types.text_values import may_be

_DAYS: Final = Interval("day", "day")
_WHOLE_PARTITION: Final = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")
"""Functions whose frame is ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW and no other."""


def check_window(scope: SelectScope, window: exp.Window) -> None:
    """Report what Spark refuses in a function with OVER, after its parts were typed."""
    alias = window.args.get("alias")
    named = scope.windows.get(alias.name.lower()) if alias is not None else None
    if alias is not None and any(window.args.get(key) for key in ("partition_by", "order", "spec")):
        scope.report("PEN3001", alias, "a named window takes no clauses of its own", "name it without brackets")
        return
    if alias is not None and named is None:
        return  # already reported
    definition = named or window
    order = definition.args.get("order")
    keys = [expression.this for expression in order.expressions] if order is not None else []
    if any(isinstance(key, exp.Var) and is_all(key) for key in keys) and not scope.relation.find(["all"])[0]:
        _refuse_all(scope, window)
        return
    for part in (*(definition.args.get("partition_by") or ()), *keys):
        type_ = infer(part, scope).type
        if isinstance(type_, Map) or type_ in (VARIANT, CALENDAR_INTERVAL):
            scope.report("PEN3008", part, f"a window cannot be ordered or divided by a value of type {type_}")
    spec = definition.args.get("spec")
    before = len(scope.binder.diagnostics)
    if spec is not None:
        _check_frame(scope, spec, keys)
    if len(scope.binder.diagnostics) > before:
        return
    _check_function(scope, window, ordered=order is not None, spec=spec)


def _refuse_all(scope: SelectScope, window: exp.Window) -> None:
    """ORDER BY ALL sorts a query; in OVER it names a column, which does not exist."""
    scope.report("PEN3004", window, "column `all` does not exist", "OVER has no ORDER BY ALL: name the columns")


def refuse_hidden_columns(scope: SelectScope, having: exp.Expr) -> None:
    """Report columns of HAVING next to a window function that an item of the select list hides.

    `select a, max(b) as a, rank() over (…) … having a > 1` is ambiguous, and `max(b)` not found if `b` is an alias.
    """
    for column in own_nodes(having):
        bound = scope.bound.get(id(column)) if isinstance(column, exp.Column) and len(column.parts) == 1 else None
        if bound is None or bound.is_alias or bound.depth:
            continue
        named = scope.aliases.get(column.name.lower(), ())
        if len(named) > 1:
            message = f"`{column.name}` is ambiguous: several columns of the select list have that name"
            scope.report("PEN3003", column, message, "give each an alias of its own")
        elif named and named[0].identity is None and is_aggregated(column):
            message = f"`{column.name}` is an alias of the select list, which hides the column beside a window function"
            scope.report("PEN3011", column, message, "give the item another alias")


def window_function(window: exp.Window) -> exp.Expr:
    """The function of an OVER clause, without FILTER and IGNORE NULLS around it."""
    node: exp.Expr = window.this
    while isinstance(node, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)):
        node = node.this
    return node


def _check_function(scope: SelectScope, window: exp.Window, *, ordered: bool, spec: exp.Expr | None) -> None:
    function = window_function(window)
    if not isinstance(function, exp.Anonymous):
        return
    name = call_name(function).lower()
    if isinstance(window.this, exp.Filter):
        scope.report(
            "PEN3017", window.this, "Spark has no FILTER on a window function", "use CASE WHEN in its argument"
        )
    if any(isinstance(expression, exp.Distinct) for expression in function.expressions):
        scope.report("PEN3017", function, "Spark has no DISTINCT in a window function")
    if _takes_whole_partition(name, window) and (ordered or spec is not None):
        scope.report("PEN3017", function, f"{name}() takes neither ORDER BY nor a frame in its window")
    elif is_window_only(function):
        if not ordered:
            scope.report("PEN3011", window, f"{name}() needs an ORDER BY in its window")
        elif spec is not None and name in ("lag", "lead"):
            scope.report("PEN3017", function, f"{name}() takes no window frame")
        elif spec is not None and name in _WHOLE_PARTITION and not _is_running(spec):
            scope.report("PEN3017", function, f"{name}() takes no window frame of another kind than its own")
    elif not is_aggregate(function) and not scope.binder.has_error("PEN3006", function):
        scope.report("PEN3011", function, f"{name}() is neither an aggregate nor a window function: it takes no OVER")


def _takes_whole_partition(name: str, window: exp.Window) -> bool:
    is_ordered_within = isinstance(window.this, exp.WithinGroup)
    return name in ("median", "percentile_cont", "percentile_disc") or (
        is_ordered_within and name in ("listagg", "string_agg")
    )


def _is_running(spec: exp.Expr) -> bool:
    start, end = _bounds(spec)
    return spec.args.get("kind", "").upper() == "ROWS" and _position(*start) == -inf and _position(*end) == 0


_Bound = tuple[object, str]


def _bounds(spec: exp.Expr) -> tuple[_Bound, _Bound]:
    """Both ends of a frame; where only the first is written, the current row is the second."""
    args = spec.args
    start = args.get("start"), (args.get("start_side") or "").upper()
    end = args.get("end") or "CURRENT ROW", (args.get("end_side") or "").upper()
    return start, end


def _position(bound: object, side: str) -> float | None:
    """The offset of a bound from the current row; None if it is no literal number."""
    sign = -1 if side == "PRECEDING" else 1
    if isinstance(bound, str):
        return 0 if bound.upper() == "CURRENT ROW" else sign * inf
    if isinstance(bound, exp.Literal) and not bound.is_string:
        return sign * float(bound.name.rstrip("lLsSyYdDfF") or 0)
    return None


def _check_frame(scope: SelectScope, spec: exp.Expr, keys: list[exp.Expr]) -> None:
    (start, start_side), (end, end_side) = _bounds(spec)
    first, last = _position(start, start_side), _position(end, end_side)
    is_backward = bool(first and last and first > last)  # Spark compares no bound with CURRENT ROW
    if first == inf or last == -inf or is_backward:
        at = next((bound for bound in (start, end) if isinstance(bound, exp.Expr)), spec)
        scope.report("PEN3017", at, "this window frame ends before it begins")
        return
    values = [bound for bound in (start, end) if isinstance(bound, exp.Expr)]
    typed = [(value, infer(value, scope)) for value in values]
    for node, _ in typed:
        if any(_varies(part) for part in own_nodes(node)):
            scope.report("PEN3017", node, "a bound of a window frame is a constant")
            return
    if (spec.args.get("kind") or "").upper() == "ROWS":
        for node, found in typed:
            if found.type not in (INT, UNKNOWN):
                scope.report("PEN3008", node, f"a bound of ROWS is an INT, this is {found.type}")
    elif typed:
        _check_range(scope, spec, keys, typed)


def _varies(node: exp.Expr) -> bool:
    """Whether a node is no constant to the parser, which calls no function but `+x`."""
    return isinstance(node, exp.Column) or (isinstance(node, exp.Anonymous) and call_name(node).lower() != "positive")


def _check_range(scope: SelectScope, spec: exp.Expr, keys: list[exp.Expr], typed: list[tuple[exp.Expr, Typed]]) -> None:
    if len(keys) != 1:
        many = "one ORDER BY expression, not several" if keys else "an ORDER BY"
        scope.report("PEN3017", typed[0][0], f"a RANGE frame with a value needs {many}")
        return
    key = infer(keys[0], scope).type
    for node, found in typed:
        if key not in (DATE, TIMESTAMP, TIMESTAMP_NTZ, found.type):
            scope.printed.note_shape(node, "cast")
    sides = {id(bound): side for bound, side in _bounds(spec)}
    for node, found in typed:
        is_negated = sides[id(node)] == "PRECEDING"
        target = DOUBLE if is_negated else key  # a text before the current row is negated as a double
        is_text = found.type == STRING and isinstance(found.value, str) and is_numeric(key)
        if is_text and len(typed) == len(sides) and not may_be(str(found.value).strip(), target):  # Spark compares them
            scope.report("PEN3013", node, f"'{found.value}' cannot be cast to {target}, as a bound of RANGE is")
        elif not _may_range(key, found.type) or (is_negated and found.type == BOOLEAN):
            scope.report("PEN3008", node, f"a RANGE frame over {key} cannot have a bound of type {found.type}")
            return
    types = [_as_key(key, found.type) for _, found in typed]
    if len(types) == len(sides) and UNKNOWN not in types and types[0] != types[1]:
        message = f"the bounds of a RANGE frame over {key} are of one type, these are {types[0]} and {types[1]}"
        scope.report("PEN3008", typed[1][0], message, "write both in one unit")


def _as_key(key: DataType, bound: DataType) -> DataType:
    """The type of a bound once Spark has cast it to that of the key, which it does but for dates and timestamps."""
    return bound if key in (DATE, TIMESTAMP, TIMESTAMP_NTZ) or not can_cast(bound, key) else key


def _may_range(key: DataType, bound: DataType) -> bool:
    if UNKNOWN in (key, bound):
        return True
    if key == DATE:
        is_days = isinstance(bound, Interval) and (bound.is_year_month or bound == _DAYS)
        return bound in (INT, CALENDAR_INTERVAL) or is_days
    if key in (TIMESTAMP, TIMESTAMP_NTZ):
        return isinstance(bound, Interval) or bound == CALENDAR_INTERVAL
    if is_numeric(key):
        return is_numeric(bound) or isinstance(bound, Interval) or bound in (STRING, BOOLEAN, VOID)
    return isinstance(key, Interval) and isinstance(bound, Interval)
