"""Operators between values, and minus."""

import math
from decimal import Decimal as Number

from sqlglot import exp

from sql.naming.dispatch import Printer, first_offset, pretty
from sql.naming.literal_text import interval_sum, suffixed_number
from sql.types.expression_type import Scope


def pretty_chain(symbol: str) -> Printer:
    """`a AND b AND c …`, of which Spark's parser makes a balanced tree."""

    plain = pretty_binary(symbol)

    def printer(node: exp.Expr, scope: Scope) -> str:
        parts: list[str] = []
        left: exp.Expr = node
        while type(left) is type(node):
            if scope.printed.shape(left) is not None or (type(left.this) is not type(node) and left is node):
                return plain(node, scope)
            parts.append(pretty(left.args["expression"], scope))
            left = left.this
        parts.append(pretty(left, scope))
        return _balanced(parts[::-1], symbol)

    return printer


def _balanced(parts: list[str], symbol: str) -> str:
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return f"({_balanced(parts[:middle], symbol)} {symbol} {_balanced(parts[middle:], symbol)})"


def pretty_binary(symbol: str) -> Printer:
    def printer(node: exp.Expr, scope: Scope) -> str:
        left, right = pretty(node.this, scope), pretty(node.expression, scope)
        if symbol == ">>" and scope.text[: first_offset(node.expression) or 0].rstrip(" (").endswith(">>>"):
            return f"({left} >>> {right})"
        match scope.printed.shape(node):
            case "interval":
                return interval_sum(node)
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
                return f"({left} {symbol} {_whole(right, rounds_up=symbol in ('>=', '<'))})"
            case "whole_left":
                return f"({_whole(left, rounds_up=symbol in ('<=', '>'))} {symbol} {right})"
            case "moved_swapped":
                return f"{right} {symbol} {left}"
            case "true" | "false" as found:
                return found
            case "void":
                return f"(NULL {symbol} NULL)"
            case "void_left":
                return f"(NULL {symbol} {right})"
            case "void_right":
                return f"({left} {symbol} NULL)"
            case _:
                return f"({left} {symbol} {right})"

    return printer


def _whole(text: str, *, rounds_up: bool) -> str:
    """An integer is compared with the whole number next to a decimal literal."""
    try:
        return str(math.ceil(Number(text)) if rounds_up else math.floor(Number(text)))
    except ArithmeticError:
        return text


def pretty_unequal(symbol: str) -> Printer:
    printer = pretty_binary(symbol)
    return lambda node, scope: f"(NOT {printer(node, scope)})"


def _is_exact(number: exp.Expr, scope: Scope) -> bool:
    """Whether a number literal is an integer or a decimal, which have no zero below zero."""
    text = (suffixed_number(number, scope) if isinstance(number, exp.TryCast) else number.name) or ""
    return text.lower().endswith("bd") or not set(text.lower()) & set("edf")


def pretty_negated(node: exp.Neg, scope: Scope) -> str:
    inner = node.this
    is_number = isinstance(inner, exp.Literal) and not inner.is_string
    if is_number or (isinstance(inner, exp.TryCast) and suffixed_number(inner, scope) is not None):
        number = pretty(inner, scope)
        is_exact_zero = not number.strip("0.") and _is_exact(inner, scope)
        return number if is_exact_zero else "-" + number
    return f"(- {pretty(inner, scope)})"
