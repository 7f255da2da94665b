"""The name that Spark gives an expression without an alias (`toPrettySQL`): `sum(x)`, `(a + 1)`, `CAST(a AS INT)`."""

import math
import re
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal as Number
from functools import reduce
from typing import Final

from sqlglot import exp

from catalog.datatypes import Array as ArrayType
from catalog.datatypes import DataType as Type
from catalog.datatypes import Decimal, Field, Interval, Struct, Time
from catalog.datatypes import Map as MapType
from sql import intervals, literals
from sql.calls import call_name
from sql.operators import Mismatch
from sql.own_names import own_name
from sql.patterns import are_constant_patterns, patterns
from sql.rewritten import is_path, is_unknown_test, path_name
from sql.type_rules import to_type
from sql.typed import Scope

_UPPER_NAMES: Final = """
acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot csc degrees e exp expm1 hypot log10 log1p log2 pi power radians
regexp regexp_like rlike sec signum sin sinh spark_partition_id sqrt tan tanh log
"""
UPPER: Final = frozenset(_UPPER_NAMES.split())
"""Functions that Spark prints in capitals."""

RENAMED: Final = {
    "curdate": "current_date", "array_agg": "collect_list", "current_database": "current_schema",
    "random": "rand",
}  # fmt: skip

_V: Final = "namedlambdavariable()"
_ASCENDING: Final = (
    f"lambdafunction((IF((({_V} IS NULL) AND ({_V} IS NULL)), 0, (IF(({_V} IS NULL), 1, (IF(({_V} IS NULL), -1,"
    f" (IF(({_V} < {_V}), -1, (IF(({_V} > {_V}), 1, 0)))))))))), {_V}, {_V})"
)
"""The comparison that Spark writes into `array_sort(x)`."""

DEFAULTS: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "aes_decrypt": (5, ("GCM", "DEFAULT", "")), "aes_encrypt": (6, ("GCM", "DEFAULT", "", "")),
    "try_aes_decrypt": (5, ("GCM", "DEFAULT", "")), "approx_percentile": (3, ("10000",)),
    "percentile_approx": (3, ("10000",)), "percentile": (3, ("1",)), "approx_top_k": (3, ("5", "10000")),
    "approx_top_k_accumulate": (2, ("10000",)), "round": (2, ("0",)), "bround": (2, ("0",)),
    "current_time": (1, ("6",)), "from_unixtime": (2, ("yyyy-MM-dd HH:mm:ss",)), "hll_sketch_agg": (2, ("12",)),
    "hll_union": (3, ("false",)), "hll_union_agg": (2, ("false",)), "listagg": (2, ("NULL",)),
    "string_agg": (2, ("NULL",)),    "approx_top_k_estimate": (2, ("5",)),
    "locate": (3, ("1",)), "position": (3, ("1",)), "lpad": (3, (" ",)), "rpad": (3, (" ",)),
    "make_dt_interval": (4, ("0", "0", "0", "0.000000")), "make_ym_interval": (2, ("0", "0")),
    "make_interval": (7, ("0", "0", "0", "0", "0", "0", "0.000000")),
    "try_make_interval": (7, ("0", "0", "0", "0", "0", "0", "0.000000")),
    "mask": (5, ("X", "x", "n", "NULL")), "months_between": (3, ("true",)), "overlay": (4, ("-1",)),
    "regexp_extract": (3, ("1",)), "regexp_extract_all": (3, ("1",)), "regexp_instr": (3, ("0",)),
    "regexp_replace": (4, ("1",)), "replace": (3, ("",)), "sentences": (3, ("", "")), "sort_array": (2, ("true",)),
    "split": (3, ("-1",)), "str_to_map": (3, (",", ":")), "substr": (3, ("2147483647",)),
    "substring": (3, ("2147483647",)), "theta_sketch_agg": (2, ("12",)), "theta_union": (3, ("12",)),
    "theta_union_agg": (2, ("12",)), "to_unix_timestamp": (2, ("yyyy-MM-dd HH:mm:ss",)), "lag": (3, ("1", "NULL")),
    "lead": (3, ("1", "NULL")), "unix_timestamp": (2, ("current_timestamp()", "yyyy-MM-dd HH:mm:ss")),
    "ntile": (1, ("1",)), "array_sort": (2, (_ASCENDING,)),
}  # fmt: skip
"""How many arguments Spark prints, and what stands for the last ones where they are not given."""

