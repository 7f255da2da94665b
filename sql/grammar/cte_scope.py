"""Tells the CTEs of a query from tables of the same name."""

from collections.abc import Iterator

from sqlglot import exp


def is_cte(table: exp.Table) -> bool:
    """Whether the name is that of a CTE which is visible there.

    A CTE sees those before it, and itself only under RECURSIVE: `with orders as (select * from orders)` reads a table.
    """
    if len(table.parts) > 1:
        return False
    name = table.name.lower()
    node: exp.Expr = table
    while node.parent is not None:
        if any(cte.alias.lower() == name for cte in _visible(node.parent, node)):
            return True
        node = node.parent
    return False


def _visible(parent: exp.Expr, node: exp.Expr) -> Iterator[exp.Expr]:
    """The CTEs of `parent` that its part `node` sees; the steps of a pipe see those before the first."""
    if isinstance(parent, exp.With):
        position = next(index for index, cte in enumerate(parent.expressions) if cte is node)
        yield from parent.expressions[: position + bool(parent.args.get("recursive"))]
        return
    query: exp.Expr | None = parent
    while query is not None:
        clause = query.args.get("with_")
        if clause is not None and clause is not node:
            yield from clause.expressions
        query = query.args.get("input")
