"""The walk over an expression: each node is printed as `printers.py` has it for its kind, else as sqlglot writes it."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from sql.types.expression_type import Scope

Printer = Callable[..., str]


def pretty(node: exp.Expr | None, scope: Scope) -> str:
    """The expression as Spark prints it in names and messages."""
    if node is None:
        return ""
    printer = scope.walk.printers.get(type(node))
    return printer(node, scope) if printer is not None else node.sql("spark")


def pretty_all(nodes: Sequence[exp.Expr], scope: Scope) -> list[str]:
    return [pretty(node, scope) for node in nodes]


def pretty_word(text: str) -> Printer:
    return lambda node, scope: text


def first_offset(node: exp.Expr) -> int | None:
    """The offset of the first name or literal within."""
    starts = [inner.meta["start"] for inner in node.walk() if "start" in inner.meta]
    return min(starts) if starts else None
