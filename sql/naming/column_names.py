"""Columns and what is taken out of them: fields, elements and paths into variants."""

from typing import Final

from sqlglot import exp

from sql.naming.dispatch import pretty, pretty_all
from sql.naming.field_names import path_text
from sql.naming.function_names import RESOLVED_LATE
from sql.parsing.call_names import call_name
from sql.parsing.token_rewrites import path_name
from sql.parsing.tree_nodes import tree_nodes
from sql.types.expression_type import Scope

_UNNAMED: Final = "unnamed"


def unname_parts(item: exp.Expr, scope: Scope, *, is_aggregated: bool) -> None:
    """Record which names within an item next to a generator are not shown: Spark drops them as it moves the generator.

    Those of paths, but for the item that is one; and without GROUP BY or aggregates aliases, if anything in the item is
    resolved only after that.
    """
    whole, nodes = item.unnest(), tree_nodes(item)
    for node in nodes if ":" in scope.text else ():
        if isinstance(node, exp.Bracket) and node is not whole and path_text(node, scope) is not None:
            scope.printed.note_shape(node, _UNNAMED)
    if not is_aggregated and any(is_resolved_late(node, scope) for node in nodes):
        for node in nodes:
            if isinstance(node, exp.Alias):
                scope.printed.note_shape(node, _UNNAMED)


def is_resolved_late(node: exp.Expr, scope: Scope) -> bool:
    """Whether Spark resolves the node only after it has looked for generators for the first time."""
    match node:
        case exp.Window() | exp.Lambda() | exp.Query() | exp.CurrentDate() | exp.CurrentTime():
            return True
        case exp.Anonymous():
            return call_name(node).lower() in RESOLVED_LATE
        case exp.Bracket():
            return path_text(node, scope) is not None
        case _:
            return False


def pretty_alias(node: exp.Alias, scope: Scope) -> str:
    value = pretty(node.this, scope)
    return value if scope.printed.shape(node) == _UNNAMED else f"{value} AS {node.alias}"


def is_named_path(node: exp.Expr, scope: Scope) -> bool:
    """Whether the node is a path into a variant that ends in a name, which names what is cast."""
    is_path = isinstance(node, exp.Bracket) and path_name(path_text(node, scope) or "") is not None
    return is_path and scope.printed.shape(node) != _UNNAMED


def pretty_column(node: exp.Column, scope: Scope) -> str:
    if word := scope.printed.texts(node):
        return word[0]
    column, *fields = node.parts[scope.qualifier_length(node) :]
    steps = "".join(step(field, scope) for field in fields)
    if (qualifier := scope.outer_qualifier(node)) is not None:
        held = f"outer({qualifier}.{column.name})" if qualifier else f"outer({column.name})"
        return f"{held}{steps} AS {fields[-1].name}" if fields else held
    name = f"{column.name}{steps}"
    return f"lateralAliasReference({name})" if scope.is_lateral_alias(node) else name


def step(part: exp.Expr, scope: Scope) -> str:
    """A name behind a dot: of a field, or of the key of a map."""
    return f"[{part.name}]" if scope.printed.shape(part) == "key" else f".{part.name}"


def pretty_bracket(node: exp.Bracket, scope: Scope) -> str:
    path = path_text(node, scope)
    if path is None:
        held, key = pretty(node.this, scope), ", ".join(pretty_all(node.expressions, scope))
        return f"{held}.{key}" if scope.printed.shape(node) == "field" else f"{held}[{key}]"
    steps = path.lstrip(": ").replace("`", "")
    shown = f"variant_get({pretty(node.this, scope)}, ${'' if steps.startswith('[') else '.'}{steps})"
    name = path_name(path)
    if name is None or scope.printed.shape(node) == _UNNAMED:
        return shown
    return f"{shown} AS {name}" if name.replace("_", "a").isalnum() else f"{shown} AS `{name}`"
