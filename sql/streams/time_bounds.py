"""Joins of two streams: whether each side's rows can be forgotten, because no later row of the other side matches them.

That is so where the event times of both are equal, or each is within an interval of the other:

    s.id = r.id and r.ts between s.ts and s.ts + interval 1 hour
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp

from sql.streams.event_times import StreamRelation, event_time_of

_LESS: Final = (exp.LT, exp.LTE)
_GREATER: Final = (exp.GT, exp.GTE)
_UNBOUNDED_UNITS: Final = ("YEAR", "MONTH", "QUARTER")


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND joins; BETWEEN as two."""
    match condition:
        case None:
            return
        case exp.Paren():
            yield from conjuncts(condition.this)
        case exp.And():
            yield from conjuncts(condition.left)
            yield from conjuncts(condition.right)
        case exp.Between() if not condition.args.get("symmetric"):
            yield exp.GTE(this=condition.this.copy(), expression=condition.args["low"].copy())
            yield exp.LTE(this=condition.this.copy(), expression=condition.args["high"].copy())
        case _:
            yield condition


def has_equality(conditions: Sequence[exp.Expr], using: Sequence[str]) -> bool:
    return bool(using) or any(isinstance(condition, exp.EQ | exp.NullSafeEQ) for condition in conditions)


def is_bounded(
    conditions: Sequence[exp.Expr], using: Sequence[str], left: StreamRelation, right: StreamRelation
) -> bool:
    """Whether the conditions bound how long the rows of both sides are needed."""
    shared = left.event_times & right.event_times
    if any(name in shared for name in using):
        return True
    bounds: set[str] = set()
    for condition in conditions:
        if not isinstance(condition, exp.EQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
            continue
        first, second = (_moment(side, (left, right)) for side in (condition.this, condition.expression))
        if first is None or second is None or first is second:
            continue
        if isinstance(condition, exp.EQ):
            is_key = event_time_of(condition.this, (left, right)) and event_time_of(condition.expression, (left, right))
            bounds |= {"lower", "upper"} if is_key else set()
        elif isinstance(condition, _LESS):
            bounds.add("lower" if first is left else "upper")
        elif isinstance(condition, _GREATER):
            bounds.add("upper" if first is left else "lower")
    return len(bounds) == 2


def _moment(node: exp.Expr, relations: Sequence[StreamRelation]) -> StreamRelation | None:
    """The stream whose event time the expression is, plus or minus an interval."""
    match node:
        case exp.Paren():
            return _moment(node.this, relations)
        case exp.Add() | exp.Sub() if _is_fixed(node.expression):
            return _moment(node.this, relations)
        case exp.Add() if _is_fixed(node.this):
            return _moment(node.expression, relations)
    return event_time_of(node, relations)


def _is_fixed(node: exp.Expr) -> bool:
    """Whether it is an interval of a fixed length."""
    if not isinstance(node, exp.Interval):
        return False
    text = f"{node.this} {node.args.get('unit') or ''}".upper()
    return not any(unit in text for unit in _UNBOUNDED_UNITS)
