"""Decides from the types of its columns whether an expression may raise under ANSI; in doubt, it may.

Under ANSI nearly everything may: arithmetic overflows, a comparison of a number with a string casts the string.
"""

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from catalog.types.datatypes import (  # fmt: skip
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL_TYPES,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    DataType,
)
from sql.parsing.call_names import call_name
from sql.rewrite.fragments import parse_expression

COMPARABLE: Final = (*INTEGRAL_TYPES, FLOAT, DOUBLE, STRING, BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY)
NUMBERS: Final = (*INTEGRAL_TYPES, FLOAT, DOUBLE)
COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)

STRING_FUNCTIONS: Final = {
    "upper": STRING, "ucase": STRING, "lower": STRING, "lcase": STRING, "trim": STRING, "ltrim": STRING,
    "rtrim": STRING, "btrim": STRING, "reverse": STRING, "concat": STRING, "replace": STRING, "initcap": STRING,
    "length": INT, "char_length": INT, "startswith": BOOLEAN, "endswith": BOOLEAN, "contains": BOOLEAN,
}  # fmt: skip
"""Functions that take strings only, never raise on them, and what they give."""


def may_raise(expression: str, columns: Mapping[str, DataType]) -> bool:
    """Whether evaluating the expression might raise; `columns` (names in lower case) are those of its one source."""
    tree = parse_expression(expression)
    return tree is None or _safe_type(tree, columns) is None


def _safe_type(node: exp.Expr, columns: Mapping[str, DataType]) -> DataType | None:
    """The type of an expression that cannot raise; None if that is not sure."""
    match node:
        case exp.Column():
            return columns.get(node.name.lower()) if len(node.parts) == 1 else None
        case exp.Paren():
            return _safe_type(node.this, columns)
        case exp.Boolean():
            return BOOLEAN
        case exp.Null():
            return VOID
        case exp.Literal():
            return _literal(node)
        case exp.Is():
            return BOOLEAN if isinstance(node.expression, exp.Null) and _safe_type(node.this, columns) else None
        case exp.Not() | exp.And() | exp.Or():
            return (
                BOOLEAN
                if all(_safe_type(expression, columns) == BOOLEAN for expression in node.iter_expressions())
                else None
            )
        case exp.In():
            sides = [node.this, *node.expressions] if node.expressions else [node.this, exp.Star()]
            return _compared(sides, columns)
        case exp.Between():
            return _compared([node.this, node.args["low"], node.args["high"]], columns)
        case exp.Anonymous():
            result = STRING_FUNCTIONS.get(call_name(node).lower())
            return result if all(_safe_type(expression, columns) == STRING for expression in node.expressions) else None
        case _ if isinstance(node, COMPARISONS):
            return _compared([node.this, node.expression], columns)
        case _:
            return None


def _compared(sides: list[exp.Expr], columns: Mapping[str, DataType]) -> DataType | None:
    """Boolean where the sides can be compared without a cast that may fail."""
    types = {_safe_type(side, columns) for side in sides}
    same = len(types) == 1 and types <= set(COMPARABLE)
    return BOOLEAN if same or types <= set(NUMBERS) else None


def _literal(node: exp.Literal) -> DataType | None:
    if node.is_string:
        return STRING
    text = node.name
    if text.isdigit():
        return INT if len(text) < 10 else BIGINT if len(text) < 19 else None
    return None
