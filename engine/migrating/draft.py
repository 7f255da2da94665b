"""A block while it is migrated: its options under their full names, and what its comments will report."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from catalog.diagnostics.source import PlacedText, Span
from catalog.tables.table import CatalogTable
from engine.job.model.job import Block
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"


TABLE_LISTS: Final = ("tables_configs", "table_list", "index_list")


@dataclass(eq=False, slots=True)
class Draft:
    """`block` is the block as read under `--compat seatunnel`; `table` is what a source reads or a sink writes;
    `members`: its entries of `tables_configs`, each as a block of one table."""

    node: MapNode
    block: Block
    table: CatalogTable | None
    options: dict[str, Node]
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    members: "tuple[Draft, ...]" = ()

    def put(self, name: str, value: "Plain | Node", note: str | None = None) -> None:
        """Set an option; `note` is the comment that gives the reason."""
        self.options[name] = value if isinstance(value, Node) else as_node(value, self.node.place)
        if note:
            self.notes.append(note)

    def drop(self, name: str, note: str | None = None) -> None:
        if self.options.pop(name, None) is not None and note:
            self.notes.append(note)

    def rename(self, name: str, new: str) -> None:
        self.options = {new if key == name else key: value for key, value in self.options.items()}

    @property
    def result(self) -> MapNode:
        """The block with its options as they are now."""
        place = self.node.place
        name = TextNode(PlacedText.bare(self.block.plugin), place)
        return MapNode((Entry("plugin_name", place, name), *self._entries(self.options)), place)

    def gather(self) -> None:
        """Put the members, as they are now, back into the list that they are from, with their comments."""
        name = next(name for name in TABLE_LISTS if name in self.options)
        items = tuple(MapNode(member._entries(member.options), member.node.place) for member in self.members)
        self.options[name] = ListNode(items, self.node.place)
        for member in self.members:
            self.notes += [note for note in member.notes if note not in self.notes]
            self.refused += member.refused

    def _entries(self, options: "dict[str, Node]") -> tuple[Entry, ...]:
        return tuple(Entry(key, self._key_place(key), value) for key, value in options.items())

    def _key_place(self, name: str) -> Place:
        entry = self.node.entry(name)
        return entry.key_place if entry else self.node.place


def as_node(value: Plain, place: Place) -> Node:
    """The node of a plain value."""
    match value:
        case str():
            return TextNode(PlacedText.bare(value), place)
        case list():
            return ListNode(tuple(as_node(item, place) for item in value), place)
        case dict():
            entries = (Entry(key, place, as_node(item, place)) for key, item in value.items())
            return MapNode(tuple(entries), place)
        case bool() | None:
            return ScalarNode(value, place, {True: "true", False: "false", None: "null"}[value])
        case int() | float():
            return ScalarNode(value, place, repr(value))


def without_kind(place: Place, name: str, kinds: str, output: str) -> tuple[MapNode, MapNode]:
    """Two transforms that make inserts of rows with kinds: the kind becomes a column, which is then left out."""
    column = "_row_kind"
    extractor = _block(
        place, "RowKindExtractor", {"plugin_input": name, "plugin_output": kinds, "custom_field_name": column}
    )
    selection = _block(place, "Filter", {"plugin_input": kinds, "plugin_output": output, "exclude_fields": [column]})
    return extractor, selection


def _block(place: Place, plugin: str, options: dict[str, Plain]) -> MapNode:
    named: dict[str, Plain] = {"plugin_name": plugin, **options}
    return MapNode(tuple(Entry(key, place, as_node(value, place)) for key, value in named.items()), place)


def without(node: Node, spans: Collection[Span], dropped: list[str]) -> Node:
    """The value without the keys at these locations, or with values at them; their names go to `dropped`."""
    match node:
        case ListNode(items):
            return replace(node, items=tuple(without(item, spans, dropped) for item in items))
        case MapNode(entries):
            kept = []
            for entry in entries:
                if is_at(entry, spans):
                    dropped.append(entry.key)
                else:
                    kept.append(replace(entry, value=without(entry.value, spans, dropped)))
            return replace(node, entries=tuple(kept))
        case _:
            return node


def is_at(entry: Entry, spans: Collection[Span]) -> bool:
    return entry.key_place.span in spans or entry.value.place.span in spans
