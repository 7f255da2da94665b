"""The inputs of a block: nodes under the name that the job file uses, and the union of several."""

from dataclasses import dataclass, replace

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import store_assignment
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import has_unknown
from engine.job.model.job import Block, ColumnMatch
from engine.plan.building.inputs.matched_columns import First, differ_in_type, matched
from engine.plan.nodes import Node, Union


@dataclass(frozen=True, slots=True)
class Feed:
    """One input of a block: its name (None if the job gives none) and its nodes, one per table.

    `is_set`: it is a set of tables, even where it has but one.
    """

    name: str | None
    nodes: tuple[Node, ...]
    is_set: bool = False


def united(block: Block, name: str, feeds: tuple[Feed, ...], diagnostics: Diagnostics) -> tuple[Node, ...] | None:
    """The nodes of one feed, of several sets all their tables, of several tables their UNION ALL; None if schemas
    differ."""
    if len(feeds) == 1:
        return feeds[0].nodes
    if all(feed.is_set for feed in feeds):
        return tuple(node for feed in feeds for node in feed.nodes)
    if several := next((feed for feed in feeds if len(feed.nodes) > 1), None):
        diagnostics.error(
            "PEN2012", f"`{several.name}` has several tables and cannot be combined with other inputs", block.span
        )
        return None
    first, *others = feeds
    matches = [_matched(block, first, feed, diagnostics) for feed in others]
    further = tuple(node for node in matches if node is not None)
    if len(further) < len(others):
        return None
    nodes = (first.nodes[0], *further)
    return (Union(name, nodes, united_table(nodes), parallelism=block.parallelism, span=block.span),)


def _matched(block: Block, first: Feed, feed: Feed, diagnostics: Diagnostics) -> Node | None:
    """A further input with the columns of the first; None if it has others, which is reported."""
    node = feed.nodes[0]
    reference = next((input for input in block.inputs if input.name == feed.name), None)
    if reference is not None and reference.match is not ColumnMatch.EXACT:
        target = First(first.nodes[0].table, block.inputs[0].span)
        return matched(node, target, reference, diagnostics, store_assignment(block.options))
    if differs := difference(first.nodes[0].table, node.table):
        diagnostics.error(
            "PEN2012",
            f"`{feed.name}` and `{first.name}` differ: {differs}",
            reference.span if reference is not None else block.span,
            "inputs are combined by UNION ALL: give them equal columns, or read them by name in a `Sql` transform",
        )
        return None
    return node


def difference(a: CatalogTable, b: CatalogTable) -> str | None:
    """The first difference of two tables' columns, nullability aside."""
    if a.is_open or b.is_open:
        return None
    if len(a.columns) != len(b.columns):
        return f"{len(b.columns)} column{'s' * (len(b.columns) > 1)} against {len(a.columns)}"
    for mine, other in zip(a.columns, b.columns, strict=True):
        if mine.name.lower() != other.name.lower():
            return f"column `{other.name}` is at the position of `{mine.name}`"
        if differ_in_type(mine, other):
            return f"column `{mine.name}` is {other.type} and {mine.type}"
    return None


def united_table(nodes: tuple[Node, ...]) -> CatalogTable:
    tables = [node.table for node in nodes]
    first = next((table for table in tables if not table.is_open), tables[0])
    columns = (_merged([table.columns[i] for table in tables if not table.is_open]) for i in range(len(first.columns)))
    schema = replace(first.schema, columns=tuple(columns), primary_key=None, constraint_keys=())
    return replace(first, schema=schema, has_row_kind=any(table.has_row_kind for table in tables))


def _merged(columns: list[Column]) -> Column:
    known = next((column for column in columns if not has_unknown(column.type)), columns[0])
    return replace(known, name=columns[0].name, nullable=any(column.nullable for column in columns))
