"""Chains of operators without brackets, nested as Spark's grammar does."""

import pytest
from sqlglot import exp

from sql.parsing.parse import parse


def nested(text: str) -> str:
    """The expression with brackets around each operator."""
    tree = parse(f"select {text}").tree.expressions[0]

    def shown(node: exp.Expr) -> str:
        if isinstance(node, exp.Paren):
            return shown(node.this)
        if isinstance(node, exp.Binary):
            sign = {exp.DPipe: "||", exp.Add: "+", exp.Mul: "*", exp.EQ: "="}.get(type(node), node.key)
            return f"({shown(node.this)} {sign} {shown(node.expression)})"
        return node.sql("spark")

    return shown(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a || b + 1", "((a || b) + 1)"),
        ("a + 1 || b", "((a + 1) || b)"),
        ("a || b * 2", "(a || (b * 2))"),
        ("a || b = c", "((a || b) = c)"),
        ("a | b & c", "(a bitwiseor (b bitwiseand c))"),
        ("a & b ^ c | d", "(((a bitwiseand b) bitwisexor c) bitwiseor d)"),
        ("a << 1 + 1", "(a bitwiseleftshift (1 + 1))"),
        ("a || (b + 1)", "(a || (b + 1))"),
        ("a + b * c", "(a + (b * c))"),
    ],
)
def test_a_chain(text, expected):
    assert nested(text) == expected
