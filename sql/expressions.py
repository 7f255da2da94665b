"""The type of an expression as Spark's analyzer gives it, and the faults within it.

`infer` walks a tree of sqlglot's once; what an operator gives is in `operators.py`, what a function gives in
`functions/`; casts, literals and names have files of their own.
What can't be proved is unknown, and no fault by itself.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from sqlglot import exp

from catalog.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    DataType,
    Decimal,
    Interval,
    Map,
    Struct,
    Time,
    has_unknown,
    is_numeric,
)
from sql import coercion, literals
from sql.calls import call_name
from sql.casts import can_cast, forces_null, try_forces_null
from sql.coercion import kind_of
from sql.fields import field_of
from sql.functions.call import Call
from sql.functions.calls import arguments, infer_call
from sql.functions.catalogue import signatures
from sql.functions.generators import generated
from sql.functions.kinds import kind
from sql.functions.nested import ELEMENTS, element_may_be_null, unbracketed
from sql.functions.rules import extracted
from sql.naming import SHAPE, output_name
from sql.operators import (
    Mismatch,
    arithmetic,
    bitwise,
    comparison,
    concatenated,
    date_shape,
    inverted,
    is_orderable,
    logical,
    negated,
)
from sql.patterns import are_constant_patterns, patterns
from sql.rewritten import PATH, is_path
from sql.type_rules import to_type
from sql.typed import NOT_KNOWN, NamedTyped, Scope, Typed

__all__ = [
    "call_kind", "generator_columns", "infer", "is_aggregate", "is_deterministic", "is_generator", "is_window_only",
    "literal_function", "may_raise", "output_name", "time_window", "widest",
]  # fmt: skip

LITERAL_FUNCTIONS: Final[dict[str, DataType]] = {
    "current_date": DATE,
    "current_timestamp": TIMESTAMP,
    "current_time": Time(6),
    "current_user": STRING,
    "user": STRING,
    "session_user": STRING,
}
"""Functions that may be called without brackets, where no column bears their name."""


def infer(node: exp.Expr, scope: Scope) -> Typed:
    """What is known of an expression; its faults are reported to the scope."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        _children(node, scope)
        return NOT_KNOWN
    try:
        return handler(node, scope)
    except Mismatch as fault:
        scope.report(_code(node), _operand(node, fault.argument), fault.message)
        return NOT_KNOWN


def literal_function(name: str) -> Typed | None:
    """What a bare word such as `current_date` is, where no column bears that name."""
    type = LITERAL_FUNCTIONS.get(name.lower())
    return None if type is None else Typed(type, False, True)


def time_window(node: exp.Column, scope: Scope) -> Typed | None:
    """What `window` is in a query that calls `window(…)`, where no column bears that name; so too `session_window`."""
    name = node.parts[0].name.lower()
    select = node.find_ancestor(exp.Select)
    if name not in ("window", "session_window") or select is None:
        return None
    for call in select.find_all(exp.Anonymous):
        if call_name(call).lower() == name and call.expressions:
            return infer(call, scope)
    return None


def widest(a: DataType, b: DataType) -> DataType | None:
    """The type that holds both columns of a set operation; None: there is none."""
    return coercion.widest(a, b)


def _code(node: exp.Expr) -> str:
    return "PEN3013" if isinstance(node, (exp.Literal, exp.Cast, exp.Interval, exp.HexString)) else "PEN3008"


def _operand(node: exp.Expr, argument: int | None) -> exp.Expr:
    if argument is None:
        return node
    operands = [each for each in (node.args.get("this"), node.args.get("expression")) if isinstance(each, exp.Expr)]
    return operands[argument] if argument < len(operands) else node


def _children(node: exp.Expr, scope: Scope) -> list[Typed]:
    skipped = (exp.Identifier, exp.DataType, exp.Star, exp.Var)
    return [infer(child, scope) for child in node.iter_expressions() if not isinstance(child, skipped)]


def _column(node: exp.Column, scope: Scope) -> Typed:
    if isinstance(node.this, exp.Star):
        scope.expand(node)
        return NOT_KNOWN
    return scope.resolve(node)


def _star(node: exp.Star, scope: Scope) -> Typed:
    scope.expand(node)
    return NOT_KNOWN


def _identifier(node: exp.Identifier, scope: Scope) -> Typed:
    return scope.variable(node.name) or NOT_KNOWN


