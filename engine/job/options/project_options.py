"""Options that a block has from its project: those of its `connection`, and the defaults of its connector."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Option
from engine.job.hocon.concatenation import merged
from engine.job.model.job import BlockKind
from engine.job.model.project_defaults import ProjectDefaults
from engine.job.model.tree import MapNode, TextNode, kind_of

CONNECTION: Final = "connection"
CONNECTOR: Final = "connector"
"""The key of a connection that says for which connector it is."""


def with_project_options(
    block: MapNode,
    plugin: tuple[BlockKind, str],
    project: ProjectDefaults,
    spec: Collection[Option],
    diagnostics: Diagnostics,
) -> MapNode:
    """The block over the options of its connection, over those that the project gives each block of its connector.

    `spec`: a connection of a source and a sink may have options of one of them; the other passes over these.
    """
    kind, name = plugin
    connection, block = _taken(block, name, project, diagnostics)
    for below in (connection, project.blocks.get((kind, name.lower()))):
        if below is not None:
            block = replace(merged(_known(below, spec), block), place=block.place)
    return block


def with_defaults(block: MapNode | None, below: MapNode | None) -> MapNode | None:
    """The block over what the project gives it."""
    if block is None or below is None:
        return block or below
    return replace(merged(below, block), place=block.place)


def _taken(
    block: MapNode, plugin: str, project: ProjectDefaults, diagnostics: Diagnostics
) -> tuple[MapNode | None, MapNode]:
    """The connection that the block names, and the block without the name."""
    entry = block.entry(CONNECTION)
    if entry is None or entry not in block.entries:
        return None, block
    rest = replace(block, entries=tuple(other for other in block.entries if other is not entry))
    if not isinstance(entry.value, TextNode):
        message = f"`{CONNECTION}` is {kind_of(entry.value)}, not the name of a connection"
        diagnostics.error("PEN2705", message, entry.value.place.span)
        return None, rest
    name = entry.value.value
    found = project.connections.get(name)
    if found is None:
        help = did_you_mean(name, project.connections) or f"add `connections {{ {name} {{ … }} }}` to penstock.conf"
        diagnostics.error("PEN2705", f"there is no connection `{name}`", entry.value.place.span, help)
        return None, rest
    connector = found.get(CONNECTOR)
    if isinstance(connector, TextNode) and connector.value.lower() != plugin.lower():
        message = f"the connection `{name}` is for `{connector.value}`, not for `{plugin}`"
        diagnostics.error("PEN2705", message, entry.value.place.span, f"it is declared at {connector.place.span}")
        return None, rest
    return replace(found, entries=tuple(entry for entry in found.entries if entry.key != CONNECTOR)), rest


def _known(options: MapNode, spec: Collection[Option]) -> MapNode:
    names = [name for option in spec for name in (option.name, *option.alternatives)]
    names += [f"{name}_file" for name in names]
    first_parts = {name.split(".", maxsplit=1)[0] for name in names} | set(names)
    return replace(options, entries=tuple(entry for entry in options.entries if entry.key in first_parts))
