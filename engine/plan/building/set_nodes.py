"""Transforms of sets as such: tables renamed, left out, or several made one."""

from dataclasses import replace
from functools import partial

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.tables.table import TablePath
from engine.job.model.job import Block
from engine.plan.building.inputs.feeds import Feed, difference, united, united_table
from engine.plan.building.table_sets import member_names, options_for, refuse_equal_paths, refuse_unmatched
from engine.plan.nodes import Input, Node, Query, Union
from engine.transforms.base import SetTransform, TableGroup
from sql.analyze import analyze
from sql.rewrite.select_query import Select


def set_nodes(
    block: Block, name: str, plugin: SetTransform, feeds: tuple[Feed, ...], diagnostics: Diagnostics
) -> tuple[Node, ...] | None:
    """The nodes of the set that the transform makes of its input's tables; None if an error was reported."""
    inputs = united(block, f"{name}_inputs", feeds, diagnostics)
    if inputs is None:
        return None
    refuse_unmatched(block, name, inputs, diagnostics)
    groups = _groups(block, plugin, inputs, diagnostics)
    if groups is None:
        return None
    place = block.plugin_span or block.span
    if not groups:
        diagnostics.error("PEN2007", f"`{name}` leaves no table of its input", place, "see its patterns")
        return None
    names = member_names(name, [group.path for group in groups])
    if len(groups) == 1 and len(groups[0].members) > 1:
        names = (name,)
    make = partial(_node, block, inputs=inputs, table_set=name, diagnostics=diagnostics)
    nodes = [make(own, group) for own, group in zip(names, groups, strict=True)]
    made = tuple(node for node in nodes if node is not None)
    is_distinct = refuse_equal_paths(block, name, [node.table for node in made], diagnostics)
    return made if len(made) == len(nodes) and is_distinct else None


def _groups(
    block: Block, plugin: SetTransform, inputs: tuple[Node, ...], diagnostics: Diagnostics
) -> list[TableGroup] | None:
    """What the transform makes of the tables that it is for, and the others as they are, in their order."""
    tables = [node.table for node in inputs]
    chosen = [options_for(block, table.path) for table in tables]
    groups = [TableGroup(table.path, (index,)) for index, table in enumerate(tables) if chosen[index] is None]
    for options in {id(options): options for options in chosen if options is not None}.values():
        members = [index for index, own in enumerate(chosen) if own is options]
        made = plugin.groups([tables[index] for index in members], options, diagnostics)
        if made is None:
            return None
        groups += (TableGroup(group.path, tuple(members[index] for index in group.members)) for group in made)
    return sorted(groups, key=lambda group: group.members)


def _node(
    block: Block,
    name: str,
    group: TableGroup,
    *,
    inputs: tuple[Node, ...],
    table_set: str,
    diagnostics: Diagnostics,
) -> Node | None:
    nodes = tuple(inputs[index] for index in group.members)
    place = block.plugin_span or block.span
    if len(nodes) > 1:
        for other in nodes[1:]:
            if differs := difference(nodes[0].table, other.table):
                message = f"`{other.table.path}` and `{nodes[0].table.path}` differ: {differs}"
                help = "tables of equal columns can be made one; transform them first, with `table_transform`"
                diagnostics.error("PEN2012", message, place, help)
                return None
        table = replace(united_table(nodes), path=group.path)
        return Union(name, nodes, table, parallelism=block.parallelism, span=place, table_set=table_set)
    return nodes[0] if nodes[0].table.path == group.path else _renamed(block, name, group.path, nodes[0], table_set)


def _renamed(block: Block, name: str, path: TablePath, node: Node, table_set: str) -> Query:
    """The same rows as another table."""
    select = Select(node.name)
    analysis = analyze(select.to_text(), {node.name: node.table.renamed(node.name)}, output=name)
    analysis = replace(analysis, table=replace(node.table, path=path))
    inputs, place = (Input(node.name, node),), block.plugin_span or block.span
    return Query(name, block.plugin, select, inputs, analysis, span=place, table_set=table_set)