SHOWN: Final = {
    "from_json": 1, "ilike": 2, "from_xml": 1, "from_csv": 1, "to_json": 1, "to_csv": 1,
    "to_xml": 1, "schema_of_xml": 1,
    "schema_of_json": 1, "schema_of_csv": 1, "variant_get": 2, "try_variant_get": 2, "first": 1, "first_value": 1,
    "last": 1, "last_value": 1, "any_value": 1, "try_make_timestamp": 6, "hour": 1, "minute": 1, "second": 1,
    "approx_count_distinct": 1,
}  # fmt: skip
"""How many arguments Spark prints of calls whose last ones are options."""

TRIMS: Final = {"trim": "BOTH", "btrim": "", "ltrim": "LEADING", "rtrim": "TRAILING"}
UNITS: Final = {
    "dateadd": "timestampadd", "date_add": "timestampadd", "datediff": "timestampdiff", "date_diff": "timestampdiff",
}  # fmt: skip
"""What a call with a unit (`dateadd(DAY, 1, ts)`) is printed as."""

LAMBDA_VARIABLE: Final = "namedlambdavariable()"
SHAPE: Final = "spark_shape"
"""The key in a node's meta under which the typer notes how a sum with dates is printed."""
STARRED: Final = "spark_starred"
"""The key in a star's meta under which the typer notes the names of the columns that it stands for."""
PLACED: Final = "spark_placed"
WORD: Final = "spark_word"


def output_name(node: exp.Expr, scope: Scope) -> str:
    """Spark's name of the expression."""
    match node:
        case exp.Paren():
            return output_name(node.this, scope)
        case exp.Column():
            return str(node.meta.get(WORD, node.name))
        case exp.Dot():
            top = node.this
            is_struct = isinstance(top, exp.Column)
            return node.name if is_struct else pretty(node, scope)
        case exp.Cast():
            inner = _without_parens(node.this)
            is_variant = isinstance(inner, exp.Bracket) and path_name(_path(inner, scope) or "") is not None
            is_column = isinstance(inner, exp.Column) and len(inner.parts) == scope.qualifier_length(inner) + 1
            is_named = is_variant or is_column or isinstance(inner, exp.Alias)
            if is_named and WORD not in inner.meta and pretty(node, scope).startswith(("CAST", "TRY_CAST")):
                return output_name(inner, scope)
            return pretty(node, scope)
        case exp.Anonymous() if call_name(node).lower() in ("window", "session_window"):
            return call_name(node).lower()
        case exp.Bracket() if (path := _path(node, scope)) is not None:
            return path_name(path) or pretty(node, scope)
        case _:
            return pretty(node, scope)


