"""Constant patterns of LIKE ANY and ALL, which Spark's parser computes: nothing is cast for their operators."""

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from sql.expressions.walk import infer
from sql.parsing.like_patterns import are_constant_patterns, are_foldable_patterns, patterns
from sql.parsing.tree_nodes import tree_nodes
from sql.types.expression_type import Scope
from sql.types.type_family import kind_of

_INTEGERS: Final = frozenset(("tinyint", "smallint", "int", "bigint"))
_FRACTIONS: Final = frozenset(("decimal", "float", "double"))
_NUMBERS: Final = _INTEGERS | _FRACTIONS
_INTERVALS: Final = frozenset(("ym", "dt", "interval"))
_OPERATORS: Final[dict[type[exp.Expr], frozenset[str]]] = {
    **dict.fromkeys((exp.Add, exp.Sub), _NUMBERS | _INTERVALS),
    **dict.fromkeys((exp.Mul, exp.Mod), _NUMBERS),
    exp.Div: _FRACTIONS,
    exp.IntDiv: _INTEGERS | _INTERVALS | {"decimal"},
    exp.Neg: _NUMBERS | _INTERVALS,
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot), _INTEGERS),
    exp.Not: frozenset(("boolean",)),
    **dict.fromkeys((exp.Like, exp.ILike, exp.RegexpLike), frozenset(("string",))),
}
"""The families of types that an operator takes as they are."""
_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_COLLATE_BEFORE: Final = "write it before LIKE: `x COLLATE name LIKE ANY (…)`"


def refuse_uncast(node: exp.Any | exp.All, scope: Scope) -> None:
    """Report the first part of constant patterns in which Spark would have to cast something."""
    if not are_foldable_patterns(node):
        return
    is_computed = are_constant_patterns(node)
    for pattern in patterns(node):
        for part in reversed(tree_nodes(pattern)):  # operands before what is made of them
            if isinstance(part, exp.Collate):
                scope.report("PEN3008", part, "a constant pattern of LIKE ANY or ALL takes no COLLATE", _COLLATE_BEFORE)
                return
            if not _has_type(part, scope) or (is_computed and not _is_computable(part, scope)):
                message = "nothing is cast in a constant pattern of LIKE ANY or ALL: its operators take one type"
                scope.report("PEN3008", part, message, "cast the values")
                return


def _has_type(node: exp.Expr, scope: Scope) -> bool:
    """Whether the parser finds the type of a pattern."""
    match node:
        case exp.DPipe():
            return len({str(infer(side, scope).type) for side in (node.this, node.expression)}) == 1
        case exp.Case():
            results = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
            return len({str(infer(result, scope).type) for result in results if result is not None}) == 1
        case _:
            return True


def _is_computable(node: exp.Expr, scope: Scope) -> bool:
    match node:
        case exp.Case() if node.this is not None:
            return all(_are_one(scope, node.this, branch.this) for branch in node.args["ifs"])
        case exp.Is() if isinstance(node.expression, exp.Boolean):
            return _are_one(scope, node.this, node.expression)
        case exp.BitwiseLeftShift() | exp.BitwiseRightShift():
            value, places = _kinds(scope, node.this, node.expression)
            return value in ("int", "bigint", "void") and places in ("int", "void")
        case exp.Trim():
            return _are_all(scope, "string", node.this, node.expression)
        case exp.Substring():
            return _are_all(scope, "int", node.args.get("start"), node.args.get("length"))
        case exp.Overlay():
            is_text = _are_all(scope, "string", node.this, node.expression)
            return is_text and _are_all(scope, "int", node.args.get("from_"), node.args.get("for_"))
        case _ if isinstance(node, _COMPARISONS):
            return _are_one(scope, node.this, node.expression)
        case _ if type(node) in _OPERATORS:
            sides = (node.this, node.args.get("expression"))
            kinds = set(_kinds(scope, *sides))
            return "void" in kinds or (len(kinds) == 1 and kinds <= _OPERATORS[type(node)])
        case _:
            return True


def _kinds(scope: Scope, *operands: exp.Expr | None) -> Iterator[str]:
    return (kind_of(infer(operand, scope).type) for operand in operands if operand is not None)


def _are_one(scope: Scope, *operands: exp.Expr | None) -> bool:
    return len(set(_kinds(scope, *operands)) - {"void"}) <= 1


def _are_all(scope: Scope, kind: str, *operands: exp.Expr | None) -> bool:
    return set(_kinds(scope, *operands)) <= {kind, "void"}
