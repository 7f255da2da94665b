"""A query of any form: WITH, set operations, brackets, VALUES, SELECT."""

from sqlglot import exp

from catalog.datatypes import UNKNOWN
from sql.binder import Binder, Environment
from sql.coercion import is_equal_but_names
from sql.inline_tables import bind_values
from sql.ordering import bind_limits, bind_order
from sql.pipe_steps import bind_pipes, is_pipe
from sql.relations import Output, Relation, Source, all_nullable, merge
from sql.scopes import SelectScope
from sql.selects import bind_select
from sql.setops import bind_set_operation, combine


def bind_query(binder: Binder, node: exp.Expr, environment: Environment) -> Output:
    """The output of a query that stands in that environment."""
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
    scope = SelectScope(binder, environment, Relation((Source((), output, any_qualifier=True),)))
    origins = bind_order(scope, node, output.attributes)
    bind_limits(scope, node)
    return Output(output.attributes, merge(output.row_origins, origins), output.is_open) if origins else output


def with_ctes(binder: Binder, node: exp.Expr, environment: Environment) -> Environment:
    """The environment with the CTEs that stand before a query."""
    with_ = node.args.get("with_")
    if with_ is None:
        return environment
    known: dict[str, Output] = {}
    for cte in with_.expressions:
        name = cte.alias
        if name.lower() in known:
            binder.report("PEN3018", cte.args["alias"], f"two CTEs are named `{name}`")
        inside = environment.with_ctes(known)
        body = cte.this
        if with_.args.get("recursive") and isinstance(body, exp.SetOperation):
            known[name.lower()] = _recursive(binder, inside, cte, body)
        else:
            known[name.lower()] = _renamed(binder, cte, binder.query(body, inside))
    return environment.with_ctes(known)


def _renamed(binder: Binder, cte: exp.Expr, output: Output) -> Output:
    columns = cte.args["alias"].args.get("columns")
    if not columns:
        return output
    if len(columns) != len(output.attributes) and not output.is_open:
        message = f"{len(columns)} column aliases for {len(output.attributes)} columns"
        binder.report("PEN3007", cte.args["alias"], message)
    return output.renamed([column.name for column in columns])


def _recursive(binder: Binder, environment: Environment, cte: exp.Expr, body: exp.SetOperation) -> Output:
    """The anchor gives the columns, which the recursive part then sees under the CTE's name."""
    environment = with_ctes(binder, body, environment)
    if body.args.get("distinct") and any(each.name.lower() == cte.alias.lower() for each in body.find_all(exp.Table)):
        help = "use UNION ALL"
        binder.report("PEN3017", cte.args["alias"], "a recursive CTE takes no UNION that removes duplicates", help)
    anchor = _renamed(binder, cte, binder.query(body.left, environment))
    inside = environment.with_ctes({cte.alias.lower(): all_nullable(anchor)})
    step = binder.query(body.right, inside)
    found = combine(binder, body, anchor, step)
    _check_recursive_types(binder, cte, anchor, found)
    return _renamed(binder, cte, found)


def _check_recursive_types(binder: Binder, cte: exp.Expr, anchor: Output, found: Output) -> None:
    """The recursive part must fit into the columns of the anchor, which are not widened."""
    for before, after in zip(anchor.attributes, found.attributes, strict=False):
        types = (before.typed.type, after.typed.type)
        if UNKNOWN not in types and not is_equal_but_names(*types):
            message = f"column `{before.name}` of the recursive CTE is {types[0]}, with its recursive part {types[1]}"
            binder.report("PEN3010", cte.args["alias"], message, "cast both to one type")