def _without_parens(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def pretty(node: exp.Expr | None, scope: Scope) -> str:
    """The expression as Spark prints it in names and messages."""
    if node is None:
        return ""
    printer = PRINTERS.get(type(node))
    return printer(node, scope) if printer is not None else node.sql("spark")


def _column(node: exp.Column, scope: Scope) -> str:
    if WORD in node.meta:
        return str(node.meta[WORD])
    parts = [part.name for part in node.parts]
    name = ".".join(parts[scope.qualifier_length(node) :])
    return f"lateralAliasReference({name})" if scope.is_lateral_alias(node) else name


def _literal(node: exp.Literal, scope: Scope) -> str:
    if node.is_string:
        return str(node.this)
    start, end = node.meta.get("start"), node.meta.get("end")
    return number_name(node.this if start is None or end is None else scope.text[start : end + 1])


def number_name(text: str) -> str:
    """A number literal as Java prints its value."""
    found = re.fullmatch(r"(?i)([0-9.]+(?:e[+-]?[0-9]+)?)(bd|[lsydf])?", text)
    if found is None:
        return text
    body, suffix = found.group(1), (found.group(2) or "").lower()
    if suffix == "f":
        return _java_double(_shortest_float(float(body)))
    if suffix == "d" or (not suffix and "e" in body.lower()):
        return _java_double(repr(float(body)))
    if suffix == "bd" or "." in body:
        number = Number(body)
        exponent = number.as_tuple().exponent
        return format(number, "f") if isinstance(exponent, int) and exponent > 0 else str(number)
    return str(int(body))


def _shortest_float(value: float) -> str:
    packed = struct.pack("f", value)
    return next(
        (text for size in range(1, 10) if struct.pack("f", float(text := f"{value:.{size}g}")) == packed), repr(value)
    )


def _java_double(text: str) -> str:
    value = float(text)
    if math.isinf(value):
        return "Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Number(text), "f")
        return plain if "." in plain else plain + ".0"
    digits = Number(text).normalize().as_tuple()
    first, rest = str(digits.digits[0]), "".join(map(str, digits.digits[1:])) or "0"
    assert isinstance(digits.exponent, int)
    return f"{'-' if digits.sign else ''}{first}.{rest}E{len(digits.digits) - 1 + digits.exponent}"


def _binary(symbol: str) -> "Printer":
    def printer(node: exp.Expr, scope: Scope) -> str:
        left, right = pretty(node.this, scope), pretty(node.expression, scope)
        if symbol == ">>" and scope.text[: _start(node.expression) or 0].rstrip(" (").endswith(">>>"):
            return f"({left} >>> {right})"
        match node.meta.get(SHAPE):
            case "interval":
                return _interval_sum(node)
            case "days":
                return f"date_{'add' if symbol == '+' else 'sub'}({left}, {right})"
            case "days_swapped":
                return f"date_add({right}, {left})"
            case "interval_days":
                extracted = f"extractansiintervaldays({right})"
                return f"date_add({left}, {extracted if symbol == '+' else f'(- {extracted})'})"
            case "interval_days_swapped":
                return f"date_add({right}, extractansiintervaldays({left}))"
            case "swapped":
                return f"({right} {symbol} {left})"
            case "moved":
                return f"{left} {symbol} {right}"
            case "whole":
                return f"({left} {symbol} {_whole(right, symbol)})"
            case "moved_swapped":
                return f"{right} {symbol} {left}"
            case "void":
                return f"(NULL {symbol} NULL)"
            case "void_left":
                return f"(NULL {symbol} {right})"
            case "void_right":
                return f"({left} {symbol} NULL)"
            case _:
                return f"({left} {symbol} {right})"

    return printer


def _whole(text: str, symbol: str) -> str:
    """An integer is compared with the whole number beside a decimal literal."""
    try:
        return str(math.ceil(Number(text)) if symbol in (">=", "<") else math.floor(Number(text)))
    except ArithmeticError:
        return text


def _interval_sum(node: exp.Expr) -> str:
    parts = [f"{each.this.name} {each.args['unit'].name}" for each in node.find_all(exp.Interval, bfs=False)]
    units = literals.units_of(node)
    amount = intervals.of_pairs(" ".join(parts))
    if amount is None or units is None:
        return node.sql("spark")
    try:
        type = literals.interval_of(units).type
    except Mismatch:
        return node.sql("spark")
    return intervals.to_sql(amount, type) if isinstance(type, Interval) else node.sql("spark")


def _interval(node: exp.Interval, scope: Scope) -> str:
    if literals.stands_alone(node, scope.text):
        return pretty(node.this, scope)
    try:
        type = literals.interval(node).type
    except Mismatch:
        return node.sql("spark")
    unit = node.args.get("unit")
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    if isinstance(node.this, exp.Neg):
        text = "-" + node.this.this.name
    if not isinstance(type, Interval) or not text:
        return node.sql("spark")
    if isinstance(unit, exp.IntervalSpan):
        amount = intervals.of_span(text, type)
    else:
        amount = intervals.of_pairs(text if unit is None else f"{text} {unit.name}")
    return node.sql("spark") if amount is None else intervals.to_sql(amount, type)


def _negated(symbol: str) -> "Printer":
    printer = _binary(symbol)
    return lambda node, scope: f"(NOT {printer(node, scope)})"


def _neg(node: exp.Neg, scope: Scope) -> str:
    inner = node.this
    if isinstance(inner, exp.Literal) or (isinstance(inner, exp.TryCast) and _issuffixed_number(inner, scope)):
        return "-" + pretty(inner, scope)
    return f"(- {pretty(inner, scope)})"


def _issuffixed_number(node: exp.Expr, scope: Scope) -> bool:
    return suffixed_number(node, scope) is not None


def suffixed_number(node: exp.Expr, scope: Scope) -> str | None:
    """The text of a number with a suffix, which sqlglot takes for a cast."""
    inner = node.this
    start, end = inner.meta.get("start"), inner.meta.get("end")
    if not isinstance(inner, exp.Literal):
        return None
    if start is None or end is None:
        is_decimal = inner.is_string and isinstance(node, exp.TryCast) and not node.args.get("safe")
        return f"{inner.this}BD" if is_decimal else None
    text = scope.text[start : end + 1]
    is_number = re.fullmatch(r"(?i)[0-9.]+(e[+-]?[0-9]+)?(bd|[lsydf])", text)
    return text if is_number else None


def _cast(node: exp.Expr, scope: Scope) -> str:
    suffixed = suffixed_number(node, scope)
    if suffixed is not None:
        return number_name(suffixed)
    target = to_type(node.args["to"])
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) and node.this.is_string and target is not None:
        return _typed_literal(target, node.this.this)
    if isinstance(target, (ArrayType, MapType, Struct)):
        return pretty(node.this, scope)  # Spark forgets that such a cast was written
    name = "TRY_CAST" if node.args.get("safe") else "CAST"
    written = type_name(target) if target is not None else node.args["to"].sql("spark")
    return f"{name}({pretty(node.this, scope)} AS {written})"


