"""The name that Spark gives an expression without an alias (`toPrettySQL`): `sum(x)`, `(a + 1)`, `CAST(a AS INT)`.

`pretty` walks a tree of sqlglot's, by the table in `printers.py`; `output_name` is what it prints, but for columns and
fields.
"""

from sqlglot import exp

from sql.naming.column_names import is_named_path
from sql.naming.dispatch import pretty
from sql.naming.field_names import is_named_by_text, path_text, unbracketed
from sql.naming.literal_text import suffixed_number
from sql.parsing.call_names import call_name
from sql.parsing.token_rewrites import path_name
from sql.types.expression_type import Scope

__all__ = ["output_name", "suffixed_number"]


def output_name(node: exp.Expr, scope: Scope) -> str:
    """Spark's name of the expression."""
    match node:
        case exp.Paren():
            return output_name(node.this, scope)
        case exp.Column():
            named_by_text = is_named_by_text(node, scope)
            return pretty(node, scope) if named_by_text else next(iter(scope.printed.texts(node)), node.name)
        case exp.Dot():
            top = node.this
            is_struct = isinstance(top, exp.Column) and not is_named_by_text(top, scope)
            return node.name if is_struct else pretty(node, scope)
        case exp.Cast():
            inner = unbracketed(node.this)
            is_column = isinstance(inner, exp.Column) and len(inner.parts) == scope.qualifier_length(inner) + 1
            is_named = is_named_path(inner, scope) or is_column or isinstance(inner, exp.Alias)
            if is_named and not scope.printed.texts(inner) and pretty(node, scope).startswith(("CAST", "TRY_CAST")):
                return output_name(inner, scope)
            return pretty(node, scope)
        case exp.Anonymous() if call_name(node).lower() in ("window", "session_window"):
            return call_name(node).lower()
        case exp.Bracket() if (path := path_text(node, scope)) is not None:
            return path_name(path) or pretty(node, scope)
        case _:
            return pretty(node, scope)
