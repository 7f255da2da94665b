"""Comparisons, conditions, subqueries and CASE."""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from catalog.types.datatypes import (
    BOOLEAN,
    INTEGRAL_TYPES,
    UNKNOWN,
    VARIANT,
    VOID,
    Array,
    Decimal,
    Field,
    Map,
    Struct,
    has_unknown,
    is_collated,
    parts,
)
from sql.expressions.collation_strength import ranked_type
from sql.expressions.collations import note_operand
from sql.expressions.constant_patterns import refuse_uncast
from sql.expressions.walk import Handler, folded_with, infer, infer_children, note_void
from sql.naming.field_names import own_name
from sql.naming.row_names import row_before
from sql.parsing.like_patterns import are_constant_patterns, patterns
from sql.parsing.token_rewrites import is_unknown_test
from sql.types import coercion
from sql.types.casts import forces_null
from sql.types.collations import RankedString, Strength, same_collations
from sql.types.expression_type import NOT_KNOWN, NamedTyped, Scope, Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import comparison, decided_order, is_orderable, is_void_beside_string, logical

_GIVING_WAY = (Strength.EXPLICIT, Strength.DEFAULT)
"""Collations before IN that change to those of a subquery's columns."""


def infer_comparison(symbol: str) -> Handler:
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        quantified = node.expression
        if isinstance(quantified, (exp.Any, exp.All)):
            infer_children(node, scope)
            return Typed(BOOLEAN)
        left, right = infer(node.this, scope), infer(quantified, scope)
        if symbol in ("<", "<=", ">", ">=") and isinstance(right.type, Decimal) and right.value is not None:
            scope.printed.note_shape(node, "whole" if left.type in INTEGRAL_TYPES else "")
        elif symbol in ("<", "<=", ">", ">=") and isinstance(left.type, Decimal) and left.value is not None:
            scope.printed.note_shape(node, "whole_left" if right.type in INTEGRAL_TYPES else "")
        decided = decided_order(symbol, left, right)
        if decided is not None:  # which Spark puts in place of the comparison
            scope.printed.note_shape(node, "true" if decided else "false")
            return Typed(BOOLEAN, False, True, decided)
        if is_void_beside_string(left, right):  # a NULL of no type becomes one that is a string
            scope.printed.note_shape(node, "void_left" if left.type == VOID else "void_right")
        return folded_with(comparison(symbol, left, right), left, right)

    return handler


def infer_tuple(node: exp.Tuple, scope: Scope) -> Typed:
    """`(a, b)` is a struct."""
    typed = [infer(expression, scope) for expression in node.expressions]
    items = enumerate(node.expressions, 1)
    names = (expression.alias or own_name(expression, scope) or f"col{at}" for at, expression in items)
    fields = (Field(name, operand.type, operand.nullable) for name, operand in zip(names, typed, strict=True))
    return Typed(Struct(tuple(fields)), False)


def infer_logical(symbol: str) -> Handler:
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        sides = [infer(side, scope) for side in (node.this, node.args.get("expression")) if side is not None]
        note_void(node, scope, *sides)
        return folded_with(logical(symbol, *sides), *sides)

    return handler