def _typed_literal(type: Type, text: str) -> str:
    name = str(type).upper()
    if isinstance(type, Time):
        return f"TIME '{_clock(text)}'"
    found = re.fullmatch(r"\s*(\d{4})-?(\d{1,2})?-?(\d{1,2})?(?:[T ]+(.*))?\s*", text)
    if found is None or name not in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        return f"{name} '{text}'"
    day = f"{found.group(1)}-{int(found.group(2) or 1):02d}-{int(found.group(3) or 1):02d}"
    return f"{name} '{day}'" if name == "DATE" else f"{name} '{day} {_clock(found.group(4) or '')}'"


def _clock(text: str) -> str:
    found = re.fullmatch(r"(\d{1,2}):?(\d{1,2})?:?(\d{1,2})?(?:\.(\d+))?", text.strip())
    if found is None:
        return text or "00:00:00"
    hour, minute, second = (int(each or 0) for each in found.groups()[:3])
    fraction = (found.group(4) or "")[:6].rstrip("0")
    return f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{fraction}" if fraction else "")


def type_name(type: Type) -> str:
    """A type as Spark prints it in capitals: `ARRAY<INT>`, `STRUCT<a: INT, b: STRING NOT NULL>`."""
    match type:
        case ArrayType(element):
            return f"ARRAY<{type_name(element)}>"
        case MapType(key, value):
            return f"MAP<{type_name(key)}, {type_name(value)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(_field_name(field) for field in fields)}>"
        case Decimal() | _:
            return str(type).upper()


def _field_name(field: Field) -> str:
    return f"{field.name}: {type_name(field.type)}" + ("" if field.nullable else " NOT NULL")


def _hex(node: exp.HexString, scope: Scope) -> str:
    digits = str(node.this).upper()
    return f"X'{'0' * (len(digits) % 2)}{digits}'"


def _case(node: exp.Case, scope: Scope) -> str:
    subject = pretty(node.this, scope) if node.this is not None else None
    text = "CASE"
    for branch in node.args["ifs"]:
        condition = pretty(branch.this, scope)
        text += f" WHEN {condition if subject is None else f'({subject} = {condition})'}"
        text += f" THEN {pretty(branch.args['true'], scope)}"
    default = node.args.get("default")
    return text + (f" ELSE {pretty(default, scope)}" if default is not None else "") + " END"


