"""Arithmetic, bits and joined strings."""

import re

from sqlglot import exp

from catalog.types.datatypes import STRING, UNKNOWN, is_numeric
from sql.expressions.walk import Handler, folded_with, infer, infer_children, note_void
from sql.functions.argument_kinds import kind
from sql.types import literals
from sql.types.casts import forces_null
from sql.types.date_arithmetic import date_shape
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import arithmetic, bitwise, concatenated, inverted, negated
from sql.types.type_family import kind_of


def infer_arithmetic(symbol: str) -> Handler:
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        if symbol == "+":
            units = literals.units_of(node)
            if units is not None and not _has_plus(node, scope):
                scope.printed.note_shape(node, "interval")
                for part in _intervals(node):
                    literals.interval(part)  # which raises where its number is none
                return literals.interval_of(units)
        left, right = infer(node.this, scope), infer(node.expression, scope)
        found = arithmetic(symbol, left, right)
        if symbol != "/":
            note_void(node, scope, left, right)
        if symbol in ("+", "-") and (shape := date_shape(symbol, left.type, right.type)):
            scope.printed.note_shape(node, shape)
        if symbol == "*" and kind_of(right.type) in ("ym", "dt") and kind_of(left.type) not in ("ym", "dt"):
            scope.printed.note_shape(node, "swapped")
        return folded_with(found, left, right)

    return handler


def _has_plus(node: exp.Expr, scope: Scope) -> bool:
    """Whether a sum of intervals is written as one; `INTERVAL 1 DAY 2 HOURS` has no plus sign."""
    parts = [
        rf"['\"]?\s*{re.escape(interval.this.name)}['\"]?\s+{interval.args['unit'].name}"
        for interval in _intervals(node)
    ]
    return re.search(r"\binterval\s+" + r"\s+".join(parts), scope.text, re.IGNORECASE) is None


def _intervals(node: exp.Expr) -> list[exp.Interval]:
    """The terms of a sum of intervals, as written."""
    if isinstance(node, exp.Interval):
        return [node]
    return _intervals(node.this) + _intervals(node.expression)


def infer_bitwise(symbol: str) -> Handler:
    def handler(node: exp.Expr, scope: Scope) -> Typed:
        left, right = infer(node.this, scope), infer(node.expression, scope)
        note_void(node, scope, left, right)
        return folded_with(bitwise(symbol, left, right), left, right)

    return handler


def infer_shift(symbol: str) -> Handler:
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
        return folded_with(Typed(targets[0].type, any(other.nullable for other in targets)), *sides)

    return handler


def infer_negated(node: exp.Neg, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    if isinstance(node.this, (exp.Literal, exp.TryCast)) and is_numeric(inner.type) and inner.value is not None:
        return inner
    return negated("-", inner)


def infer_inverted(node: exp.BitwiseNot, scope: Scope) -> Typed:
    inner = infer(node.this, scope)
    return folded_with(inverted(inner), inner)


def infer_concat(node: exp.DPipe, scope: Scope) -> Typed:
    left, right = infer(node.this, scope), infer(node.expression, scope)
    return folded_with(concatenated([left, right]), left, right)


def infer_adjacent(node: exp.Concat, scope: Scope) -> Typed:
    """String literals that stand side by side are one."""
    infer_children(node, scope)
    return Typed(STRING, False, True)
