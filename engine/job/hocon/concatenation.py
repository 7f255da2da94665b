"""Combines values: maps are merged, texts and blanks joined, with their locations."""

import re
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

from catalog.diagnostics.source import PlacedText, Segment
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode


def merged(base: MapNode, over: MapNode) -> MapNode:
    """The entries of `base` overridden by those of `over`, also in nested maps."""
    entries = {entry.key: entry for entry in base.entries}
    for newer in over.entries:
        before = entries.get(newer.key)
        if before and isinstance(before.value, MapNode) and isinstance(newer.value, MapNode):
            entries[newer.key] = Entry(newer.key, newer.key_place, merged(before.value, newer.value))
        else:
            entries[newer.key] = newer
    return MapNode(tuple(entries.values()), over.place)


def all_merged(before: Node | None, nodes: list[Node]) -> MapNode:
    """The maps among the nodes laid over each other, then over `before` where that is one: what they have of it stays,
    also where one of them replaces it and a later one does not."""
    result = reduce(merged, (node for node in nodes if isinstance(node, MapNode)))
    return merged(before, result) if isinstance(before, MapNode) else result


_SHAPES: Final[Mapping[type, Callable[..., object]]] = {MapNode: dict, ListNode: list, TextNode: str, ScalarNode: str}


def shape(node: Node) -> object:
    """The shape of a node; only nodes of one shape can be concatenated."""
    return _SHAPES[type(node)]


def bare(text: str, place: Place) -> TextNode:
    """A text that stands in the file as something else: a variable, a default."""
    return TextNode(PlacedText(text, place.source, (Segment(0, len(text), place.start, place.end),)), place)


def moved(node: Node, place: Place) -> Node:
    """A substituted value within a longer text: it stands where the substitution does."""
    match node:
        case TextNode(is_resolved=resolved):
            return TextNode(bare(node.value, place).text, place, resolved)
        case ScalarNode(value, _, written):
            return ScalarNode(value, place, written)
        case _:
            return node


def blanks_between(before: Place, after: Place) -> PlacedText:
    """The text between two places of one line; a line that goes on after a backslash is one."""
    text = re.sub(r"\\\r?\n[ \t]*", "", before.source.text[before.end : after.start])
    if len(text) == after.start - before.end:
        return PlacedText.verbatim(before.source, before.end, after.start)
    return PlacedText(text, before.source, (Segment(0, len(text), before.end, after.start),))