def _literal(node: exp.Literal, scope: Scope) -> Typed:
    return literals.string(node.this) if node.is_string else _number(node, scope)


def _number(node: exp.Literal, scope: Scope) -> Typed:
    """A number by its text: its suffix is not in the tree."""
    start, end = node.meta.get("start"), node.meta.get("end")
    text = node.this if start is None or end is None else scope.text[start : end + 1]
    typed = literals.number(text, negative=isinstance(node.parent, exp.Neg))
    return literals.number(node.this) if typed is NOT_KNOWN else typed


def _binary_literal(node: exp.HexString, scope: Scope) -> Typed:
    return Typed(BINARY, False, True)


def _interval(node: exp.Interval, scope: Scope) -> Typed:
    if node.this is not None and not isinstance(node.this, (exp.Literal, exp.Neg)):
        infer(node.this, scope)
        if isinstance(node.this, exp.Column):
            raise Mismatch("INTERVAL takes a literal", 0)
        return NOT_KNOWN
    if isinstance(node.this, exp.Literal) and literals.stands_alone(node, scope.text):
        return infer(node.this, scope)
    return literals.interval(node)


def _paren(node: exp.Paren, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    return inner if isinstance(node.this, exp.Neg) else Typed(inner.type, inner.nullable, inner.foldable, inner.value)


def _alias(node: exp.Expr, scope: Scope) -> Typed:
    return infer(node.this, scope)


def _arithmetic(symbol: str) -> "Handler":
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        if symbol == "+":
            units = literals.units_of(node)
            if units is not None and not _has_plus(node, scope):
                node.meta[SHAPE] = "interval"
                return literals.interval_of(units)
        left, right = infer(node.this, scope), infer(node.expression, scope)
        found = arithmetic(symbol, left, right)
        if symbol in ("+", "-") and (shape := date_shape(left.type, right.type)):
            node.meta[SHAPE] = shape
        if symbol == "*" and kind_of(right.type) in ("ym", "dt") and kind_of(left.type) not in ("ym", "dt"):
            node.meta[SHAPE] = "swapped"
        return _folded(found, left, right)

    return handler


def _has_plus(node: exp.Expr, scope: Scope) -> bool:
    """Whether a sum of intervals is written as one; `INTERVAL 1 DAY 2 HOURS` has no plus sign."""
    parts = [rf"['\"]?\s*{re.escape(each.this.name)}['\"]?\s+{each.args['unit'].name}" for each in _intervals(node)]
    return re.search(r"\binterval\s+" + r"\s+".join(parts), scope.text, re.IGNORECASE) is None


def _intervals(node: exp.Expr) -> list[exp.Interval]:
    """The terms of a sum of intervals, as written."""
    if isinstance(node, exp.Interval):
        return [node]
    return _intervals(node.this) + _intervals(node.expression)


def _folded(found: Typed, *sides: Typed) -> Typed:
    return Typed(found.type, found.nullable, all(side.foldable for side in sides))


def _comparison(symbol: str) -> "Handler":
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        quantified = node.expression
        if isinstance(quantified, (exp.Any, exp.All)):
            _children(node, scope)
            return Typed(BOOLEAN)
        left, right = _operand_type(node.this, scope), _operand_type(quantified, scope)
        if symbol in ("<", "<=", ">", ">=") and isinstance(right.type, Decimal) and right.value is not None:
            node.meta[SHAPE] = "whole" if left.type in INTEGRAL_TYPES else ""
        return _folded(comparison(symbol, left, right), left, right)

    return handler


def _operand_type(node: exp.Expr, scope: Scope) -> Typed:
    """One side of a comparison; `(a, b)` is a struct."""
    return _tuple(node, scope) if isinstance(node, exp.Tuple) else infer(node, scope)


def _tuple(node: exp.Tuple, scope: Scope) -> Typed:
    from catalog.datatypes import Field

    typed = [infer(each, scope) for each in node.expressions]
    names = (
        each.name if isinstance(each, (exp.Column, exp.Identifier)) else f"col{at}"
        for at, each in enumerate(node.expressions, 1)
    )
    fields = (Field(name, each.type, each.nullable) for name, each in zip(names, typed, strict=True))
    return Typed(Struct(tuple(fields)), False)


def _logical(symbol: str) -> "Handler":
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        sides = [infer(each, scope) for each in (node.this, node.args.get("expression")) if each is not None]
        return _folded(logical(symbol, *sides), *sides)

    return handler


def _bitwise(symbol: str) -> "Handler":
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        left, right = infer(node.this, scope), infer(node.expression, scope)
        return _folded(bitwise(symbol, left, right), left, right)

    return handler


def _shift(symbol: str) -> "Handler":
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        sides = infer(node.this, scope), infer(node.expression, scope)
        targets: list[Typed] = []
        for index, (side, wanted) in enumerate(zip(sides, ("int_or_bigint", "int"), strict=True)):
            if side.type == UNKNOWN:
                return NOT_KNOWN
            if not kind(wanted).takes(side.type):
                raise Mismatch(f"`{symbol}` takes integers, this is {side.type}", index)
            target = kind(wanted).cast(side.type)
            targets.append(Typed(target, side.nullable or forces_null(side.type, target)))
        return _folded(Typed(targets[0].type, any(each.nullable for each in targets)), *sides)

    return handler


def _negated(node: exp.Neg, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    if isinstance(node.this, (exp.Literal, exp.TryCast)) and is_numeric(inner.type) and inner.value is not None:
        return inner
    return negated("-", inner)


def _inverted(node: exp.BitwiseNot, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    return _folded(inverted(inner), inner)


def _concat(node: exp.DPipe, scope: Scope) -> Typed:
    left, right = infer(node.this, scope), infer(node.expression, scope)
    return _folded(concatenated([left, right]), left, right)


def _adjacent(node: exp.Concat, scope: Scope) -> Typed:
    """String literals that stand side by side are one."""
    _children(node, scope)
    return Typed(STRING, False, True)


def _is(node: exp.Is, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    if isinstance(node.expression, exp.Boolean):
        logical("IS", inner)
    return _folded(Typed(BOOLEAN, False), inner)


def _like(node: exp.Expr, scope: Scope) -> Typed:
    if isinstance(node, exp.Escape):
        return infer(node.this, scope)
    pattern = node.expression
    constants = False
    if isinstance(pattern, (exp.Any, exp.All)):
        constants = are_constant_patterns(pattern)
        sides = [infer(node.this, scope), *(infer(each, scope) for each in patterns(pattern))]
    else:
        sides = [infer(node.this, scope), infer(pattern, scope)]
    for index, side in enumerate(sides):
        if isinstance(side.type, (Array, Map, Struct)):
            raise Mismatch(f"a pattern matches strings, this is {side.type}", min(index, 1))
    nullable = constants or any(side.nullable or side.type == VARIANT for side in sides)
    return _folded(Typed(BOOLEAN, nullable), *sides)


def _between(node: exp.Between, scope: Scope) -> Typed:
    value, low, high = (infer(node.args[name], scope) for name in ("this", "low", "high"))
    first, second = comparison(">=", value, low), comparison("<=", value, high)
    return _folded(Typed(BOOLEAN, first.nullable or second.nullable), value, low, high)


def _in(node: exp.In, scope: Scope) -> Typed:
    query = node.args.get("query")
    value = _operand_type(node.this, scope)
    if query is not None:
        return _in_query(node, value, query, scope)
    listed = [_operand_type(each, scope) for each in node.expressions]
    types = [value.type, *(each.type for each in listed)]
    if any(has_unknown(type) for type in types):
        return Typed(BOOLEAN)
    common = coercion.widest_of(types)
    if common is None and all(coercion.is_equal_but_names(types[0], type) for type in types):
        common = types[0]
    if common is None or not is_orderable(common):
        index = next((at for at, type in enumerate(types[1:]) if coercion.widest(types[0], type) is None), 0)
        scope.report("PEN3008", node.expressions[index], f"{types[0]} can't be compared with {types[index + 1]}")
        return Typed(BOOLEAN)
    nullable = any(each.nullable or forces_null(each.type, common) for each in (value, *listed))
    return _folded(Typed(BOOLEAN, nullable), value, *listed)


def _in_query(node: exp.In, value: Typed, query: exp.Expr, scope: Scope) -> Typed:
    inner = query.this if isinstance(query, exp.Subquery) else query
    columns = scope.subquery(inner)
    if columns is None:
        return Typed(BOOLEAN)
    parts = _compared_parts(node.this, value)
    wanted = len(parts)
    if len(columns) != wanted:
        scope.report("PEN3016", query, f"the subquery of IN gives {len(columns)} columns, {wanted} are compared")
        return Typed(BOOLEAN)
    commons = [coercion.widest(part.type, column.typed.type) for part, column in zip(parts, columns, strict=True)]
    for common, part, column in zip(commons, parts, columns, strict=True):
        if common is None:
            scope.report("PEN3008", node, f"{part.type} can't be compared with {column.typed.type}")
            return Typed(BOOLEAN)
    if wanted > 1:
        return Typed(BOOLEAN, any(part.nullable for part in parts))
    value, common = parts[0], commons[0] or UNKNOWN
    return Typed(BOOLEAN, value.nullable or forces_null(value.type, common) or columns[0].typed.nullable)


def _compared_parts(node: exp.Expr, value: Typed) -> list[Typed]:
    """What stands before IN, by columns: `(a, b)` and `struct(a, b)` are two."""
    while isinstance(node, exp.Paren):
        node = node.this
    is_row = isinstance(node, exp.Tuple) or (isinstance(node, exp.Anonymous) and call_name(node).lower() == "struct")
    if is_row and isinstance(value.type, Struct):
        return [Typed(field.type, field.nullable) for field in value.type.fields]
    return [value]


def _exists(node: exp.Exists, scope: Scope) -> Typed:
    inner = node.this
    if isinstance(inner, exp.Query):
        scope.subquery(inner)
    else:
        infer(inner, scope)
    return Typed(BOOLEAN, False)


def _query(node: exp.Expr, scope: Scope) -> Typed:
    inner = node.this if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query) else node
    columns = scope.subquery(inner)
    if columns is None:
        return NOT_KNOWN
    if len(columns) != 1:
        scope.report("PEN3016", node, f"a scalar subquery gives one column, this one gives {len(columns)}")
        return NOT_KNOWN
    return Typed(columns[0].typed.type)


def _case(node: exp.Case, scope: Scope) -> Typed:
    subject = infer(node.this, scope) if node.this is not None else None
    results: list[tuple[exp.Expr, Typed]] = []
    reached: int | None = None  # with `when true`, Spark asks only the results up to it whether they may be null
    for branch in node.args["ifs"]:
        condition = infer(branch.this, scope)
        if subject is not None:
            _compared(branch.this, subject, condition, scope)
        elif condition.type not in (BOOLEAN, UNKNOWN):
            scope.report("PEN3008", branch.this, f"a condition is boolean, this is {condition.type}")
        results.append((branch.args["true"], infer(branch.args["true"], scope)))
        if subject is None and condition.value is True and reached is None:
            reached = len(results)
    default = node.args.get("default")
    if default is not None:
        results.append((default, infer(default, scope)))
    return _common(results, scope, nullable=default is None and reached is None, reached=reached)


def _compared(node: exp.Expr, left: Typed, right: Typed, scope: Scope) -> None:
    try:
        comparison("=", left, right)
    except Mismatch as fault:
        scope.report("PEN3008", node, fault.message)


def _common(
    results: list[tuple[exp.Expr, Typed]], scope: Scope, *, nullable: bool, reached: int | None = None
) -> Typed:
    """The type that holds all results of a CASE or an IF, of which the first `reached` (None: all) can be chosen."""
    found: DataType = VOID
    for node, typed in results:
        wider = coercion.widest(found, typed.type)
        if wider is None:
            scope.report("PEN3008", node, f"the results must be of one type: this is {typed.type}, before it {found}")
            return NOT_KNOWN
        found = wider
    if found == UNKNOWN:
        return NOT_KNOWN
    forced = any(typed.nullable or forces_null(typed.type, found) for _, typed in results[:reached])
    return Typed(found, nullable or forced, all(typed.foldable for _, typed in results))


def _cast(node: exp.Expr, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    target = to_type(node.args["to"])
    suffixed = _suffixed(node, scope)
    if suffixed is not None:
        return suffixed
    if target is None:
        return NOT_KNOWN
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) and node.this.is_string:
        return literals.typed_literal(target, node.this.this)
    if not has_unknown(inner.type) and not can_cast(inner.type, target):
        scope.report("PEN3012", node, f"{inner.type} can't be cast to {target}", "cast it in steps, or use its parts")
        return NOT_KNOWN
    if has_unknown(inner.type):
        return Typed(target)
    forced = try_forces_null(inner.type, target) if node.args.get("safe") else forces_null(inner.type, target)
    value = inner.value if inner.type == target else None
    return Typed(target, inner.nullable or forced, inner.foldable, value)


def _suffixed(node: exp.Expr, scope: Scope) -> Typed | None:
    """`1L` and `1.5BD`, which sqlglot takes for casts."""
    inner = node.this
    start, end = inner.meta.get("start"), inner.meta.get("end")
    if not isinstance(inner, exp.Literal):
        return None
    if start is None or end is None:
        is_number = inner.is_string and isinstance(node, exp.TryCast) and not node.args.get("safe")
        return literals.number(f"{inner.this}BD") if is_number else None
    text = scope.text[start : end + 1]
    if not text[:1].isdigit() and not text.startswith("."):
        return None
    if text[-1:].isdigit() or text.endswith("."):
        return None
    negative = isinstance(node.parent, exp.Neg)
    typed = literals.number(text, negative=negative)
    return None if typed is NOT_KNOWN else typed


def _bracket(node: exp.Bracket, scope: Scope) -> Typed:
    held = infer(node.this, scope)
    if len(node.expressions) == 1 and is_path(scope.text, node.expressions[0].meta.get("start")):
        meta = node.expressions[0].meta
        meta[PATH] = scope.text[meta["start"] : meta["end"] + 1]
        if held.type not in (VARIANT, UNKNOWN):
            raise Mismatch(f"a path takes a variant, this is {held.type}", 0)
        return Typed(VARIANT)
    keys = [infer(each, scope) for each in node.expressions]
    if held.type == UNKNOWN or len(keys) != 1:
        return NOT_KNOWN
    key = keys[0]
    if isinstance(key.value, str) and _is_of_fields(held.type):
        node.meta[SHAPE] = "field"
        found = field_of(held, key.value)
        if found is None:
            scope.report("PEN3005", node.expressions[0], f"{held.type} has no field `{key.value}`")
        return found or NOT_KNOWN
    match held.type:
        case Array(element):
            if key.type not in (VOID, UNKNOWN, *INTEGRAL_TYPES):
                raise Mismatch(f"the position in an array is an integer, this is {key.type}")
            return Typed(element, element_may_be_null(node.this, held, key, first=0, raises=True))
        case Map(key_type, value):
            is_known = not has_unknown(key.type) and not has_unknown(key_type)
            if is_known and (coercion.widest(key_type, key.type) is None or (key_type == VOID != key.type)):
                raise Mismatch(f"the keys of the map are {key_type}, this is {key.type}")
            return Typed(value)
        case Struct():
            return NOT_KNOWN
        case _ if held.type == VARIANT:
            return Typed(VARIANT)
        case _:
            raise Mismatch(f"{held.type} has no elements")


def _is_of_fields(type: DataType) -> bool:
    return isinstance(type, Struct) or (isinstance(type, Array) and isinstance(type.element, Struct))


def _dot(node: exp.Dot, scope: Scope) -> Typed:
    held = infer(node.this, scope)
    part = node.expression
    if not isinstance(part, exp.Identifier):
        infer(part, scope)
        return NOT_KNOWN
    if isinstance(part, exp.Identifier) and held.type != UNKNOWN:
        found = field_of(held, part.name)
        if found is None:
            scope.report("PEN3005", part, f"{held.type} has no field `{part.name}`")
        elements = unbracketed(node.this).meta.get(ELEMENTS)
        if elements is not None and isinstance(held.type, Array) and isinstance(held.type.element, Struct):
            field = held.type.element.field(part.name)
            node.meta[ELEMENTS] = tuple(each or field is None or field.nullable for each in elements)
        return found or NOT_KNOWN
    return NOT_KNOWN


def _call(node: exp.Anonymous, scope: Scope) -> Typed:
    name = call_name(node).lower()
    if name in ("percentile_cont", "percentile_disc") and not isinstance(node.parent, exp.WithinGroup):
        scope.report("PEN3011", node, f"`{name}` needs WITHIN GROUP (ORDER BY …)")
    return infer_call(node, scope, infer)


def _lambda(node: exp.Lambda, scope: Scope) -> Typed:
    """A lambda function where none is taken: its names are bound, nothing is known of it."""
    with scope.bind({each.name: NOT_KNOWN for each in node.expressions}):
        infer(node.this, scope)
    return NOT_KNOWN


def _filter(node: exp.Filter, scope: Scope) -> Typed:
    found = infer(node.this, scope)
    condition = node.expression.this
    typed = infer(condition, scope)
    if typed.type not in (BOOLEAN, UNKNOWN):
        scope.report("PEN3008", condition, f"a condition is boolean, this is {typed.type}")
    return found


def _within_group(node: exp.WithinGroup, scope: Scope) -> Typed:
    found = infer(node.this, scope)
    ordered = [infer(each.this, scope) for each in node.expression.expressions]
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


def _window(node: exp.Window, scope: Scope) -> Typed:
    scope.window(node)
    inner = node.this
    if isinstance(inner, exp.Identifier):
        return NOT_KNOWN
    found = infer(inner, scope)
    for each in node.args.get("partition_by") or ():
        infer(each, scope)
    order = node.args.get("order")
    for each in order.expressions if order is not None else ():
        infer(each.this, scope)
    return found


def _extract(node: exp.Extract, scope: Scope) -> Typed:
    source = infer(node.expression, scope)
    return NOT_KNOWN if source.type == UNKNOWN else extracted(node.this.name, source)


def _text(node: exp.Expr, scope: Scope) -> Typed:
    """TRIM, SUBSTRING, OVERLAY and POSITION in their own syntax."""
    parts = [part for part in node.iter_expressions() if not isinstance(part, (exp.Identifier, exp.Var))]
    typed = [infer(part, scope) for part in parts]
    if any(each.type == UNKNOWN for each in typed):
        return NOT_KNOWN
    nullable = any(each.nullable for each in typed)
    for part, each in zip(parts, typed, strict=True):
        wanted = kind("int" if part.arg_key in ("from_", "for_", "start", "length") else "text")
        if not wanted.takes(each.type):
            scope.report(
                "PEN3008", part, f"a {'number' if wanted.name == 'int' else 'string'} is expected, this is {each.type}"
            )
            return NOT_KNOWN
        nullable = nullable or forces_null(each.type, wanted.cast(each.type))
    if isinstance(node, exp.Overlay) and (typed[0].type == BINARY) != (typed[1].type == BINARY):
        raise Mismatch(f"OVERLAY takes {typed[0].type} twice, this is {typed[1].type}", 1)
    if isinstance(node, exp.StrPosition):
        return Typed(INT, nullable)
    binary = typed[0].type == BINARY and not isinstance(node, exp.Trim)
    return Typed(BINARY if binary else STRING, nullable)


def _collated(node: exp.Collate, scope: Scope) -> Typed:
    """`collate(x, 'name')` and `x COLLATE name`: of collations only the one that is none is known here."""
    inner = infer(node.this, scope)
    if inner.type not in (STRING, VOID, UNKNOWN):
        raise Mismatch(f"only strings have a collation, this is {inner.type}", 0)
    is_plain = node.expression.name.upper() == "UTF8_BINARY"
    return Typed(STRING if is_plain else UNKNOWN, inner.nullable)


def _now(type: DataType) -> "Handler":
    return lambda node, scope: Typed(type, False, True)


Handler = Callable[..., Typed]

HANDLERS: Final[dict[type[exp.Expr], Handler]] = {
    exp.Column: _column, exp.Star: _star, exp.Identifier: _identifier, exp.Literal: _literal,
    exp.RawString: lambda node, scope: Typed(STRING, False, True, node.this),
    exp.HexString: _binary_literal, exp.Interval: _interval,
    exp.Null: lambda node, scope: Typed(VOID, True, True),
    exp.Boolean: lambda node, scope: Typed(BOOLEAN, False, True, node.this),
    exp.Paren: _paren, exp.Alias: _alias, exp.PropertyEQ: lambda node, scope: infer(node.expression, scope),
    exp.Add: _arithmetic("+"), exp.Sub: _arithmetic("-"), exp.Mul: _arithmetic("*"), exp.Div: _arithmetic("/"),
    exp.Mod: _arithmetic("%"), exp.IntDiv: _arithmetic("div"), exp.Neg: _negated, exp.BitwiseNot: _inverted,
    exp.EQ: _comparison("="), exp.NEQ: _comparison("!="), exp.LT: _comparison("<"), exp.LTE: _comparison("<="),
    exp.GT: _comparison(">"), exp.GTE: _comparison(">="), exp.NullSafeEQ: _comparison("<=>"),
    exp.NullSafeNEQ: _comparison("<=>"), exp.And: _logical("AND"), exp.Or: _logical("OR"), exp.Not: _logical("NOT"),
    exp.BitwiseAnd: _bitwise("&"), exp.BitwiseOr: _bitwise("|"), exp.BitwiseXor: _bitwise("^"),
    exp.BitwiseLeftShift: _shift("<<"), exp.BitwiseRightShift: _shift(">>"), exp.DPipe: _concat,
    exp.Concat: _adjacent, exp.Is: _is, exp.Like: _like, exp.ILike: _like, exp.RegexpLike: _like, exp.Escape: _like,
    exp.Between: _between, exp.In: _in, exp.Exists: _exists, exp.Subquery: _query, exp.Select: _query,
    exp.Union: _query, exp.Except: _query, exp.Intersect: _query, exp.Case: _case, exp.Cast: _cast, exp.TryCast: _cast,
    exp.Bracket: _bracket, exp.Dot: _dot, exp.Anonymous: _call, exp.Lambda: _lambda,
    exp.Filter: _filter, exp.WithinGroup: _within_group,
    exp.Window: _window, exp.IgnoreNulls: _alias, exp.RespectNulls: _alias, exp.Ordered: _alias, exp.Tuple: _tuple,
    exp.Extract: _extract, exp.Trim: _text, exp.Substring: _text, exp.Overlay: _text,
    exp.Collate: _collated, exp.StrPosition: _text,
    exp.CurrentDate: _now(DATE), exp.CurrentTimestamp: _now(TIMESTAMP), exp.CurrentUser: _now(STRING),
    exp.SessionUser: _now(STRING),
}  # fmt: skip


# facts of functions


def call_kind(node: exp.Expr) -> str:
    """`scalar`, `aggregate`, `window`, `generator` or `table`; empty for what is no call of a known function."""
    if not isinstance(node, exp.Anonymous):
        return ""
    known = signatures(call_name(node).lower())
    return known[0].kind if known else ""


def is_aggregate(node: exp.Expr) -> bool:
    return call_kind(node) == "aggregate"


def is_generator(node: exp.Expr) -> bool:
    return call_kind(node) == "generator"


def is_window_only(node: exp.Expr) -> bool:
    return call_kind(node) == "window"


def is_deterministic(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Anonymous):
        return True
    return not any(each.is_random for each in signatures(call_name(node).lower()))


def may_raise(node: exp.Expr) -> bool:
    """Whether evaluating the node itself might raise under ANSI; nearly all that is not a name, literal or test may."""
    return not isinstance(node, (exp.Column, exp.Literal, exp.Null, exp.Boolean, exp.Is, exp.Paren, exp.Identifier))


def generator_columns(node: exp.Expr, scope: Scope) -> tuple[NamedTyped, ...] | None:
    """The columns of a generator or table function, whose arguments are typed here; None: not known."""
    if not isinstance(node, exp.Anonymous):
        _children(node, scope)
        return None
    name = call_name(node).lower()
    known = signatures(name)
    if not known or known[0].kind not in ("generator", "table"):
        infer(node, scope)
        return None
    nodes, typed, is_open = arguments(node, scope)
    given = [known_ or infer(each, scope) for each, known_ in zip(nodes, typed, strict=True)]
    signature = next((each for each in known if each.fits(len(nodes))), None)
    if signature is None or is_open:
        if signature is None:
            scope.report("PEN3007", node, f"`{name}` does not take {len(nodes)} arguments")
        return None
    if not _fits(signature.kind_at, nodes, given, scope, name):
        return None
    try:
        return generated(Call(name, nodes, given, given, scope, infer))
    except Mismatch as fault:
        scope.report("PEN3008", nodes[fault.argument] if fault.argument is not None else node, fault.message)
        return None


def _fits(
    kind_at: Callable[[int], str], nodes: Iterable[exp.Expr], given: Iterable[Typed], scope: Scope, name: str
) -> bool:
    fits = True
    for index, (node, arg) in enumerate(zip(nodes, given, strict=True)):
        taken = kind(kind_at(index))
        if not has_unknown(arg.type) and not taken.takes(arg.type):
            scope.report("PEN3008", node, f"`{name}` does not take {arg.type} here")
            fits = False
        elif taken.is_constant and not arg.foldable and node.find(exp.Column):
            scope.report("PEN3008", node, f"`{name}` takes a constant here")
            fits = False
    return fits