def _like(node: exp.Expr, scope: Scope) -> str:
    escape = ""
    if isinstance(node, exp.Escape):
        escape, node = f" ESCAPE '{node.expression.name}'", node.this
    pattern = node.expression
    left = pretty(node.this, scope)
    if isinstance(pattern, (exp.Any, exp.All)):
        return _quantified_like(node, pattern, left, scope)
    elif isinstance(node, exp.RegexpLike):
        text = f"RLIKE({left}, {pretty(pattern, scope)})"
    elif isinstance(node, exp.ILike):
        text = f"ilike({left}, {pretty(pattern, scope)})"
    else:
        text = f"{left} LIKE {pretty(pattern, scope)}{escape}"
    return f"(NOT {text})" if node.args.get("negate") else text


def _quantified_like(
    node: exp.Expr, pattern: exp.Any | exp.All, left: str, scope: Scope, *, negated: bool = False
) -> str:
    ilike = isinstance(node, exp.ILike)
    negated = negated or bool(node.args.get("negate"))
    if are_constant_patterns(pattern):
        name = f"{'not' if negated else ''}like{'any' if isinstance(pattern, exp.Any) else 'all'}"
        return f"{name}({f'lower({left})' if ilike else left})"
    word = "OR" if isinstance(pattern, exp.Any) else "AND"
    shown = [pretty(each, scope) for each in patterns(pattern)]
    tests = [f"ilike({left}, {each})" if ilike else f"{left} LIKE {each}" for each in shown]
    if negated:
        tests = [f"(NOT {each})" for each in tests]
    return reduce(lambda a, b: f"({a} {word} {b})", tests)


def _in(node: exp.In, scope: Scope) -> str:
    query = node.args.get("query")
    outer = ", ".join(scope.outer_names(query)) if query is not None else ""
    listed = [f"listquery({outer})"] if query is not None else [pretty(each, scope) for each in node.expressions]
    return f"({pretty(node.this, scope)} IN ({', '.join(listed)}))"


def _subquery(name: str) -> "Printer":
    """A subquery shows the columns of the query around it that it uses."""

    def printer(node: exp.Expr, scope: Scope) -> str:
        if isinstance(node, exp.Exists) and not isinstance(node.this, exp.Query):
            return f"{name}()"
        query = node.this if isinstance(node, exp.Exists) else node
        return f"{name}({', '.join(scope.outer_names(query))})"

    return printer


def _is(node: exp.Is, scope: Scope, negated: str = "") -> str:
    inner = pretty(node.this, scope)
    if isinstance(node.expression, exp.Boolean):
        test = f"({inner} <=> {pretty(node.expression, scope)})"
        return f"(NOT {test})" if negated else test
    is_unknown = is_unknown_test(scope.text, node) and _is_of_truth_values(node.this)
    return f"({inner} IS {negated}{'UNKNOWN' if is_unknown else 'NULL'})"


def _is_of_truth_values(node: exp.Expr) -> bool:
    """Of TRUE and FALSE alone; else Spark forgets that UNKNOWN was written."""
    return all(isinstance(each, (exp.Boolean, exp.And, exp.Or, exp.Not, exp.Paren)) for each in node.walk())


def _not(node: exp.Not, scope: Scope) -> str:
    inner = node.this
    if isinstance(inner, exp.Is) and not _is_before(node, scope):
        return _is(inner, scope, "NOT ")
    if isinstance(inner, (exp.Like, exp.ILike)) and isinstance(inner.expression, (exp.Any, exp.All)):
        left = pretty(inner.this, scope)
        return _quantified_like(inner, inner.expression, left, scope, negated=True)
    return f"(NOT {pretty(inner, scope)})"


_WITHOUT_NOT: Final = re.compile(r"[\s)\]]*(?:end\b[\s)\]]*)*is\s+(?!not\b)", re.IGNORECASE)


def _is_before(node: exp.Not, scope: Scope) -> bool:
    """Whether it is `NOT a IS NULL`, which sqlglot reads as `a IS NOT NULL`."""
    ends = [each.meta["end"] for each in node.this.this.walk() if "end" in each.meta]
    return bool(ends) and _WITHOUT_NOT.match(scope.text, max(ends) + 1) is not None


def _list(nodes: Sequence[exp.Expr], scope: Scope) -> list[str]:
    return [pretty(each, scope) for each in nodes]


