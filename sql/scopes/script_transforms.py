"""`SELECT TRANSFORM(…) USING 'script' AS (…)`: the columns that a script is said to give."""

from dataclasses import replace

from sqlglot import exp

from catalog.datatypes import Struct
from catalog.typetext import TypeTextError, parse_type
from sql.expressions import infer
from sql.scopes.lineage import Dependency
from sql.scopes.relations import Attribute
from sql.scopes.scope import SelectScope
from sql.scopes.stars import is_star
from sql.types.expression_type import Typed


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
