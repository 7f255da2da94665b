"""`SELECT TRANSFORM(…) USING 'script' AS (…)`: the columns that a script is said to give."""

from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from catalog.types.datatypes import Struct
from catalog.types.typetext import TypeTextError, parse_type
from sql.expressions import infer
from sql.parsing.call_names import call_name
from sql.recognizer.script_transforms import SCRIPT_CALL
from sql.scopes.lineage import Dependency
from sql.scopes.misplaced_functions import own_nodes
from sql.scopes.relations import Attribute
from sql.scopes.scope import SelectScope
from sql.scopes.stars import is_star
from sql.types.expression_type import Typed


def is_script(node: exp.Expr) -> TypeGuard[exp.Anonymous]:
    return isinstance(node, exp.Anonymous) and call_name(node) == SCRIPT_CALL


def refuse_inputs(scope: SelectScope, node: exp.Expr, clause: str) -> None:
    """Report the script's inputs in ORDER BY, which sees its results alone."""
    for column in own_nodes(node):
        bound = scope.bound.get(id(column))
        if bound is not None and not bound.is_alias and not bound.depth:
            scope.report("PEN3004", column, f"{clause} sees the columns that the script returns, not its inputs")


def script_columns(scope: SelectScope, call: exp.Anonymous) -> tuple[Attribute, ...] | None:
    """The columns of a script transform, all nullable; None: they are not known."""
    *arguments, schema = call.expressions
    if isinstance(schema, exp.Distinct):
        scope.report("PEN3017", call, "TRANSFORM takes no DISTINCT", "use a subquery with SELECT DISTINCT")
        return None
    for argument in arguments:
        if isinstance(argument, exp.Alias):
            help = "name the results: `AS (x, y)`"
            scope.report("PEN3001", argument, "an argument of TRANSFORM takes no alias", help)
        if is_star(argument):
            scope.star(argument)
        else:
            infer(argument, scope)
    origins = scope.origins_for(Dependency.TRANSFORMATION)
    try:
        type = parse_type(f"struct<{schema.name}>")
    except TypeTextError as error:
        scope.report("PEN3013", schema, error.message, error.help)
        return None
    assert isinstance(type, Struct)
    columns = [replace(field, nullable=True) for field in type.fields]
    return tuple(Attribute(column.name, Typed(column.type), origins) for column in columns)