def _ignoring_nulls(node: exp.IgnoreNulls, scope: Scope) -> str:
    """Spark prints `first_value(x) IGNORE NULLS` as `first(x)`, and tells of `nth_value` only that it ignores any."""
    shown = pretty(node.this, scope)
    if shown.startswith("nth_value("):
        return f"{shown} ignore nulls"
    return shown.replace("_value(", "(", 1) if shown.startswith(("first_value(", "last_value(")) else shown


def _call(node: exp.Anonymous, scope: Scope) -> str:
    name = call_name(node).lower()
    distinct = any(isinstance(each, exp.Distinct) for each in node.expressions)
    nodes: list[exp.Expr] = []
    for each in node.meta.get(PLACED, node.expressions):
        nodes += each.expressions if isinstance(each, exp.Distinct) else [each]
    args = [text for each in nodes for text in each.meta.get(STARRED) or (pretty(each, scope),)]
    special = SPECIAL.get(name)
    found = special(args, nodes) if special is not None else _formatted(name, args, node.meta.get(SHAPE))
    if found is not None:
        return found
    if len(args) == 3 and name in UNITS:
        name = UNITS[name]
    if name == "from_json" and node.meta.get(SHAPE) == "map":
        return "entries"
    name = RENAMED.get(name, name)
    if name == "string_agg" and isinstance(node.parent, exp.WithinGroup):
        name = "listagg"
    args = args[: SHOWN.get(name, len(args))]
    if node.meta.get(SHAPE) == "binary" and name in ("lpad", "rpad") and len(args) == 2:
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
        return "make_timestamp(" + ", ".join(args) + ")" if name == "make_timestamp_ltz" and len(args) < 4 else None
    if family in ("date", "timestamp", "timestamp_ntz"):
        return f"date_format({args[0]}, {args[1]})"
    if family != "binary":
        return f"to_char({args[0]}, {args[1]})"
    if name == "to_varchar":
        return f"to_varchar({args[0]}, {args[1]})"
    encoding = args[1].lower()
    return f"{encoding}({args[0]})" if encoding in ("base64", "hex") else f"decode({args[0]}, {args[1]})"


Special = Callable[[list[str], Sequence[exp.Expr]], str | None]


def _trim(name: str) -> Special:
    side = TRIMS[name]
    return lambda args, nodes: f"TRIM({side} {args[0]} FROM {args[1]})" if len(args) == 2 and side else None


def _cast_call(args: list[str], nodes: Sequence[exp.Expr]) -> str | None:
    return args[0] if len(args) == 1 else None


SPECIAL: Final[dict[str, Special]] = {
    **{name: _trim(name) for name in TRIMS},
    **dict.fromkeys(
        ("bigint", "int", "smallint", "tinyint", "float", "double", "decimal", "boolean", "string", "binary", "date",
         "timestamp"),
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
    "like": lambda args, nodes: f"{args[0]} LIKE {args[1]}" + (f" ESCAPE '{args[2]}'" if len(args) > 2 else ""),
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
    "uuid": lambda args, nodes: "uuid()",
    "try_to_time": lambda args, nodes: f"try_to_time(to_time({', '.join(args)}))",
    "shuffle": lambda args, nodes: f"shuffle({args[0]})" if args else None,
    "unix_timestamp": lambda args, nodes: f"unix_timestamp({args[0]}, yyyy-MM-dd HH:mm:ss)" if len(args) == 1 else None,
}  # fmt: skip


def _aggregate(name: str, args: list[str]) -> str | None:
    """The finish function that stands for none is one that gives back its argument."""
    if len(args) != 3:
        return None
    return f"{name}({', '.join(args)}, lambdafunction({LAMBDA_VARIABLE}, {LAMBDA_VARIABLE}))"


def _lambda(node: exp.Lambda, scope: Scope) -> str:
    variables = [LAMBDA_VARIABLE] * len(node.expressions)
    return f"lambdafunction({', '.join([pretty(node.this, scope), *variables])})"


def _ordered(node: exp.Ordered, scope: Scope) -> str:
    descending = bool(node.args.get("desc"))
    first = node.args.get("nulls_first")
    nulls_first = (not descending) if first is None else bool(first)
    return f"{pretty(node.this, scope)} {'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"


def _within_group(node: exp.WithinGroup, scope: Scope) -> str:
    function = pretty(node.this, scope)
    ordered = node.expression.expressions
    if function.startswith("listagg"):
        return f"{function} WITHIN GROUP (ORDER BY {', '.join(_list(ordered, scope))})"
    descending = any(each.args.get("desc") for each in ordered)
    if function.startswith("mode"):
        descending = not descending
    inner = ", ".join(pretty(each.this, scope) for each in ordered)
    return f"{function} WITHIN GROUP (ORDER BY {inner}{' DESC' if descending else ''})"


RANKINGS: Final = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "ntile"))


