"""The sections of a job file: lists of blocks in the order of the file, whatever form they are written in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, Segment
from engine.job.hocon.dotted_names import with_dotted_names, with_spark_settings
from engine.job.hocon.substitution import SECTIONS, Resolver
from engine.job.hocon.syntax import HoconArray, HoconField, HoconObject, Syntax, parts_of
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode, kind_of


def resolve_job(
    syntax: HoconObject,
    diagnostics: Diagnostics,
    variables: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    compat: Compat = Compat.OFF,
) -> MapNode:
    """The tree of a job file; every section is a list of blocks in file order, and equal names are not merged.

    Each block has its name as `plugin_name`, its first entry. Keys of the top level that only substitutions read are
    definitions and left out.
    """
    return _Sections(Resolver(syntax, diagnostics, variables or {}, environment or {}, compat)).tree(syntax)


def section_like(key: str) -> str | None:
    """The section that a key of the top level means: `sorce` is reported as unknown, then read as `source`."""
    if key in SECTIONS:
        return key
    return next(iter(get_close_matches(key.lower(), SECTIONS, n=1, cutoff=0.75)), None) if key != "env" else None


@dataclass(frozen=True, slots=True)
class _Sections:
    """Reads sections, their values by the resolver of the file."""

    resolver: Resolver

    def tree(self, root: HoconObject) -> MapNode:
        sections: dict[str, list[MapNode]] = {}
        places: dict[str, HoconField] = {}
        for field in root.fields:
            if section_like(field.key) and not isinstance(field.value, ScalarNode | TextNode):
                places.setdefault(field.key, field)
                sections.setdefault(field.key, []).extend(self.blocks(field))
        fields = [
            replace(field, value=with_spark_settings(field.value)) if field.key == "env" else field
            for field in root.fields
            if field.key not in sections
        ]
        others = HoconObject(fields, root.place)
        entries = [
            entry for entry in self.resolver.map_of(others, (), None).entries if entry.key not in self.resolver.used
        ]
        for name, blocks in sections.items():
            field = places[name]
            entries.append(Entry(name, field.key_place, ListNode(tuple(blocks), field.value.place)))
        return MapNode(tuple(entries), root.place)

    def blocks(self, section: HoconField) -> Iterable[MapNode]:
        for part in parts_of(section.value):
            match part:
                case HoconObject(fields):
                    for field in fields:
                        yield from self.block(field, section.key)
                case HoconArray(items):
                    yield from self.listed(items, section)
                case _:
                    yield from self.brought(self.resolver.value(part, (section.key,), None), section)

    def block(self, field: HoconField, section: str) -> Iterable[MapNode]:
        node = self.resolver.value(with_dotted_names(field.value), (section, field.key), None)
        items = node.items if isinstance(node, ListNode) else (node,)
        for item in items:
            if isinstance(item, MapNode):
                yield _with_name(item, field.key, field.key_place)
            elif item is not None:
                self.resolver.error(
                    "PEN2001",
                    f"`{field.key}` is {kind_of(item)}, not a block of options",
                    field.key_place,
                    f"write `{field.key} {{ … }}`",
                )

    def listed(self, items: Iterable[Syntax], section: HoconField) -> Iterable[MapNode]:
        for item in items:
            node = self.resolver.value(with_dotted_names(item), None, None)
            if isinstance(node, MapNode):
                yield node
            elif node is not None:
                self.resolver.error(
                    "PEN2001",
                    f"{kind_of(node)} where a block is expected",
                    node.place,
                    'write `{ plugin_name = "…", … }`',
                )

    def brought(self, node: Node | None, section: HoconField) -> Iterable[MapNode]:
        """The blocks of a section that is written as a substitution."""
        match node:
            case ListNode(items):
                yield from self.listed(items, section)
            case MapNode(entries):
                for entry in entries:
                    yield from self.block(HoconField(entry.key, entry.key_place, entry.value), section.key)
            case None:
                pass
            case _:
                self.resolver.error(
                    "PEN2001",
                    f"`{section.key}` is {kind_of(node)}, not a list of blocks",
                    section.key_place,
                    f"write `{section.key} {{ … }}`",
                )


def _with_name(block: MapNode, name: str, place: Place) -> MapNode:
    text = PlacedText(name, place.source, (Segment(0, len(name), place.start, place.end),))
    rest = tuple(entry for entry in block.entries if entry.key != "plugin_name")
    return MapNode((Entry("plugin_name", place, TextNode(text, place)), *rest), block.place)
