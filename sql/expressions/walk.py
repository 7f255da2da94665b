"""Walks an expression: a handler for each kind of node (`handlers.py`) returns its type and reports its errors."""

from collections.abc import Callable

from sqlglot import exp

from catalog.types.datatypes import VOID
from sql.expressions.collations import with_collations
from sql.types.expression_type import NOT_KNOWN, Scope, Typed
from sql.types.mismatch import Mismatch

Handler = Callable[..., Typed]


def infer(node: exp.Expr, scope: Scope) -> Typed:
    """The type of an expression; its errors are reported to the scope."""
    handler = scope.walk.handlers.get(type(node))
    if handler is None:
        infer_children(node, scope)
        return NOT_KNOWN
    try:
        found = handler(node, scope)
    except Mismatch as error:
        scope.report(_code(node), _operand(node, error.argument), error.message)
        return NOT_KNOWN
    return found if scope.collations is None else with_collations(node, found, scope)


def _code(node: exp.Expr) -> str:
    return "PEN3013" if isinstance(node, (exp.Literal, exp.Cast, exp.Interval, exp.HexString)) else "PEN3008"


def _operand(node: exp.Expr, argument: int | None) -> exp.Expr:
    if argument is None:
        return node
    operands = [
        operand for operand in (node.args.get("this"), node.args.get("expression")) if isinstance(operand, exp.Expr)
    ]
    return operands[argument] if argument < len(operands) else node


def infer_children(node: exp.Expr, scope: Scope) -> list[Typed]:
    skipped = (exp.Identifier, exp.DataType, exp.Star, exp.Var)
    return [infer(child, scope) for child in node.iter_expressions() if not isinstance(child, skipped)]


def folded_with(found: Typed, *sides: Typed) -> Typed:
    """The type of an operator, which is constant if its operands are."""
    for side in sides:
        if not side.foldable:
            return found
    return Typed(found.type, found.nullable, True)


def note_void(node: exp.Expr, scope: Scope, *sides: Typed) -> None:
    """Record that Spark replaces two untyped NULLs by typed ones, whatever their names were."""
    if len(sides) == 2 and all(side.type == VOID for side in sides):
        scope.printed.note_shape(node, "void")
