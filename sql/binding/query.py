"""A query of any form: WITH, set operations, brackets, VALUES, SELECT."""

from sqlglot import exp

from sql.binding.ctes import with_ctes
from sql.binding.inline_tables import bind_values
from sql.binding.ordering import bind_limits, bind_order
from sql.binding.pipe_steps import bind_pipes, is_pipe
from sql.binding.select_statement import bind_select
from sql.binding.set_operations import bind_set_operation
from sql.scopes.analysis import Binder, Environment
from sql.scopes.relations import Output, RangeVariable, Relation, merge
from sql.scopes.scope import SelectScope


def bind_query(binder: Binder, node: exp.Expr, environment: Environment) -> Output:
    """The output of a query in an environment."""
    if isinstance(node, exp.Select) and is_pipe(node):
        return bind_pipes(binder, environment, node)
    inner = with_ctes(binder, node, environment)
    match node:
        case exp.Select():
            return bind_select(binder, inner, node)
        case exp.SetOperation():
            return _sorted(binder, inner, node, bind_set_operation(binder, inner, node))
        case exp.Subquery():
            return _sorted(binder, inner, node, binder.query(node.this, inner))
        case exp.Values():
            return bind_values(binder, inner, node)
        case _:
            binder.warn("PEN3014", node, f"this form of query is not understood here: {type(node).__name__}")
            return Output((), is_open=True)


def _sorted(binder: Binder, environment: Environment, node: exp.Expr, output: Output) -> Output:
    """ORDER BY and LIMIT behind a set operation or brackets see the output columns only."""
    scope = SelectScope(binder, environment, Relation((RangeVariable((), output, any_qualifier=True),)))
    origins = bind_order(scope, node, output.attributes)
    bind_limits(scope, node)
    return Output(output.attributes, merge(output.row_origins, origins), output.is_open) if origins else output
