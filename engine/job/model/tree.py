"""The contents of a job file before interpretation: maps, lists, texts and scalars with their exact locations.

Every node is final: substitutions are resolved, equal keys merged as HOCON merges them. A dotted key is a path, so
`row.num = 5` and `row { num = 5 }` are the same tree; `flatten` turns it back into the names that an option spec knows.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from catalog.diagnostics.source import PlacedText, SourceFile, Span
from catalog.options import Value


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """The characters `start` to `end` (exclusive) of a file; made for every node, turned into a span when needed."""

    source: SourceFile
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.source.span(self.start, self.end)


@dataclass(frozen=True, eq=False, slots=True)
class ScalarNode:
    """A number, a truth value or null, and the text as it was written (`1.50`, `TRUE`)."""

    value: bool | int | float | None
    place: Place
    written: str


@dataclass(frozen=True, eq=False, slots=True)
class TextNode:
    """A string; `place` includes its quotes, `text` has the location of every character inside them.

    `is_resolved` is false if it contains an undefined variable: that was reported, and the value is not
    checked further.
    """

    text: PlacedText
    place: Place
    is_resolved: bool = True

    @property
    def value(self) -> str:
        return self.text.value


@dataclass(frozen=True, eq=False, slots=True)
class ListNode:
    items: tuple["Node", ...]
    place: Place


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One key of a map; the place is that of its last step (`num` in `row.num`) in the definition that counts."""

    key: str
    key_place: Place
    value: "Node"


@dataclass(frozen=True, eq=False, slots=True)
class MapNode:
    """Entries in the order in which their keys were first written; keys are unique. `written`: the name of a block that
    gets another one, as a source whose query becomes a transform."""

    entries: tuple[Entry, ...]
    place: Place
    written: str | None = None

    def entry(self, name: str) -> Entry | None:
        """The entry of that key, or at that path where the name has dots (`row.num`)."""
        for entry in self.entries:
            if entry.key == name:
                return entry
        for other in self.entries:
            if isinstance(other.value, MapNode) and name.startswith(other.key + "."):
                inner = other.value.entry(name[len(other.key) + 1 :])
                if inner is not None:
                    return inner
        return None

    def get(self, name: str) -> "Node | None":
        """The value of that key or dotted path."""
        found = self.entry(name)
        return found.value if found else None


Node: TypeAlias = ScalarNode | TextNode | ListNode | MapNode


def flatten(node: MapNode, names: Collection[str]) -> Iterator[tuple[str, Entry]]:
    """The entries under the names of a spec: `row { num = 5 }` yields `row.num` where the spec has such a name.

    A map is opened only where a name reaches into it; a name that ends in `.*` opens everything below it. What no name
    claims is yielded under the dotted path at which it stopped fitting.
    """
    yield from _flatten(node, "", names)


def _flatten(node: MapNode, prefix: str, names: Collection[str]) -> Iterator[tuple[str, Entry]]:
    for entry in node.entries:
        name = prefix + entry.key
        if isinstance(entry.value, MapNode) and (
            _is_of_names(entry.value, name, names) if name in names else _reaches_into(name, names)
        ):
            yield from _flatten(entry.value, name + ".", names)
        else:
            yield name, entry


def _is_of_names(node: MapNode, prefix: str, names: Collection[str]) -> bool:
    """Whether a block under a name holds nothing but longer names: `start_mode.offsets`, next to `start_mode`."""
    return bool(node.entries) and all(f"{prefix}.{entry.key}" in names for entry in node.entries)


def _reaches_into(name: str, names: Collection[str]) -> bool:
    return any(
        known.startswith(name + ".") or (known.endswith(".*") and f"{name}.".startswith(known[:-1])) for known in names
    )


def plain(node: Node) -> Value:
    """The plain value: dicts, lists, strings, numbers, truth values and None."""
    match node:
        case ScalarNode() | TextNode():
            return node.value
        case ListNode(items):
            return [plain(item) for item in items]
        case MapNode(entries):
            return {entry.key: plain(entry.value) for entry in entries}


def kind_of(node: Node) -> str:
    """What a user would call the value: "a string", "a number", …"""
    match node:
        case TextNode():
            return "a string"
        case ListNode():
            return "a list"
        case MapNode():
            return "a block"
        case ScalarNode(value=bool()):
            return "a truth value"
        case ScalarNode(value=None):
            return "null"
        case ScalarNode():
            return "a number"
