"""Calls of result rules, from the types of their arguments as text."""

from typing import Any

from sqlglot import exp

from catalog.types.datatypes import INT, STRING
from catalog.types.typenames import parse_type
from sql.functions.rules import RULES
from sql.functions.rules.call import Call
from sql.types.expression_type import Typed


def typed(text: str) -> Typed:
    """`int` of a nullable column, `int!` of one that is not null, and the literals `'a'`, `3` and `-3`."""
    if text.startswith("'"):
        return Typed(STRING, False, True, text.strip("'"))
    if text.lstrip("-").isdigit():
        return Typed(INT, False, True, int(text))
    return Typed(parse_type(text.rstrip("!")), not text.endswith("!"))


def result(rule: str, *arguments: str, name: str | None = None) -> str:
    """The type that the rule gives a call, and `!` where it also says that the call is not null."""
    args = [typed(argument) for argument in arguments]
    nodes = [exp.column(f"c{index}") for index in range(len(args))]
    no_scope: Any = None
    found = RULES[rule](Call(name or rule, nodes, args, args, no_scope, no_scope))
    return f"{found.type}{'' if found.nullable else '!'}" if isinstance(found, Typed) else str(found)
