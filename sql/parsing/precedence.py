"""Operators without brackets in Spark's order of precedence: to sqlglot `||`, `&`, `^`, `|`, `<<` and `>>` bind alike.

`'id-' || qty + 1` is `('id-' || qty) + 1` to Spark: `||` binds as `+` does.
"""

from typing import Final

from sqlglot import exp

from sql.parsing.tree_nodes import tree_nodes

_LEVELS: Final[dict[type[exp.Expr], int]] = {
    exp.Add: 5, exp.Sub: 5, exp.DPipe: 5,
    exp.BitwiseLeftShift: 4, exp.BitwiseRightShift: 4,
    exp.BitwiseAnd: 3, exp.BitwiseXor: 2, exp.BitwiseOr: 1,
}  # fmt: skip
_SIGNS: Final = ("||", "&", "^", "|", "<<", ">>")


def rebalanced(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree with chains of these operators as Spark's grammar nests them; in brackets they are as written."""
    if not any(sign in text for sign in _SIGNS):
        return tree
    for node in tree_nodes(tree):
        is_top = type(node) in _LEVELS and type(node.parent) not in _LEVELS
        if is_top and (type(node.this) in _LEVELS or type(node.args["expression"]) in _LEVELS):
            _rebuild(node)
    return tree


def _chain(node: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """Operands and operators from left to right."""
    operands: list[exp.Expr] = []
    operators: list[exp.Expr] = []
    waiting: list[tuple[exp.Expr, bool]] = [(node, False)]
    while waiting:
        item, is_operator = waiting.pop()
        if is_operator:
            operators.append(item)
        elif type(item) in _LEVELS:
            waiting += [(item.args["expression"], False), (item, True), (item.this, False)]
        else:
            operands.append(item)
    return operands, operators


def _rebuild(top: exp.Expr) -> None:
    operands, operators = _chain(top)
    parent, key, index = top.parent, top.arg_key, top.index
    made = [operands[0]]
    pending: list[exp.Expr] = []
    for operator, operand in zip(operators, operands[1:], strict=True):
        while pending and _LEVELS[type(pending[-1])] >= _LEVELS[type(operator)]:
            _reduce(made, pending)
        pending.append(operator)
        made.append(operand)
    while pending:
        _reduce(made, pending)
    if parent is not None and key is not None:
        parent.set(key, made[0], index=index)


def _reduce(made: list[exp.Expr], pending: list[exp.Expr]) -> None:
    """Gives the last operator the last two operands."""
    operator, right, left = pending.pop(), made.pop(), made.pop()
    operator.set("this", left)
    operator.set("expression", right)
    made.append(operator)
