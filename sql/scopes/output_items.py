"""The item of a SELECT list that yields an output column."""

from sqlglot import exp

from catalog.diagnostics.source import PlacedText, Span
from sql.parsing.node_ranges import Places
from sql.parsing.parse import parse
from sql.parsing.recursion import with_room


def output_item(tree: exp.Expr, index: int, columns: int) -> exp.Expr | None:
    """The item of a query that yields a column; a set operation's columns are those of its first query."""
    while isinstance(tree, (exp.SetOperation, exp.Subquery)):
        tree = tree.this
    items: list[exp.Expr] = tree.expressions if isinstance(tree, exp.Select) else []
    several = [at for at, item in enumerate(items) if item.is_star or isinstance(item, exp.Aliases)]
    if len(items) == columns or (several and index < several[0]):
        return items[index]
    if several and columns - index < len(items) - several[-1]:
        return items[index - columns]
    return items[several[-1]] if several else None


@with_room
def output_span(query: PlacedText, first: int, last: int, columns: int) -> Span | None:
    """Where the query's text has the columns `first` to `last` of as many as `columns`; None if it has no such list."""
    parsed = parse(query.value)
    found = [parsed.tree and output_item(parsed.tree, index, columns) for index in (first, last)]
    places = Places(query.value, parsed.tokens)
    ranges = [places.range(item) for item in found if item is not None]
    return query.span(ranges[0][0], ranges[1][1]) if len(ranges) == len(found) else None
