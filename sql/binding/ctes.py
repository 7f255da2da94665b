"""WITH: common table expressions, recursive ones too."""

from sqlglot import exp

from catalog.types.datatypes import UNKNOWN
from sql.binding.set_operations import combine
from sql.scopes.alias_count import refuse_alias_count
from sql.scopes.analysis import Binder, Environment
from sql.scopes.misplaced_functions import find_special
from sql.scopes.relations import Output, all_nullable
from sql.types.coercion import is_equal_but_names


def with_ctes(binder: Binder, node: exp.Expr, environment: Environment) -> Environment:
    """The environment with the CTEs of a query's WITH clause."""
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
        refuse_alias_count(binder, cte.args["alias"], output)
        return Output((), output.row_origins, is_open=True)
    return output.renamed([column.name for column in columns])


def _recursive(binder: Binder, environment: Environment, cte: exp.Expr, body: exp.SetOperation) -> Output:
    """The anchor defines the columns, which the recursive part reads under the CTE's name."""
    environment = with_ctes(binder, body, environment)
    if body.args.get("distinct") and any(node.name.lower() == cte.alias.lower() for node in body.find_all(exp.Table)):
        help = "use UNION ALL"
        binder.report("PEN3017", cte.args["alias"], "a recursive CTE takes no UNION that removes duplicates", help)
    anchor = _renamed(binder, cte, binder.query(body.left, environment))
    if not isinstance(body, exp.Union) and not body.args.get("distinct"):
        reference = next((node for node in body.find_all(exp.Table) if node.name.lower() == cte.alias.lower()), None)
        if reference is not None:
            binder.report("PEN3017", reference, "a recursive CTE is a UNION ALL", "write UNION ALL")
    _refuse_places(binder, cte.alias.lower(), body)
    inside = environment.with_ctes({cte.alias.lower(): all_nullable(anchor)})
    step = binder.query(body.right, inside)
    found = combine(binder, body, anchor, step)
    _check_recursive_types(binder, cte, anchor, found)
    return _renamed(binder, cte, found)


def _refuse_places(binder: Binder, name: str, body: exp.SetOperation) -> None:
    """Spark refuses a recursive reference below an aggregate and on the side of an outer join that may have no row."""
    references = [table for table in body.right.find_all(exp.Table) if table.name.lower() == name]
    if references and any(body.args.get(key) for key in ("order", "limit", "offset")):
        binder.report("PEN3017", references[0], "a recursive CTE is a UNION ALL without ORDER BY and LIMIT")
    for table in references:
        select = table.find_ancestor(exp.Select)
        if select is None:
            continue
        if (sorted_ := _sorted_around(select, body)) is not None:
            binder.report("PEN3017", sorted_, "a recursive reference may not stand below ORDER BY or SORT BY")
            continue
        window = next((window for item in select.expressions for window in find_special(item).windows), None)
        if window is not None:
            binder.report("PEN3017", window, "a recursive reference may not stand below a window function")
            continue
        grouped = select.args.get("group") is not None
        if grouped or any(find_special(item).aggregates for item in select.expressions):
            binder.report("PEN3017", table, "a recursive reference may not stand below an aggregate")
        elif _may_be_missing(select, table):
            binder.report("PEN3017", table, "a recursive reference may not be on the optional side of an outer join")


def _sorted_around(node: exp.Expr | None, body: exp.Expr) -> exp.Expr | None:
    """The ORDER BY or SORT BY of a query of the recursive part that a reference is in."""
    while node is not None and node is not body:
        for key in ("order", "sort"):
            if (part := node.args.get(key)) is not None and isinstance(node, exp.Query):
                return part  # type: ignore[no-any-return]
        node = node.parent
    return None


def _may_be_missing(select: exp.Select, table: exp.Table) -> bool:
    sides = [(join, (join.args.get("side") or "").upper()) for join in select.args.get("joins") or ()]
    for at, (join, side) in enumerate(sides):
        if join.this is table:
            later = any(side in ("RIGHT", "FULL") for _, side in sides[at + 1 :])
            return side in ("LEFT", "FULL") or later
    return any(side in ("RIGHT", "FULL") for _, side in sides)


def _check_recursive_types(binder: Binder, cte: exp.Expr, anchor: Output, found: Output) -> None:
    """The recursive part must fit into the columns of the anchor, which are not widened."""
    for before, after in zip(anchor.attributes, found.attributes, strict=False):
        types = (before.typed.type, after.typed.type)
        if UNKNOWN not in types and not is_equal_but_names(*types):
            message = f"column `{before.name}` of the recursive CTE is {types[0]}, with its recursive part {types[1]}"
            binder.report("PEN3010", cte.args["alias"], message, "cast both to one type")
