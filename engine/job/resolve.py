"""Substitutions resolved and equal keys merged: syntax -> tree.

Of several values of one key the last one counts, objects are merged, and a value may refer to the one before it
(`path = ${path}":/opt"`). A substitution takes a variable given on the command line, else the value at that path
of the file, else the environment, else its default.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Final, TypeAlias

from catalog.diagnostics import Diagnostics, did_you_mean
from catalog.source import PlacedText, Run
from engine.job.syntax import Array, Concatenation, Field, Object, Substitution, Syntax, parts_of
from engine.job.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode, kind_of

SECTIONS: Final = ("source", "transform", "sink")
Path: TypeAlias = tuple[str, ...]


def resolve(
    syntax: Object | Array,
    found: Diagnostics,
    variables: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    compat: bool = False,
) -> Node:
    """The tree of a file, as pyhocon would have it. With `compat`, what is not defined stays as it is written."""
    resolver = _Resolver(syntax, found, variables or {}, environment or {}, compat)
    if isinstance(syntax, Array):
        return resolver.list_of(syntax)
    return resolver.map_of(syntax, (), None)


def resolve_job(
    syntax: Object,
    found: Diagnostics,
    variables: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    compat: bool = False,
) -> MapNode:
    """The tree of a job file, in which every section is a list of blocks in the order of the file, none merged.

    Each block has its name as `plugin_name`, its first entry. Keys of the top level that only substitutions read are
    definitions and left out.
    """
    return _Resolver(syntax, found, variables or {}, environment or {}, compat).job(syntax)


def section_like(key: str) -> str | None:
    """The section that a key of the top level means: `sorce` is reported as unknown, then read as `source`."""
    if key in SECTIONS:
        return key
    return next(iter(get_close_matches(key.lower(), SECTIONS, n=1, cutoff=0.75)), None) if key != "env" else None


class _Resolver:
    """Resolves values of one root; `folding` holds the paths in work and what they were before."""

    def __init__(
        self,
        root: Object | Array,
        found: Diagnostics,
        variables: Mapping[str, str],
        environment: Mapping[str, str],
        compat: bool,
    ) -> None:
        self.fields = root.fields if isinstance(root, Object) else []
        self.found = found
        self.variables = variables
        self.environment = environment
        self.compat = compat
        self.folding: dict[Path, Node | None] = {}
        self.reported: set[tuple[str, int]] = set()
        self.used: set[str] = set()

    def job(self, root: Object) -> MapNode:
        sections: dict[str, list[MapNode]] = {}
        places: dict[str, Field] = {}
        for field in root.fields:
            if section_like(field.key) and not isinstance(field.value, ScalarNode | TextNode):
                places.setdefault(field.key, field)
                sections.setdefault(field.key, []).extend(self.blocks(field))
        others = Object([field for field in root.fields if field.key not in sections], root.place)
        entries = [each for each in self.map_of(others, (), None).entries if each.key not in self.used]
        for name, blocks in sections.items():
            field = places[name]
            entries.append(Entry(name, field.key_place, ListNode(tuple(blocks), field.value.place)))
        return MapNode(tuple(entries), root.place)

    def blocks(self, section: Field) -> Iterable[MapNode]:
        for part in parts_of(section.value):
            match part:
                case Object(fields):
                    for field in fields:
                        yield from self.block(field, section.key)
                case Array(items):
                    yield from self.listed(items, section)
                case _:
                    yield from self.brought(self.value(part, (section.key,), None), section)

    def block(self, field: Field, section: str) -> Iterable[MapNode]:
        node = self.value(field.value, (section, field.key), None)
        items = node.items if isinstance(node, ListNode) else (node,)
        for item in items:
            if isinstance(item, MapNode):
                yield _with_name(item, field.key, field.key_place)
            elif item is not None:
                self.fault("PEN2001", f"`{field.key}` is {kind_of(item)}, not a block of options", field.key_place,
                           f"write `{field.key} {{ … }}`")  # fmt: skip

    def listed(self, items: Iterable[Syntax], section: Field) -> Iterable[MapNode]:
        for item in items:
            node = self.value(item, None, None)
            if isinstance(node, MapNode):
                yield node
            elif node is not None:
                self.fault("PEN2001", f"{kind_of(node)} stands where a block is expected", node.place,
                           'write `{ plugin_name = "…", … }`')  # fmt: skip

    def brought(self, node: Node | None, section: Field) -> Iterable[MapNode]:
        """The blocks of a section that is written as a substitution."""
        match node:
            case ListNode(items):
                yield from self.listed(items, section)
            case MapNode(entries):
                for each in entries:
                    yield from self.block(Field(each.key, each.key_place, each.value), section.key)
            case None:
                pass
            case _:
                self.fault("PEN2001", f"`{section.key}` is {kind_of(node)}, not a list of blocks", section.key_place,
                           f"write `{section.key} {{ … }}`")  # fmt: skip

    # maps and lists

    def map_of(self, syntax: Object, path: Path | None, base: MapNode | None) -> MapNode:
        """The entries of an object, laid over those of `base`."""
        by_key: dict[str, list[Field]] = {}
        for field in syntax.fields:
            by_key.setdefault(field.key, []).append(field)
        entries = {each.key: each for each in base.entries} if base else {}
        for key, fields in by_key.items():
            before = entries.get(key)
            value = self.fold(fields, None if path is None else (*path, key), before.value if before else None)
            if value is not None:
                entries[key] = Entry(key, fields[-1].key_place, value)
        return MapNode(tuple(entries.values()), syntax.place)

    def list_of(self, syntax: Array) -> ListNode:
        values = (self.value(item, None, None) for item in syntax.items)
        return ListNode(tuple(each for each in values if each is not None), syntax.place)

    def fold(self, fields: Iterable[Field], path: Path | None, before: Node | None) -> Node | None:
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

    def appended(self, field: Field, path: Path | None, before: Node | None) -> Node | None:
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
                return self.joined([before, _bare(" ", more.place), more], more.place)
            case _:
                return self.mixed(before, more)

    # values

    def value(self, syntax: Syntax, path: Path | None, before: Node | None) -> Node | None:
        match syntax:
            case ScalarNode() | TextNode() | ListNode():
                return syntax
            case MapNode():
                return merged(before, syntax) if isinstance(before, MapNode) else syntax
            case Object():
                return self.map_of(syntax, path, before if isinstance(before, MapNode) else None)
            case Array():
                return self.list_of(syntax)
            case Substitution():
                node = self.substituted(syntax)
                if node is None:
                    return before
                return merged(before, node) if isinstance(before, MapNode) and isinstance(node, MapNode) else node
            case Concatenation(parts, place):
                return self.concatenated(parts, place, path, before)

    def concatenated(self, parts: list[Syntax], place: Place, path: Path | None, before: Node | None) -> Node | None:
        nodes: list[Node] = []
        so_far = before
        for part in parts:
            inner = so_far if isinstance(part, Object) else None
            node = self.value(part, path, inner)
            if node is not None:
                nodes.append(node)
                so_far = node
        if not nodes:
            return before
        first = nodes[0]
        for each in nodes[1:]:
            if _shape(each) is not _shape(first):
                return self.mixed(first, each)
        if isinstance(first, MapNode):
            return _all_merged(before, nodes)
        if isinstance(first, ListNode):
            return ListNode(tuple(item for each in nodes if isinstance(each, ListNode) for item in each.items), place)
        return self.joined(self.with_blanks(parts, path), place)

    def with_blanks(self, parts: list[Syntax], path: Path | None) -> list[Node]:
        """The texts of a line and the blanks between them; what is absent takes along those after it."""
        nodes: list[Node] = []
        last: Place | None = None
        for part in parts:
            here = part.place
            if last is not None and here.start > last.end:
                nodes.append(TextNode(_blanks(last, here), here))
            node = self.value(part, path, None)
            last = here if node is not None else None
            if node is not None:
                nodes.append(_moved(node, here) if isinstance(part, Substitution) else node)
        return nodes

    def joined(self, nodes: list[Node], place: Place) -> TextNode:
        texts = [
            PlacedText.verbatim(node.place.source, node.place.start, node.place.end)
            if isinstance(node, ScalarNode)
            and node.written == node.place.source.text[node.place.start : node.place.end]
            else _bare(node.written, node.place).text
            if isinstance(node, ScalarNode)
            else node.text
            for node in nodes
            if isinstance(node, TextNode | ScalarNode)
        ]
        resolved = all(node.is_resolved for node in nodes if isinstance(node, TextNode))
        return TextNode(PlacedText.join(texts), place, resolved)

    def mixed(self, first: Node, second: Node) -> TextNode:
        message = f"{kind_of(first)} and {kind_of(second)} cannot be joined"
        self.fault("PEN1002", message, second.place, "put a comma or a new line between them")
        return TextNode(PlacedText("", second.place.source, ()), second.place, False)

    # substitutions

    def substituted(self, each: Substitution) -> Node | None:
        """What a substitution stands for; None where it is optional and there is nothing."""
        given = self.variables.get(each.name)
        if given is not None:
            return _bare(given, each.place)
        path = steps(each.name)
        self.used.add(path[0])
        node = self.folding[path] if path in self.folding else self.at(self.fields, path, ())
        if node is not None:
            return node
        text = self.environment.get(each.name, each.default)
        if text is not None:
            return _bare(text, each.place)
        return None if each.is_optional else self.undefined(each, path)

    def undefined(self, each: Substitution, path: Path) -> TextNode:
        written = each.place.source.text[each.place.start : each.place.end]
        if path in self.folding:
            self.fault("PEN1002", f"`{written}` refers to itself", each.place, "give it a value before this one")
        elif self.compat:
            return _bare(written, each.place)
        else:
            known = [*self.variables, *(field.key for field in self.fields if field.key not in (*SECTIONS, "env"))]
            self.fault("PEN1003", f"the variable `{each.name}` is not defined", each.place,
                       undefined_help(each.name, known))  # fmt: skip
        return TextNode(PlacedText("", each.place.source, ()), each.place, False)

    def at(self, fields: Iterable[Field], path: Path, walked: Path) -> Node | None:
        """The value at a path of the file; None where there is none."""
        here = (*walked, path[0])
        same = [field for field in fields if field.key == path[0]]
        if len(path) == 1:
            return self.fold(same, here, None)
        inner: list[Field] = []
        for part in (part for field in same for part in parts_of(field.value)):
            node = part if not isinstance(part, Substitution) else self.brought_into(part, here)
            match node:
                case Object(more):
                    inner += more
                case MapNode(entries):
                    inner += [Field(each.key, each.key_place, each.value) for each in entries]
                case None:
                    pass
                case _:
                    inner = []
        return self.at(inner, path[1:], here) if inner else None

    def brought_into(self, part: Substitution, path: Path) -> Node | None:
        """What a substitution brings into the map at `path`; itself it brings nothing new."""
        target = steps(part.name)
        return None if target == path or target in self.folding else self.substituted(part)

    def fault(self, code: str, message: str, place: Place, help: str | None) -> None:
        """Report a fault once, however often the value is read."""
        if (place.source.path, place.start) not in self.reported:
            self.reported.add((place.source.path, place.start))
            self.found.error(code, message, place.span, help)


def undefined_help(name: str, known: Iterable[str]) -> str:
    """What to do about a variable that is not defined."""
    near = did_you_mean(name, known) or ""
    return near if near.startswith("did you mean") else f"give it with `-i {name}=…`, or a default: `${{{name}:…}}`"


def steps(name: str) -> Path:
    """The steps of a path as it stands in a substitution: `a."b.c"` has two."""
    if '"' not in name:
        return tuple(each.strip() for each in name.split(".") if each.strip()) or (name,)
    result: list[str] = []
    for i, piece in enumerate(name.split('"')):
        result += [piece] if i % 2 else [each.strip() for each in piece.split(".") if each.strip()]
    return tuple(result) or (name,)


def merged(base: MapNode, over: MapNode) -> MapNode:
    """The entries of `over` laid over those of `base`, maps within maps too."""
    entries = {each.key: each for each in base.entries}
    for each in over.entries:
        before = entries.get(each.key)
        if before and isinstance(before.value, MapNode) and isinstance(each.value, MapNode):
            entries[each.key] = Entry(each.key, each.key_place, merged(before.value, each.value))
        else:
            entries[each.key] = each
    return MapNode(tuple(entries.values()), over.place)


def _all_merged(before: Node | None, nodes: list[Node]) -> MapNode:
    result = before if isinstance(before, MapNode) else None
    for each in nodes:
        if isinstance(each, MapNode):
            result = merged(result, each) if result else each
    assert result is not None
    return result


def _with_name(block: MapNode, name: str, place: Place) -> MapNode:
    text = PlacedText(name, place.source, (Run(0, len(name), place.start, place.end),))
    rest = tuple(each for each in block.entries if each.key != "plugin_name")
    return MapNode((Entry("plugin_name", place, TextNode(text, place)), *rest), block.place)


_SHAPES: Final[Mapping[type, Callable[..., object]]] = {MapNode: dict, ListNode: list, TextNode: str, ScalarNode: str}


def _shape(node: Node) -> object:
    return _SHAPES[type(node)]


def _bare(text: str, place: Place) -> TextNode:
    """A text that stands in the file as something else: a variable, a default."""
    return TextNode(PlacedText(text, place.source, (Run(0, len(text), place.start, place.end),)), place)


def _moved(node: Node, place: Place) -> Node:
    """A substituted value within a longer text: it stands where the substitution does."""
    match node:
        case TextNode(is_resolved=resolved):
            return TextNode(_bare(node.value, place).text, place, resolved)
        case ScalarNode(value, _, written):
            return ScalarNode(value, place, written)
        case _:
            return node


def _blanks(before: Place, after: Place) -> PlacedText:
    text = re.sub(r"\\\r?\n[ \t]*", "", before.source.text[before.end : after.start])
    if len(text) == after.start - before.end:
        return PlacedText.verbatim(before.source, before.end, after.start)
    return PlacedText(text, before.source, (Run(0, len(text), before.end, after.start),))
