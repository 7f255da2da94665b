"""Nodes of a job's tree made from a SQL script, with the locations of the words that they are made from."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from catalog.diagnostics.source import PlacedText, Segment
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode
from sql.script.tokens import concatenate


def place_of(text: PlacedText) -> Place:
    if not text.segments:
        return Place(text.source, 0, 0)
    return Place(text.source, text.segments[0].file_start, text.segments[-1].file_end)


def generated(value: str, at: PlacedText) -> PlacedText:
    """Generated text, located at the words that it replaces."""
    place = place_of(at)
    return PlacedText(value, at.source, (Segment(0, len(value), place.start, place.end),))


def text_node(text: PlacedText) -> TextNode:
    return TextNode(text, place_of(text))


def entry(key: str, value: Node, at: PlacedText | None = None) -> Entry:
    """An entry whose key stands at `at`, or where its value does."""
    return Entry(key, place_of(at) if at else value.place, value)


def list_node(items: Iterable[Node], at: PlacedText) -> ListNode:
    return ListNode(tuple(items), place_of(at))


def map_node(entries: Iterable[Entry], at: PlacedText) -> MapNode:
    return MapNode(tuple(entries), place_of(at))


def flag(value: bool, at: PlacedText) -> ScalarNode:
    return ScalarNode(value, place_of(at), str(value).lower())


def nested(entries: Sequence[Entry]) -> list[Entry]:
    """Entries with dotted keys as maps in maps, as HOCON reads them; the last value of a key counts."""
    merged: dict[str, Entry] = {}
    for entry in entries:
        head, _, rest = entry.key.partition(".")
        new = Entry(head, entry.key_place, MapNode((replace(entry, key=rest),), entry.value.place)) if rest else entry
        merged[head] = _merged(merged.get(head), new)
    return list(merged.values())


def _merged(before: Entry | None, after: Entry) -> Entry:
    if not isinstance(after.value, MapNode):
        return after
    own = before.value.entries if before and isinstance(before.value, MapNode) else ()
    return replace(before or after, value=replace(after.value, entries=tuple(nested([*own, *after.value.entries]))))


def joined(parts: Sequence[PlacedText | str], at: PlacedText) -> PlacedText:
    """One text of written parts and generated words, which stand at `at`."""
    return concatenate([generated(part, at) if isinstance(part, str) else part for part in parts])
