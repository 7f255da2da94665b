"""The nodes of a tree in a list: sqlglot's `walk` resumes three generators for each node."""

from collections.abc import Callable

from sqlglot import exp


def tree_nodes(root: exp.Expr, is_leaf: Callable[[exp.Expr], bool] | None = None) -> list[exp.Expr]:
    """The tree, level by level as `walk` does; what is within a leaf is left out."""
    nodes = [root]
    kind = exp.Expr
    for node in nodes:  # which grows meanwhile
        if is_leaf is not None and is_leaf(node):
            continue
        for value in node.args.values():
            if value is None or value is False or isinstance(value, str):
                continue
            if isinstance(value, kind):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [item for item in value if isinstance(item, kind)]
    return nodes
