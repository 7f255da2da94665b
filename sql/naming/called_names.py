"""Calls of functions and lambda functions."""

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from sql.naming.dispatch import pretty
from sql.naming.function_names import DEFAULTS, LAMBDA_VARIABLE, RENAMED, SHOWN, TRIMS, UNITS, UPPER
from sql.parsing.call_names import call_name
from sql.types.expression_type import Scope


def pretty_call(node: exp.Anonymous, scope: Scope) -> str:
    name = call_name(node).lower()
    distinct = any(isinstance(expression, exp.Distinct) for expression in node.expressions)
    nodes: list[exp.Expr] = []
    for operand in scope.printed.arguments(node):
        nodes += operand.expressions if isinstance(operand, exp.Distinct) else [operand]
    args = [text for argument in nodes for text in scope.printed.texts(argument) or (pretty(argument, scope),)]
    special = SPECIAL.get(name)
    found = special(args, nodes) if special is not None else _formatted(name, args, scope.printed.shape(node))
    if found is not None:
        return found
    if len(args) == 3 and name in UNITS:
        name = UNITS[name]
    if name == "from_json" and scope.printed.shape(node) == "map":
        return "entries"
    name = RENAMED.get(name, name)
    if name == "string_agg" and isinstance(node.parent, exp.WithinGroup):
        name = "listagg"
    args = args[: SHOWN.get(name, len(args))]
    if scope.printed.shape(node) == "binary" and name in ("lpad", "rpad") and len(args) == 2:
        args.append("X'00'")
    count, defaults = DEFAULTS.get(name, (0, ()))
    missing = max(count - len(args), 0)
    if missing and missing <= len(defaults):
        args = args + list(defaults[len(defaults) - missing :])
    if name in ("rank", "dense_rank", "percent_rank"):
        return f"{name.upper()}()"
    shown = name.upper() if name in UPPER else name
    return f"{shown}({'DISTINCT ' if distinct else ''}{', '.join(args)})"


def _formatted(name: str, args: list[str], family: object) -> str | None:
    """`to_char` and `to_varchar`, which are other functions for dates and binaries."""
    if name not in ("to_char", "to_varchar") or len(args) != 2:
        if len(args) < 4 and name in ("make_timestamp_ltz", "try_make_timestamp_ltz"):
            return f"make_timestamp({', '.join(args)})"
        is_tried = name == "try_make_timestamp_ntz" and len(args) == 2
        return f"try_make_timestamp_ntz(make_timestamp_ntz({', '.join(args)}))" if is_tried else None
    if family in ("date", "timestamp", "timestamp_ntz"):
        return f"date_format({args[0]}, {args[1]})"
    if family != "binary":
        return f"to_char({args[0]}, {args[1]})"
    if name == "to_varchar":
        return f"to_varchar({args[0]}, {args[1]})"
    encoding = args[1].lower()
    return f"{encoding}({args[0]})" if encoding in ("base64", "hex") else f"decode({args[0]}, {args[1]})"


def pretty_lambda(node: exp.Lambda, scope: Scope) -> str:
    variables = [LAMBDA_VARIABLE] * len(node.expressions)
    return f"lambdafunction({', '.join([pretty(node.this, scope), *variables])})"


def _aggregate(name: str, args: list[str]) -> str | None:
    """The finish function that stands for none is one that gives back its argument."""
    if len(args) != 3:
        return None
    return f"{name}({', '.join(args)}, lambdafunction({LAMBDA_VARIABLE}, {LAMBDA_VARIABLE}))"


def _mode(args: list[str]) -> str | None:
    return {"true": f"mode() WITHIN GROUP (ORDER BY {args[0]} DESC)", "false": f"mode({args[0]})"}.get(args[1])


def _whens(args: Sequence[str]) -> str:
    pairs = [f"WHEN {args[at]} THEN {args[at + 1]} " for at in range(0, len(args) - 1, 2)]
    return "".join(pairs) + (f"ELSE {args[-1]} " if len(args) % 2 else "")


Special = Callable[[list[str], Sequence[exp.Expr]], str | None]


def _trim(name: str) -> Special:
    side = TRIMS[name]
    return lambda args, nodes: f"TRIM({side} {args[0]} FROM {args[1]})" if len(args) == 2 and side else None


def _cast_call(args: list[str], nodes: Sequence[exp.Expr]) -> str | None:
    return args[0] if len(args) == 1 else None


def _like(args: list[str], nodes: Sequence[exp.Expr]) -> str | None:
    if len(args) not in (2, 3):
        return None
    return f"{args[0]} LIKE {args[1]}" + (f" ESCAPE '{args[2]}'" if len(args) == 3 else "")


SPECIAL: Final[dict[str, Special]] = {
    **{name: _trim(name) for name in TRIMS},
    **dict.fromkeys(
        ("bigint", "int", "smallint", "tinyint", "float", "double", "decimal", "boolean", "string", "binary", "date",
         "timestamp", "time"),
        _cast_call,
    ),
    "when": lambda args, nodes: f"CASE {_whens(args)}END",
    "if": lambda args, nodes: f"(IF({', '.join(args)}))",
    "isnull": lambda args, nodes: f"({args[0]} IS NULL)" if len(args) == 1 else None,
    "isnotnull": lambda args, nodes: f"({args[0]} IS NOT NULL)" if len(args) == 1 else None,
    "positive": lambda args, nodes: f"(+ {args[0]})" if len(args) == 1 else None,
    "ceil": lambda args, nodes: f"CEIL({args[0]})" if len(args) == 1 else None,
    "floor": lambda args, nodes: f"FLOOR({args[0]})" if len(args) == 1 else None,
    "log": lambda args, nodes: f"LOG(E(), {args[0]})" if len(args) == 1 else None,
    "lag": lambda args, nodes: "lag(NULL, 1, NULL)" if not args else None,
    "lead": lambda args, nodes: "lead(NULL, 1, NULL)" if not args else None,
    "like": _like,
    "dateadd": lambda args, nodes: f"date_add({args[0]}, {args[1]})" if len(args) == 2 else None,
    "datepart": lambda args, nodes: f"datepart({args[0]} FROM {args[1]})" if len(args) == 2 else None,
    "extract": lambda args, nodes: f"extract({args[0]} FROM {args[1]})" if len(args) == 2 else None,
    "raise_error": lambda args, nodes: f"raise_error(USER_RAISED_EXCEPTION, map(errorMessage, {args[0]}))"
    if len(args) == 1
    else None,
    "assert_true": lambda args, nodes: f"assert_true({args[0]}, '{args[0]}' is not true!)" if len(args) == 1 else None,
    "aggregate": lambda args, nodes: _aggregate("aggregate", args),
    "reduce": lambda args, nodes: _aggregate("reduce", args),
    "convert_timezone": lambda args, nodes: f"convert_timezone(current_timezone(), {args[0]}, {args[1]})"
    if len(args) == 2
    else None,
    "mode": lambda args, nodes: _mode(args) if len(args) == 2 else None,
    "uuid": lambda args, nodes: "uuid()",
    "try_to_time": lambda args, nodes: f"try_to_time(to_time({', '.join(args)}))",
    "shuffle": lambda args, nodes: f"shuffle({args[0]})" if args else None,
    "unix_timestamp": lambda args, nodes: f"unix_timestamp({args[0]}, yyyy-MM-dd HH:mm:ss)" if len(args) == 1 else None,
}  # fmt: skip
