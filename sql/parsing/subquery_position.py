"""Where a query stands in an expression, and what IN has in its brackets."""

import re
from typing import Final

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


_UNUSUAL: Final = re.compile(r"\(\s*(?:\(|values\b)", re.IGNORECASE)


def with_listed_values(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree with `a IN ((SELECT 1))` as a list of one value, and `a IN (VALUES 1, 2)` as a subquery."""
    if not any(text[: found.start()].rstrip().lower().endswith("in") for found in _UNUSUAL.finditer(text)):
        return tree
    for node in list(tree.find_all(exp.In)):
        query = node.args.get("query")
        inner = query.this if query is not None else None
        if isinstance(inner, exp.Subquery) and not any(inner.args[name] for name in inner.args if name != "this"):
            node.set("query", None)
            node.set("expressions", [inner])
        elif len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Values):
            node.set("query", exp.Subquery(this=node.expressions[0]))
            node.set("expressions", [])
    return tree
