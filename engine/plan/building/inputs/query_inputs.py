"""The names under which a query reads its inputs."""

from collections import Counter
from collections.abc import Mapping

from catalog.diagnostics.source import PlacedText
from engine.plan.building.inputs.feeds import Feed
from engine.plan.nodes import Node
from sql.parsing.query_text import tables_named
from sql.rewrite.table_names import with_table_names

DUAL = "dual"
"""Names by which SeaTunnel's jobs may read the input of a query."""


def reading_members(text: PlacedText, nodes: Mapping[str, Node]) -> PlacedText:
    """The query with the tables of sets that it reads (`crm.orders`, or `orders` where no other input is called so)
    under the names of their views."""
    members = {name: node for name, node in nodes.items() if "." in name}
    if not members:
        return text
    own = Counter(node.table.path.table.lower() for node in members.values())
    taken = {name.lower() for name in nodes}
    short = {
        table: name
        for name, node in members.items()
        if own[table := node.table.path.table.lower()] == 1 and table not in taken
    }
    return with_table_names(text, {**short, **{name.lower(): name for name in members}})


def called_as_written(feed: Feed, nodes: Mapping[str, Node], text: PlacedText) -> dict[str, Node]:
    """A single input under the name that the query uses: any name if it has none, else its own or `dual`."""
    (only,) = nodes.values()
    if feed.name is not None and DUAL not in text.value.lower() and not only.table_set:
        return dict(nodes)
    named = tables_named(text.value)
    own = (DUAL, only.table.path.table.lower() if only.table_set else DUAL)
    if len(named) == 1 and (feed.name is None or named[0].lower() in own) and "." not in named[0]:
        return {named[0]: only}
    return dict(nodes)
