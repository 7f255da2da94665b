"""The nodes of a tree in a list: sqlglot's `walk` resumes three generators for each node."""

from collections.abc import Set

from sqlglot import exp


def classes_of(*bases: type[exp.Expr]) -> frozenset[type[exp.Expr]]:
    """The classes of nodes that are instances of one of these: looking a class up is faster than `isinstance`."""
    kinds = (kind for kind in vars(exp).values() if isinstance(kind, type))
    return frozenset(kind for kind in kinds if issubclass(kind, bases))


def tree_nodes(root: exp.Expr, leaves: Set[type[exp.Expr]] = frozenset()) -> list[exp.Expr]:
    """The tree, level by level as `walk` does; what is within a node of the classes `leaves` is left out."""
    nodes = [root]
    kind = exp.Expr
    for node in nodes:  # which grows meanwhile
        if type(node) in leaves:
            continue
        for value in node.args.values():
            if value is None or value is False:
                continue
            held = type(value)
            if held is list:
                nodes += [item for item in value if isinstance(item, kind)]
            elif held is not str and isinstance(value, kind):
                nodes.append(value)
    return nodes
