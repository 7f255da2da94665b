"""A query of any form: WITH, set operations, brackets, VALUES, SELECT."""

from collections.abc import Sequence

from sqlglot import exp

from catalog.datatypes import UNKNOWN, DataType
from sql.binder import Binder, Environment
from sql.calls import call_name
from sql.coercion import is_equal_but_names, widest_unpromoted
from sql.expressions import infer
from sql.ordering import bind_limits, bind_order
from sql.pipe_steps import bind_pipes, is_pipe
from sql.relations import Attribute, Output, Relation, Source, all_nullable, merge
from sql.scopes import SelectScope
from sql.selects import bind_select
from sql.setops import bind_set_operation, combine
from sql.typed import Typed


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
            return _values(binder, inner, node)
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


def _values(binder: Binder, environment: Environment, node: exp.Values) -> Output:
    """An inline table: each column of the widest type of its values."""
    scope = SelectScope(binder, environment, Relation())
    rows = [_row(each) for each in node.expressions]
    width = len(rows[0])
    for row, tuple_ in zip(rows, node.expressions, strict=True):
        if len(row) != width:
            binder.report("PEN3010", tuple_, f"a row of {len(row)} values in an inline table of {width} columns")
            return Output((), is_open=True)
    typed = [[infer(value, scope) for value in row] for row in rows]
    origins = scope.take_used()
    columns = []
    for position in range(width):
        column = [row[position] for row in typed]
        type_ = _common(binder, [row[position] for row in rows], [each.type for each in column])
        nullable = any(each.nullable for each in column)
        columns.append(Attribute(f"col{position + 1}", Typed(type_, nullable), merge(*(used for _, used in origins))))
    return Output(tuple(columns))


def _row(node: exp.Expr) -> list[exp.Expr]:
    """The values of a row; `struct(…)` alone is one as well."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple):
        values = list(node.expressions)
        return _row(values[0]) if len(values) == 1 else values
    if isinstance(node, exp.Anonymous) and call_name(node).lower() == "struct":
        return [each.this if isinstance(each, exp.Alias) else each for each in node.expressions]
    return [node]


def _common(binder: Binder, nodes: Sequence[exp.Expr], types: Sequence[DataType]) -> DataType:
    result = types[0]
    for node, type_ in zip(nodes[1:], types[1:], strict=True):
        both = widest_unpromoted(result, type_)
        if both is None:
            binder.report("PEN3010", node, f"an inline table has {result} and {type_} in one column")
            return UNKNOWN
        result = both
    return result
