"""Column lineage: which source columns a column depends on, and how."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from sqlglot import exp

from sql.parsing.tree_nodes import classes_of


class Dependency(str, Enum):
    """How an output column depends on a source column (OpenLineage's column lineage facet, DIRECT and INDIRECT)."""

    IDENTITY = "identity"
    TRANSFORMATION = "transformation"
    AGGREGATION = "aggregation"
    FILTER = "filter"
    JOIN = "join"
    GROUP_BY = "group_by"
    SORT = "sort"
    WINDOW = "window"
    CONDITIONAL = "conditional"


class ColumnLineage(NamedTuple):
    """One output column depends on one column of one input, in one way.

    `output` is None if every output column does: the source column decides which rows there are, or their order.
    """

    output: str | None
    input: str
    column: str
    dependency: Dependency


class Origin(NamedTuple):
    """A column of an input that something depends on."""

    input: str
    column: str
    dependency: Dependency


Origins: TypeAlias = tuple[Origin, ...]

_DIRECT: Final = (Dependency.IDENTITY, Dependency.TRANSFORMATION, Dependency.AGGREGATION)


def through(origins: Iterable[Origin], use: Dependency) -> Origins:
    """The origins of what uses a column of those origins in that way."""
    if use is Dependency.IDENTITY:
        return tuple(origins)
    composed = [Origin(origin.input, origin.column, _compose(origin.dependency, use)) for origin in origins]
    return tuple(composed) if len(composed) < 2 else tuple(dict.fromkeys(composed))


def _compose(first: Dependency, use: Dependency) -> Dependency:
    """A direct use of an indirect dependency stays indirect; of two direct ones the stronger counts."""
    if first is use or first is Dependency.IDENTITY or use not in _DIRECT:
        return use
    if first not in _DIRECT:
        return first
    return max(first, use, key=_DIRECT.index)


_DECIDING: Final = classes_of(exp.Window, exp.If, exp.Case, exp.Filter)


def use_of(node: exp.Expr, root: exp.Expr, is_aggregate: Callable[[exp.Expr], bool]) -> Dependency:
    """How the expression `root` uses `node`, a column or subquery within it."""
    if node is root:
        return Dependency.IDENTITY
    use = Dependency.TRANSFORMATION
    child, parent = node, node.parent
    while parent is not None:
        if type(parent) not in _DECIDING:
            if use is Dependency.TRANSFORMATION and is_aggregate(parent):
                use = Dependency.AGGREGATION
        elif isinstance(parent, exp.Window):
            if child.arg_key != "this":
                return Dependency.WINDOW
        elif isinstance(parent, exp.Filter):
            if child.arg_key == "expression":
                return Dependency.CONDITIONAL
        elif child.arg_key == "this":
            use = Dependency.CONDITIONAL
        if parent is root:
            break
        child, parent = parent, parent.parent
    return use
