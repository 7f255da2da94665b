"""Checks clauses of a call (DISTINCT, FILTER, IGNORE NULLS, WITHIN GROUP), and the range of constant arguments."""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Final

from sqlglot import exp

from sql.functions.catalogue import Signature, flags, signatures
from sql.parsing.call_names import call_name
from sql.parsing.tree_nodes import classes_of
from sql.recognizer.identifier_clause import TEXT_FUNCTIONS
from sql.types.expression_type import Scope

_INT: Final = 2**31 - 1
_PERCENTAGE: Final = (0.0, 1.0)
RANGES: Final[Mapping[str, Mapping[int, tuple[float, float]]]] = {
    "percentile": {1: _PERCENTAGE},
    "percentile_cont": {0: _PERCENTAGE},
    "percentile_disc": {0: _PERCENTAGE},
    "percentile_approx": {1: _PERCENTAGE, 2: (1, _INT)},
    "approx_percentile": {1: _PERCENTAGE, 2: (1, _INT)},
    "histogram_numeric": {1: (2, _INT)},
    "approx_count_distinct": {1: (0.000017, 0.39)},
    "ntile": {0: (1, _INT)},
    "nth_value": {1: (1, inf)},
    "regexp_replace": {3: (1, _INT)},
    "stack": {0: (1, _INT)},
    "kll_merge_agg_bigint": {1: (8, 65535)},
    "kll_merge_agg_double": {1: (8, 65535)},
    "kll_merge_agg_float": {1: (8, 65535)},
    "kll_sketch_agg_bigint": {1: (8, 65535)},
    "kll_sketch_agg_double": {1: (8, 65535)},
    "kll_sketch_agg_float": {1: (8, 65535)},
}
"""By function and argument (0-based): the least and the greatest value of a constant."""


_AROUND: Final = classes_of(exp.Filter, exp.IgnoreNulls, exp.WithinGroup)


def check_modifiers(node: exp.Anonymous, signature: Signature, scope: Scope) -> None:
    """Reports a clause around the call that its function does not take."""
    name, around = signature.name, node.parent
    if name != "mode" and type(around) not in _AROUND and not _is_distinct(node):
        return
    is_aggregate = signature.kind == "aggregate"
    if not is_aggregate and signature.kind != "window" and _is_distinct(node):
        scope.report("PEN3011", node, f"`{name}` is not an aggregate function: it takes no DISTINCT")
    if isinstance(around, exp.Filter) and around.this is node and signature.kind == "scalar":
        scope.report("PEN3011", node, f"`{name}` is not an aggregate function: it takes no FILTER")
    if isinstance(around, exp.IgnoreNulls) and "ignore_nulls" not in signature.flags:
        scope.report("PEN3017", node, f"`{name}` takes no IGNORE NULLS")
    if isinstance(around, exp.WithinGroup):
        _check_group(name, node, around, scope)
    elif name == "mode" and _is_distinct(node):
        scope.report("PEN3017", node, "`mode` takes no DISTINCT")
    elif name == "mode" and not node.expressions:
        scope.report("PEN3011", node, "`mode()` needs WITHIN GROUP (ORDER BY …), or the column in its brackets")


def _check_group(name: str, node: exp.Anonymous, around: exp.WithinGroup, scope: Scope) -> None:
    keys = around.expression.expressions
    if "within_group" not in flags(name, scope.spark):
        scope.report("PEN3017", node, f"`{name}` takes no WITHIN GROUP")
    elif name == "mode" and node.expressions:
        help = "write `mode() WITHIN GROUP (ORDER BY …)`, or the column in the brackets alone"
        scope.report("PEN3017", node, "`mode` takes a column in its brackets, or WITHIN GROUP, not both", help)
    elif name not in ("listagg", "string_agg") and len(keys) != 1:
        scope.report("PEN3017", node, f"`{name}` orders by one expression, here are {len(keys)}")
    elif _is_distinct(node) and [key.this for key in keys] != node.expressions[0].expressions[:1]:
        scope.report("PEN3017", around.expression, f"`{name}` of DISTINCT values is ordered by these values alone")


UNITS: Final = frozenset(
    (
        *("year", "quarter", "month", "week", "day", "dayofyear"),
        *("hour", "minute", "second", "millisecond", "microsecond"),
    )
)


