"""Replaces table names in a user's query by those that Spark uses."""

from collections.abc import Mapping

from sqlglot import exp

from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from sql.parsing.parse import parse
from sql.parsing.query_text import is_cte
from sql.parsing.recursion import with_room


@with_room
def with_table_names(query: PlacedText, names: Mapping[str, str]) -> PlacedText:
    """The query with tables of these names (lower case, parts with dots between) read by their new names.

    `FROM crm.orders` becomes ``FROM `crm.orders` AS `orders` ``: a view has a name of one part, and what the query
    says of `orders.id` stays true.
    """
    parsed = parse(query.value)
    parts: list[str | PlacedText] = []
    position = 0
    for start, end, table in sorted(_tables(parsed.tree), key=lambda found: found[0]):
        name = ".".join(part.name for part in table.parts)
        new = names.get(name.lower())
        if new is None or is_cte(table) or start < position:
            continue
        alias = "" if table.args.get("alias") else f" AS {quote(table.name)}"
        parts += (query.slice(position, start), f"{quote(new)}{alias}")
        position = end
    return PlacedText.join([*parts, query.slice(position, len(query.value))]) if parts else query


def _tables(tree: exp.Expr | None) -> list[tuple[int, int, exp.Table]]:
    """The tables of a query that stand for themselves, with the range of their names."""
    found = []
    for table in tree.find_all(exp.Table) if tree is not None else ():
        first, last = (part.meta for part in (table.parts[0], table.parts[-1]))
        if isinstance(table.this, exp.Identifier) and "start" in first and "end" in last:
            found.append((int(first["start"]), int(last["end"]) + 1, table))
    return found
