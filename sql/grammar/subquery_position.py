"""Where a query stands in an expression."""

from sqlglot import exp


def outermost(node: exp.Expr) -> exp.Expr:
    """The query with all brackets around it, which is what stands in the expression."""
    while isinstance(node.parent, exp.Subquery):
        node = node.parent
    return node


def is_scalar(node: exp.Expr) -> bool:
    """Whether a query in an expression stands for one value."""
    outer = outermost(node)
    if isinstance(outer.parent, exp.In):
        return outer.arg_key != "query"
    return not isinstance(outer.parent, (exp.Exists, exp.Any, exp.All, exp.From, exp.Join, exp.Lateral))
