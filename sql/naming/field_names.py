"""The names that parts of a struct have without an alias."""

from typing import Final

from sqlglot import exp

from sql.parsing.token_rewrites import is_path, path_name
from sql.types.expression_type import Scope

_BARE_WORDS: Final[dict[type[exp.Expr], str]] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentTime: "current_time",
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
}
"""Functions without brackets, which name the field that they become."""


def own_name(node: exp.Expr, scope: Scope) -> str | None:
    """The name that a column, a field or the value of a key has without an alias."""
    node = unbracketed(node)
    if isinstance(node, exp.Bracket) and len(node.expressions) == 1 and node.expressions[0].is_string:
        path = path_text(node, scope)
        return path_name(path) if path else str(node.expressions[0].name)
    if type(node) in _BARE_WORDS:
        return _BARE_WORDS[type(node)]
    if is_named_by_text(node, scope):
        return None
    return node.name if isinstance(node, (exp.Column, exp.Identifier, exp.Dot)) else None


def is_named_by_text(node: exp.Expr, scope: Scope) -> bool:
    """Whether IDENTIFIER gives the name of a column, whose parts are in a string literal then: none names a result."""
    start = node.parts[0].meta.get("start") if isinstance(node, exp.Column) else None
    return start is not None and start > 0 and scope.text[start - 1] in "'\""


def unbracketed(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def path_text(node: exp.Bracket, scope: Scope) -> str | None:
    """The text of `:a.b`, from its colon on; None for `[…]`."""
    meta = node.expressions[0].meta if len(node.expressions) == 1 else {}
    start, end = meta.get("start"), meta.get("end")
    return scope.text[start : end + 1] if start is not None and end is not None and is_path(scope.text, start) else None
