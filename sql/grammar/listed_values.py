"""What IN has in its brackets: sqlglot and Spark tell a subquery from a list of values differently."""

import re
from typing import Final

from sqlglot import exp

_UNUSUAL: Final = re.compile(r"\bin\s*\(\s*(?:\(|values\b)", re.IGNORECASE)


def with_listed_values(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree with `a IN ((SELECT 1))` as a list of one value, and `a IN (VALUES 1, 2)` as a subquery."""
    if not _UNUSUAL.search(text):
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
