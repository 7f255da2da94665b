"""Columns and what is taken out of them: fields, elements and paths into variants."""

from sqlglot import exp

from sql.grammar.token_rewrites import path_name
from sql.naming.dispatch import pretty, pretty_all
from sql.naming.field_names import path_text
from sql.types.expression_type import Scope


def pretty_column(node: exp.Column, scope: Scope) -> str:
    if word := scope.printed.texts(node):
        return word[0]
    parts = [part.name for part in node.parts]
    if (qualifier := scope.outer_qualifier(node)) is not None:
        column, *fields = parts[scope.qualifier_length(node) :]
        held = f"outer({qualifier}.{column})" if qualifier else f"outer({column})"
        return f"{held}.{'.'.join(fields)} AS {fields[-1]}" if fields else held
    name = ".".join(parts[scope.qualifier_length(node) :])
    return f"lateralAliasReference({name})" if scope.is_lateral_alias(node) else name


def pretty_bracket(node: exp.Bracket, scope: Scope) -> str:
    path = path_text(node, scope)
    if path is None:
        held, key = pretty(node.this, scope), ", ".join(pretty_all(node.expressions, scope))
        return f"{held}.{key}" if scope.printed.shape(node) == "field" else f"{held}[{key}]"
    steps = path.lstrip(": ").replace("`", "")
    shown = f"variant_get({pretty(node.this, scope)}, ${'' if steps.startswith('[') else '.'}{steps})"
    name = path_name(path)
    if name is None:
        return shown
    return f"{shown} AS {name}" if name.replace("_", "a").isalnum() else f"{shown} AS `{name}`"
