"""Rows before IN and a subquery: Spark shows the struct that it makes of them."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from sql.naming.dispatch import pretty
from sql.naming.field_names import path_text, unbracketed
from sql.naming.function_names import NAMED_BY_CALL
from sql.naming.literal_text import suffixed_number
from sql.parsing.call_names import call_name
from sql.types.expression_type import Scope

_NAMED: Final = (exp.Literal, exp.RawString, exp.Null, exp.Concat, exp.Between, exp.Extract, exp.Identifier)
"""What has a name to Spark in addition to columns and fields: plain constants, and calls that it replaces by others."""


def row_before(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """The values of a row before IN, `(a, b)` or `struct(a, b)`; None of one value."""
    node = unbracketed(node)
    is_call = isinstance(node, exp.Anonymous) and call_name(node).lower() == "struct"
    return node.expressions if is_call or isinstance(node, exp.Tuple) else None


def pretty_row(node: exp.In, scope: Scope) -> str:
    """`named_struct('a', a, '_1', (b + 1))`: what has no name and is not cast has that of its position."""
    row = row_before(node.this)
    if row is None:
        return pretty(node.this, scope)
    if len(row) == 1:
        return pretty(row[0], scope)
    casts = scope.printed.casts(node) or (False,) * len(row)
    parts: list[str] = []
    for at, (value, is_cast) in enumerate(zip(row, casts, strict=False)):
        text = pretty(value, scope)
        name = _name(value, text, scope, is_cast=is_cast)
        escaped = (f"_{at}" if name is None else name).replace("\\", "\\\\").replace("'", "\\'")
        parts += [f"'{escaped}'", text]
    return f"named_struct({', '.join(parts)})"


def _name(node: exp.Expr, text: str, scope: Scope, *, is_cast: bool) -> str | None:
    node = unbracketed(node)
    match node:
        case _ if is_cast:
            return text
        case exp.Alias():
            return node.alias
        case exp.Column():
            if scope.printed.shape(node.this) == "key" or scope.printed.texts(node):  # as of `current_date`
                return None
            return node.name if scope.is_lateral_alias(node) else text
        case exp.Dot():
            return None if scope.printed.shape(node.expression) == "key" else text
        case exp.Neg():
            is_constant = isinstance(node.this, exp.Literal) or suffixed_number(node.this, scope) is not None
            return text if is_constant else None
        case exp.Cast() | exp.TryCast():
            is_written = suffixed_number(node, scope) is None and text.startswith(("CAST(", "TRY_CAST("))
            return None if is_written or node.this.is_string else text
        case exp.Bracket():
            return text if scope.printed.shape(node) == "field" or path_text(node, scope) is not None else None
        case exp.Anonymous():
            return text if call_name(node).lower() in NAMED_BY_CALL else None
        case _:
            return text if isinstance(node, _NAMED) else None