def check_unit(name: str, node: exp.Expr, scope: Scope) -> None:
    """The first argument of `timestampadd(DAY, 1, ts)` and similar functions."""
    if node.name.lower() not in UNITS or not isinstance(node, (exp.Column, exp.Var, exp.Identifier)):
        known = ", ".join(sorted(UNITS)).upper()
        scope.report("PEN3013", node, f"`{name}` takes a unit of time here, as a bare word", f"one of {known}")


def _is_distinct(node: exp.Anonymous) -> bool:
    return any(isinstance(expression, exp.Distinct) for expression in node.expressions)


_ENCODINGS: Final = frozenset(("hex", "utf8", "utf-8", "base64"))
_ONE_CHARACTER: Final = {"mask": (1, 2, 3, 4), "like": (2,), "ilike": (2,)}
"""By function: the arguments whose constants are one character."""


def _check_texts(name: str, nodes: list[exp.Expr], scope: Scope) -> None:
    for index, node in enumerate(nodes):
        if not isinstance(node, exp.Literal) or not node.is_string:
            continue
        if name == "to_binary" and index == 1 and node.name.lower() not in _ENCODINGS:
            scope.report("PEN3013", node, f"`{name}` takes hex, utf-8 or base64 here, this is '{node.name}'")
        elif name == "identifier":  # one that is a name was read as that name
            scope.report("PEN3001", node, f"'{node.name}' is no name", "a name has letters, digits, `_` and dots")
        elif name in ("format_string", "printf") and index == 0 and "%0$" in node.name:
            scope.report("PEN3013", node, f"`{name}` counts its arguments from `%1$`, here is `%0$`")
        elif index in _ONE_CHARACTER.get(name, ()) and len(node.name) != 1:
            scope.report("PEN3013", node, f"`{name}` takes one character here, this is '{node.name}'")


def _is_null(node: exp.Expr) -> bool:
    """Whether a constant text is NULL, as `concat('a', NULL)`."""
    match node:
        case exp.Null():
            return True
        case exp.Paren() | exp.Cast():
            return _is_null(node.this)
        case exp.DPipe():
            return _is_null(node.this) or _is_null(node.expression)
        case exp.Anonymous():
            name, arguments = call_name(node).lower(), node.expressions
            return any(map(_is_null, arguments if name in TEXT_FUNCTIONS else arguments[: name == "concat_ws"]))
        case _:
            return False


def check_values(name: str, nodes: list[exp.Expr], scope: Scope) -> None:
    """Reports a constant argument outside of what its function takes."""
    _check_texts(name, nodes, scope)
    if name == "identifier" and not isinstance(nodes[0], exp.Null) and _is_null(nodes[0]):
        scope.report("PEN3013", nodes[0], "`identifier` takes the text of a name, this is NULL")
    later = _computed_later(nodes[0]) if name == "identifier" else None
    if later is not None:
        scope.report("PEN3008", later, "`identifier` takes a constant, which Spark does not make of this")
    for index, (least, most) in RANGES.get(name, {}).items():
        for node in _each_constant(nodes[index]) if index < len(nodes) else ():
            value = _number(node)
            if value is not None and not least <= value <= most:
                wanted = f"between {least:g} and {most:g}" if most < _INT else f"{least:g} or more"
                scope.report("PEN3013", node, f"`{name}` takes a number {wanted} here, this is {value:g}")


_COMPUTED_LATER: Final = (exp.Between, exp.Lambda, exp.Collate, exp.CurrentUser, exp.SessionUser)
_NAMES_COMPUTED_LATER: Final = frozenset(
    (
        *("elt", "decode", "nullif", "nullifzero", "user", "current_user", "session_user", "current_timezone"),
        *("current_database", "current_schema", "current_catalog"),
    )
)


def _computed_later(node: exp.Expr) -> exp.Expr | None:
    """What the analyzer of Spark does not evaluate within a constant text."""
    for inner in node.walk():
        if isinstance(inner, _COMPUTED_LATER):
            return inner
        if isinstance(inner, exp.Anonymous):
            name = call_name(inner).lower()
            known = signatures(name)
            if name in _NAMES_COMPUTED_LATER or (known and known[0].kind in ("aggregate", "window")):
                return inner
    return None


def _each_constant(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Anonymous) and call_name(node).lower() == "array":
        for expression in node.expressions:
            yield from _each_constant(expression)
    else:
        yield node


def _number(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    return float(node.name) if isinstance(node, exp.Literal) and not node.is_string else None