def infer_is(node: exp.Is, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    if isinstance(node.expression, exp.Boolean) or is_unknown_test(scope.text, node):
        logical("IS", inner)
    return folded_with(Typed(BOOLEAN, False), inner)


def infer_like(node: exp.Expr, scope: Scope) -> Typed:
    if isinstance(node, exp.Escape):
        if isinstance(node.expression, exp.Literal) and len(node.expression.this) != 1:
            scope.report("PEN3013", node.expression, "ESCAPE takes a string of one character")
        return infer(node.this, scope)
    pattern = node.expression
    constants = False
    if isinstance(pattern, (exp.Any, exp.All)):
        constants = are_constant_patterns(pattern)
        refuse_uncast(pattern, scope)
        # Spark's parser computes constant patterns, before any of their types but those of intervals is checked
        typed = [like for like in patterns(pattern) if not constants or like.find(exp.Interval)]
        sides = [infer(node.this, scope), *(infer(like, scope) for like in typed)]
    else:
        sides = [infer(node.this, scope), infer(pattern, scope)]
    for index, side in enumerate(sides):
        if isinstance(side.type, (Array, Map, Struct)):
            raise Mismatch(f"a pattern matches strings, this is {side.type}", min(index, 1))
    nullable = constants or any(side.nullable or side.type == VARIANT for side in sides)
    return folded_with(Typed(BOOLEAN, nullable), *sides)


def infer_between(node: exp.Between, scope: Scope) -> Typed:
    value, low, high = (infer(node.args[name], scope) for name in ("this", "low", "high"))
    value = replace(value, value=None)  # Spark compares a reference to it, which is no literal
    first, second = comparison(">=", value, low), comparison("<=", value, high)
    return folded_with(Typed(BOOLEAN, first.nullable or second.nullable), value, low, high)


def infer_in(node: exp.In, scope: Scope) -> Typed:
    query = node.args.get("query")
    value = infer(node.this, scope)
    if query is not None:
        return _in_query(node, value, query, scope)
    listed = [typed for expression in node.expressions for typed in _listed(expression, scope)]
    types = [value.type, *(item.type for item in listed)]
    if any(has_unknown(type) for type in types):
        return Typed(BOOLEAN)
    common = coercion.widest_of(types)
    if common is None and all(coercion.is_equal_but_names_and_collations(types[0], type) for type in types):
        common = types[0]
    if common is None or not is_orderable(common):
        index = next((at for at, type in enumerate(types[1:]) if coercion.widest(types[0], type) is None), 0)
        is_value_alone = coercion.widest_of(types[1:]) is not None and not isinstance(node.this, exp.Tuple)
        at = node if is_value_alone else node.expressions[min(index, len(node.expressions) - 1)]
        scope.report("PEN3008", at, f"{types[0]} can't be compared with {types[index + 1]}")
        return Typed(BOOLEAN)
    nullable = any(item.nullable or forces_null(item.type, common) for item in (value, *listed))
    return folded_with(Typed(BOOLEAN, nullable), value, *listed)


def _listed(node: exp.Expr, scope: Scope) -> list[Typed]:
    """What one item of IN stands for: itself, or all columns of a star."""
    if not isinstance(node, exp.Star):
        return [infer(node, scope)]
    columns = scope.expand(node) or ()
    scope.printed.note_texts(node, tuple(column.name for column in columns))
    return [column.typed for column in columns] or [NOT_KNOWN]


def _in_query(node: exp.In, value: Typed, query: exp.Expr, scope: Scope) -> Typed:
    inner = query.this if isinstance(query, exp.Subquery) else query
    columns = scope.subquery(inner)
    if columns is None:
        return Typed(BOOLEAN)
    values = _compared_parts(node.this, value)
    wanted = len(values)
    if len(columns) != wanted:
        scope.report("PEN3016", query, f"the subquery of IN gives {len(columns)} columns, {wanted} are compared")
        return Typed(BOOLEAN)
    commons = [coercion.widest(part.type, column.typed.type) for part, column in zip(values, columns, strict=True)]
    for common, part, column in zip(commons, values, columns, strict=True):
        if common is None or not (has_unknown(common) or is_orderable(common)):
            scope.report("PEN3008", node, f"{part.type} can't be compared with {column.typed.type}")
            return Typed(BOOLEAN)
    if _has_other_collations(node.this, values, columns, scope):
        scope.report("PEN3008", node, "strings of different collations are compared", "give one side the other's")
        return Typed(BOOLEAN)
    if row_before(node.this) is not None:
        casts = tuple(str(part.type) != str(common) for part, common in zip(values, commons, strict=True))
        scope.printed.note_casts(node, casts)
    if isinstance(literal := node.this.unnest(), exp.Literal | exp.RawString) and is_collated(columns[0].typed.type):
        note_operand(literal, columns[0].typed.type, scope)
    forced = any(forces_null(part.type, common or UNKNOWN) for part, common in zip(values, commons, strict=True))
    return Typed(BOOLEAN, forced or any(part.nullable for part in (*values, *(column.typed for column in columns))))


def _has_other_collations(node: exp.Expr, values: Sequence[Typed], columns: Sequence[NamedTyped], scope: Scope) -> bool:
    """Whether values before IN keep a collation that the subquery's columns lack; one literal or COLLATE gives way."""
    if all(same_collations(value.type, column.typed.type) for value, column in zip(values, columns, strict=True)):
        return False
    ranked = ranked_type(node, scope) if len(values) == 1 else None
    strings = [part for part in parts(ranked) if isinstance(part, RankedString)] if ranked is not None else []
    return not strings or any(string.strength not in _GIVING_WAY for string in strings)


def _compared_parts(node: exp.Expr, value: Typed) -> list[Typed]:
    """What stands before IN, by columns: `(a, b)` and `struct(a, b)` are two."""
    if row_before(node) is not None and isinstance(value.type, Struct):
        return [Typed(field.type, field.nullable) for field in value.type.fields]
    return [value]


def infer_exists(node: exp.Exists, scope: Scope) -> Typed:
    inner = node.this
    if isinstance(inner, exp.Query):
        scope.subquery(inner)
    else:
        infer(inner, scope)
    return Typed(BOOLEAN, False)


def infer_query(node: exp.Expr, scope: Scope) -> Typed:
    inner = node.this if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query) else node
    columns = scope.subquery(inner)
    if columns is None:
        return NOT_KNOWN
    if len(columns) != 1:
        scope.report("PEN3016", node, f"a scalar subquery gives one column, this one gives {len(columns)}")
        return NOT_KNOWN
    return Typed(columns[0].typed.type)


def infer_case(node: exp.Case, scope: Scope) -> Typed:
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
    except Mismatch as error:
        scope.report("PEN3008", node, error.message)


def _common(
    results: list[tuple[exp.Expr, Typed]], scope: Scope, *, nullable: bool, reached: int | None = None
) -> Typed:
    """The type that holds all results of a CASE or an IF, of which the first `reached` (None: all) can be chosen."""
    found = results[0][1].type
    for node, typed in results[1:]:
        wider = coercion.widest(found, typed.type)
        if wider is None:
            scope.report("PEN3008", node, f"the results must be of one type: this is {typed.type}, before it {found}")
            return NOT_KNOWN
        found = wider
    if found == UNKNOWN:
        return NOT_KNOWN
    forced = any(typed.nullable or forces_null(typed.type, found) for _, typed in results[:reached])
    return Typed(found, nullable or forced, all(typed.foldable for _, typed in results))