def _window(node: exp.Window, scope: Scope) -> str:
    window = scope.window(node) or node
    function = node.this
    parts: list[str] = []
    partition = window.args.get("partition_by") or node.args.get("partition_by")
    order = window.args.get("order") or node.args.get("order")
    if partition:
        parts.append("PARTITION BY " + ", ".join(_list(partition, scope)))
    if order is not None:
        parts.append("ORDER BY " + ", ".join(_list(order.expressions, scope)))
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
        if kind == "RANGE" and str(side).upper() == "PRECEDING" and not isinstance(bound, exp.Interval):
            return f"(- {text}) FOLLOWING"
        return f"{text} {str(side).upper()}"
    return f"{bound} {side}".upper() if str(bound).upper() == "UNBOUNDED" else str(bound).upper()


def _trim_syntax(node: exp.Trim, scope: Scope) -> str:
    side = str(node.args.get("position") or "BOTH").upper()
    inner, characters = pretty(node.this, scope), node.expression
    if characters is None:
        return f"{ {'BOTH': 'trim', 'LEADING': 'ltrim', 'TRAILING': 'rtrim'}[side] }({inner})"
    return f"TRIM({side} {pretty(characters, scope)} FROM {inner})"


def _substring(node: exp.Substring, scope: Scope) -> str:
    length = node.args.get("length")
    end = pretty(length, scope) if length is not None else "2147483647"
    return f"substring({pretty(node.this, scope)}, {pretty(node.args.get('start'), scope)}, {end})"


def _overlay(node: exp.Overlay, scope: Scope) -> str:
    length = node.args.get("for_")
    parts = [pretty(node.this, scope), pretty(node.expression, scope), pretty(node.args.get("from_"), scope)]
    return f"overlay({', '.join([*parts, pretty(length, scope) if length is not None else '-1'])})"


def _between(node: exp.Between, scope: Scope) -> str:
    return f"between({', '.join(_list([node.this, node.args['low'], node.args['high']], scope))})"


def _filter(node: exp.Filter, scope: Scope) -> str:
    return f"{pretty(node.this, scope)} FILTER (WHERE {pretty(node.expression.this, scope)})"


def _tuple(node: exp.Tuple, scope: Scope) -> str:
    parts: list[str] = []
    for index, each in enumerate(node.expressions, 1):
        parts += [own_name(each) or f"col{index}", pretty(each, scope)]
    return f"named_struct({', '.join(parts)})"


def _subscript(node: exp.Bracket, scope: Scope) -> str:
    path = _path(node, scope)
    if path is None:
        held, key = pretty(node.this, scope), ", ".join(_list(node.expressions, scope))
        return f"{held}.{key}" if node.meta.get(SHAPE) == "field" else f"{held}[{key}]"
    steps = path.lstrip(": ").replace("`", "")
    shown = f"variant_get({pretty(node.this, scope)}, ${'' if steps.startswith('[') else '.'}{steps})"
    name = path_name(path)
    if name is None:
        return shown
    return f"{shown} AS {name}" if name.replace("_", "a").isalnum() else f"{shown} AS `{name}`"


def _path(node: exp.Bracket, scope: Scope) -> str | None:
    """The text of `:a.b`, from its colon on; None for `[…]`."""
    meta = node.expressions[0].meta if len(node.expressions) == 1 else {}
    start, end = meta.get("start"), meta.get("end")
    return scope.text[start : end + 1] if start is not None and end is not None and is_path(scope.text, start) else None


def _whens(args: Sequence[str]) -> str:
    pairs = [f"WHEN {args[at]} THEN {args[at + 1]} " for at in range(0, len(args) - 1, 2)]
    return "".join(pairs) + (f"ELSE {args[-1]} " if len(args) % 2 else "")


