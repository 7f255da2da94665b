"""Substitutions resolved and equal keys merged: syntax -> tree.

Of several values of one key the last one counts, objects are merged, and a value may refer to the one before it
(`path = ${path}":/opt"`). A substitution takes a variable given on the command line, else the value at that path
of the file, else the environment, else its default.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.diagnostics.source import PlacedText
from catalog.limits import LimitError, check, limits
from engine.job.hocon.concatenation import all_merged, bare, blanks_between, merged, moved, shape
from engine.job.hocon.syntax import Concatenation, HoconArray, HoconField, HoconObject, Substitution, Syntax, parts_of
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode, kind_of

SECTIONS: Final = ("source", "transform", "sink")
Path: TypeAlias = tuple[str, ...]


def resolve(
    syntax: HoconObject | HoconArray,
    diagnostics: Diagnostics,
    variables: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    compat: Compat = Compat.OFF,
) -> Node:
    """The tree of a file, as pyhocon would have it. Under `compat`, undefined variables stay as written."""
    resolver = Resolver(syntax, diagnostics, variables or {}, environment or {}, compat)
    if isinstance(syntax, HoconArray):
        return resolver.list_of(syntax)
    return resolver.map_of(syntax, (), None)


class Resolver:
    """Resolves values of one root; `folding` holds the paths in work and what they were before."""

    def __init__(
        self,
        root: HoconObject | HoconArray,
        diagnostics: Diagnostics,
        variables: Mapping[str, str],
        environment: Mapping[str, str],
        compat: Compat,
    ) -> None:
        self.fields = root.fields if isinstance(root, HoconObject) else []
        self.diagnostics = diagnostics
        self.variables = variables
        self.environment = environment
        self.compat = compat
        self.folding: dict[Path, Node | None] = {}
        self.reported: set[tuple[str, int]] = set()
        self.used: set[str] = set()
        self.values, self.most_values = 0, limits().nodes
        self.sizes: dict[int, tuple[Node, int]] = {}

    # maps and lists

    def map_of(self, syntax: HoconObject, path: Path | None, base: MapNode | None) -> MapNode:
        """The entries of an object, laid over those of `base`."""
        by_key: dict[str, list[HoconField]] = {}
        for field in syntax.fields:
            by_key.setdefault(field.key, []).append(field)
        entries = {entry.key: entry for entry in base.entries} if base else {}
        for key, fields in by_key.items():
            before = entries.get(key)
            value = self.fold(fields, None if path is None else (*path, key), before.value if before else None)
            if value is not None:
                entries[key] = Entry(key, fields[-1].key_place, value)
        return MapNode(tuple(entries.values()), syntax.place)

    def list_of(self, syntax: HoconArray) -> ListNode:
        values = (self.value(item, None, None) for item in syntax.items)
        return ListNode(tuple(value for value in values if value is not None), syntax.place)

    def fold(self, fields: Iterable[HoconField], path: Path | None, before: Node | None) -> Node | None:
        """The value of a key that is written once or several times, each knowing the one before."""
        node = before
        for field in fields:
            if isinstance(field.value, ScalarNode | TextNode) and not field.is_append:
                node = field.value
                continue
            outer = self.folding.get(path) if path else None
            was_folding = path in self.folding
            if path:
                self.folding[path] = node
            node = self.appended(field, path, node) if field.is_append else self.value(field.value, path, node)
            if path and was_folding:
                self.folding[path] = outer
            elif path:
                del self.folding[path]
        return node

    def appended(self, field: HoconField, path: Path | None, before: Node | None) -> Node | None:
        """`+=`: a list takes one more element or, as in pyhocon, the elements of another list; texts are joined."""
        more = self.value(field.value, path, None)
        match before, more:
            case _, None:
                return before
            case (None, ListNode()) | (None, MapNode()):
                return more
            case None, _:
                return ListNode((more,), more.place)
            case ListNode(items), ListNode(others):
                return ListNode((*items, *others), more.place)
            case ListNode(items), _:
                return ListNode((*items, more), more.place)
            case MapNode(), MapNode():
                return merged(before, more)
            case ((TextNode() | ScalarNode()), (TextNode() | ScalarNode())):
                return self.joined([before, bare(" ", more.place), more], more.place)
            case _:
                return self.mixed(before, more)

    # values

    def value(self, syntax: Syntax, path: Path | None, before: Node | None) -> Node | None:
        self.values += 1
        if self.values > self.most_values:
            raise LimitError("nodes", syntax.place.span, "values that substitutions bring are counted each time")
        match syntax:
            case ScalarNode() | TextNode() | ListNode():
                return syntax
            case MapNode():
                return merged(before, syntax) if isinstance(before, MapNode) else syntax
            case HoconObject():
                return self.map_of(syntax, path, before if isinstance(before, MapNode) else None)
            case HoconArray():
                return self.list_of(syntax)
            case Substitution():
                node = self.substituted(syntax)
                if node is None:
                    return before
                self.values += self.size(node)
                return merged(before, node) if isinstance(before, MapNode) and isinstance(node, MapNode) else node
            case Concatenation(parts, place):
                return self.concatenated(parts, place, path, before)

    def concatenated(self, parts: list[Syntax], place: Place, path: Path | None, before: Node | None) -> Node | None:
        nodes: list[Node] = []
        so_far = before
        for part in parts:
            inner = so_far if isinstance(part, HoconObject) else None
            node = self.value(part, path, inner)
            if node is not None:
                nodes.append(node)
                so_far = node
        if not nodes:
            return before
        first = nodes[0]
        for other in nodes[1:]:
            if shape(other) is not shape(first):
                return self.mixed(first, other)
        if isinstance(first, MapNode):
            return all_merged(before, nodes)
        if isinstance(first, ListNode):
            return ListNode(
                tuple(item for list_node in nodes if isinstance(list_node, ListNode) for item in list_node.items), place
            )
        return self.joined(self.with_blanks(parts, path), place)

    def with_blanks(self, parts: list[Syntax], path: Path | None) -> list[Node]:
        """The texts of a line and the blanks between them; what is absent takes along those after it."""
        nodes: list[Node] = []
        last: Place | None = None
        for part in parts:
            here = part.place
            if last is not None and here.start > last.end:
                nodes.append(TextNode(blanks_between(last, here), here))
            node = self.value(part, path, None)
            last = here if node is not None else None
            if node is not None:
                nodes.append(moved(node, here) if isinstance(part, Substitution) else node)
        return nodes

    def size(self, node: Node) -> int:
        """How many values a list or map holds, counted once for each node."""
        known = self.sizes.get(id(node))
        if known is not None:
            return known[1]
        match node:
            case ListNode(items):
                size = 1 + sum(map(self.size, items))
            case MapNode(entries):
                size = 1 + sum(self.size(entry.value) for entry in entries)
            case _:
                return 1
        self.sizes[id(node)] = node, size  # the node is held, so that its id stays its own
        return size

    def joined(self, nodes: list[Node], place: Place) -> TextNode:
        length = sum(len(node.text.value) for node in nodes if isinstance(node, TextNode))
        check("text", length, place.span, "a value that substitutions make")
        self.values += sum(len(node.text.segments) for node in nodes if isinstance(node, TextNode))
        texts = [
            PlacedText.verbatim(node.place.source, node.place.start, node.place.end)
            if isinstance(node, ScalarNode)
            and node.written == node.place.source.text[node.place.start : node.place.end]
            else bare(node.written, node.place).text
            if isinstance(node, ScalarNode)
            else node.text
            for node in nodes
            if isinstance(node, TextNode | ScalarNode)
        ]
        resolved = all(node.is_resolved for node in nodes if isinstance(node, TextNode))
        return TextNode(PlacedText.join(texts), place, resolved)

    def mixed(self, first: Node, second: Node) -> TextNode:
        message = f"{kind_of(first)} and {kind_of(second)} cannot be joined"
        self.error("PEN1002", message, second.place, "put a comma or a new line between them")
        return TextNode(PlacedText("", second.place.source, ()), second.place, False)

    # substitutions

    def substituted(self, substitution: Substitution) -> Node | None:
        """What a substitution stands for; None if it is optional and there is nothing."""
        given = self.variables.get(substitution.name)
        if given is not None:
            return bare(given, substitution.place)
        path = steps(substitution.name)
        self.used.add(path[0])
        node = self.folding[path] if path in self.folding else self.at(self.fields, path, ())
        if node is not None:
            return node
        text = self.environment.get(substitution.name, substitution.default)
        if text is not None:
            return bare(text, substitution.place)
        return None if substitution.is_optional else self.undefined(substitution, path)

    def undefined(self, substitution: Substitution, path: Path) -> TextNode:
        written = substitution.place.source.text[substitution.place.start : substitution.place.end]
        if path in self.folding:
            help = "give it a value before this one"
            self.error("PEN1002", f"`{written}` refers to itself", substitution.place, help)
        elif self.compat.is_seatunnel:
            return bare(written, substitution.place)
        else:
            known = [*self.variables, *(field.key for field in self.fields if field.key not in (*SECTIONS, "env"))]
            self.error("PEN1003", f"the variable `{substitution.name}` is not defined", substitution.place,
                       undefined_help(substitution.name, known))  # fmt: skip
        return TextNode(PlacedText("", substitution.place.source, ()), substitution.place, False)

    def at(self, fields: Iterable[HoconField], path: Path, walked: Path) -> Node | None:
        """The value at a path of the file; None if there is none."""
        here = (*walked, path[0])
        same = [field for field in fields if field.key == path[0]]
        if len(path) == 1:
            return self.fold(same, here, None)
        inner: list[HoconField] = []
        for part in (part for field in same for part in parts_of(field.value)):
            node = part if not isinstance(part, Substitution) else self.brought_into(part, here)
            match node:
                case HoconObject(more):
                    inner += more
                case MapNode(entries):
                    inner += [HoconField(entry.key, entry.key_place, entry.value) for entry in entries]
                case None:
                    pass
                case _:
                    inner = []
        return self.at(inner, path[1:], here) if inner else None

    def brought_into(self, part: Substitution, path: Path) -> Node | None:
        """What a substitution brings into the map at `path`; itself it brings nothing new."""
        target = steps(part.name)
        return None if target == path or target in self.folding else self.substituted(part)

    def error(self, code: str, message: str, place: Place, help: str | None) -> None:
        """Report an error once, however often the value is read."""
        if (place.source.path, place.start) not in self.reported:
            self.reported.add((place.source.path, place.start))
            self.diagnostics.error(code, message, place.span, help)


def undefined_help(name: str, known: Iterable[str]) -> str:
    """The remedy for an undefined variable."""
    near = did_you_mean(name, known) or ""
    return near if near.startswith("did you mean") else f"give it with `-i {name}=…`, or a default: `${{{name}:…}}`"


def steps(name: str) -> Path:
    """The steps of a path as it stands in a substitution: `a."b.c"` has two."""
    if '"' not in name:
        return tuple(part.strip() for part in name.split(".") if part.strip()) or (name,)
    result: list[str] = []
    for i, piece in enumerate(name.split('"')):
        result += [piece] if i % 2 else [part.strip() for part in piece.split(".") if part.strip()]
    return tuple(result) or (name,)