def _extract(node: exp.Extract, scope: Scope) -> str:
    """The field as it is written, which sqlglot keeps in capitals only: the last `field FROM` before the source."""
    written = list(
        re.finditer(rf"\b({re.escape(node.this.name)})\s+from\b", scope.text[: _start(node.expression)], re.I)
    )
    field = written[-1].group(1) if written else node.this.name
    return f"extract({field} FROM {pretty(node.expression, scope)})"


def _start(node: exp.Expr) -> int | None:
    """The offset of the first name or literal within."""
    starts = [each.meta["start"] for each in node.walk() if "start" in each.meta]
    return min(starts) if starts else None


def _word(text: str) -> "Printer":
    return lambda node, scope: text


Printer = Callable[..., str]

PRINTERS: Final[dict[type[exp.Expr], Printer]] = {
    exp.Column: _column, exp.Literal: _literal, exp.RawString: lambda node, scope: str(node.this),
    exp.Identifier: lambda node, scope: LAMBDA_VARIABLE, exp.Paren: lambda node, scope: pretty(node.this, scope),
    exp.Null: _word("NULL"), exp.Boolean: lambda node, scope: "true" if node.this else "false",
    exp.HexString: _hex, exp.Interval: _interval,
    exp.Add: _binary("+"), exp.Sub: _binary("-"), exp.Mul: _binary("*"), exp.Div: _binary("/"), exp.Mod: _binary("%"),
    exp.IntDiv: _binary("div"), exp.EQ: _binary("="), exp.LT: _binary("<"), exp.LTE: _binary("<="),
    exp.GT: _binary(">"), exp.GTE: _binary(">="), exp.NullSafeEQ: _binary("<=>"), exp.And: _binary("AND"),
    exp.Or: _binary("OR"), exp.NEQ: _negated("="), exp.NullSafeNEQ: _negated("<=>"),
    exp.BitwiseAnd: _binary("&"), exp.BitwiseOr: _binary("|"), exp.BitwiseXor: _binary("^"),
    exp.BitwiseLeftShift: _binary("<<"), exp.BitwiseRightShift: _binary(">>"), exp.Not: _not, exp.Neg: _neg,
    exp.BitwiseNot: lambda node, scope: f"~{pretty(node.this, scope)}",
    exp.DPipe: lambda node, scope: f"concat({pretty(node.this, scope)}, {pretty(node.expression, scope)})",
    exp.Concat: lambda node, scope: "".join(each.name for each in node.expressions),
    exp.Is: _is, exp.Like: _like, exp.ILike: _like, exp.RegexpLike: _like, exp.Escape: _like, exp.In: _in,
    exp.Between: _between,
    exp.Exists: _subquery("exists"), exp.Subquery: _subquery("scalarsubquery"),
    exp.Select: _subquery("scalarsubquery"),
    exp.Case: _case, exp.Cast: _cast, exp.TryCast: _cast, exp.Anonymous: _call, exp.Lambda: _lambda,
    exp.Alias: lambda node, scope: f"{pretty(node.this, scope)} AS {node.alias}",
    exp.Bracket: _subscript,
    exp.Dot: lambda node, scope: f"{pretty(node.this, scope)}.{node.name}", exp.Star: _word("1"),
    exp.Window: _window, exp.Filter: _filter,
    exp.IgnoreNulls: _ignoring_nulls,
    exp.RespectNulls: lambda node, scope: pretty(node.this, scope), exp.WithinGroup: _within_group,
    exp.Ordered: _ordered, exp.Tuple: _tuple, exp.Extract: _extract, exp.Trim: _trim_syntax,
    exp.Substring: _substring, exp.Overlay: _overlay,
    exp.StrPosition: lambda node, scope: f"locate({pretty(node.args['substr'], scope)}, {pretty(node.this, scope)}, 1)",
    exp.CurrentDate: _word("current_date()"), exp.CurrentTimestamp: _word("current_timestamp()"),
    exp.CurrentUser: _word("current_user()"), exp.SessionUser: _word("current_user()"),
    exp.Collate: lambda node, scope: f"collate({pretty(node.this, scope)}, {node.expression.name})",
}  # fmt: skip
