"""Blocks for several tables: `tables_configs` of a source, `table_transform` of a transform.

    FakeSource { row.num = 5, tables_configs = [{ schema { table = "shop.orders", … } }, { schema { … } }] }
    Filter     { table_match_regex = "shop\\..*", table_transform = [{ table_path = "shop.orders", … }], … }

An entry of `tables_configs` is a block of its own that inherits what is written next to the list, as HOCON merges
objects. An entry of `table_transform` has all options for one table.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, OptionType
from catalog.patterns import user_pattern
from engine.job.hocon.concatenation import merged
from engine.job.model.job import BlockKind
from engine.job.model.tree import Entry, ListNode, MapNode, TextNode, kind_of

TABLE_LISTS: Final = ("table_list", "index_list")
"""What some of Apache SeaTunnel's sources call `tables_configs`."""
TABLES_CONFIGS: Final = Option(
    "tables_configs",
    OptionType.LIST,
    "The tables of a set: each entry is a block of its own, which inherits the options beside the list.",
    element=OptionType.MAP,
    alternatives=TABLE_LISTS,
)
TABLE_MATCH_REGEX: Final = Option(
    "table_match_regex",
    OptionType.STRING,
    "The tables to transform, by a regular expression that matches the whole path (`database.schema.table`); others "
    "pass unchanged. Without it, all.",
)
TABLE_TRANSFORM: Final = Option(
    "table_transform",
    OptionType.LIST,
    'Options for single tables: `[{ table_path = "shop.orders", … }]`, instead of those of the block.',
    element=OptionType.MAP,
)

OF_KIND: Final[Mapping[BlockKind, tuple[Option, ...]]] = {
    BlockKind.SOURCE: (TABLES_CONFIGS,),
    BlockKind.TRANSFORM: (TABLE_MATCH_REGEX, TABLE_TRANSFORM),
    BlockKind.SINK: (),
}
"""Additional options of sources, transforms and sinks for sets of tables."""


def without_list(node: MapNode, name: str, diagnostics: Diagnostics) -> tuple[MapNode, tuple[MapNode, ...] | None]:
    """The block without that list of blocks, and the list; None if it is not written or is none."""
    entry = node.entry(name)
    if entry is None:
        return node, None
    rest = replace(node, entries=tuple(other for other in node.entries if other is not entry))
    items = entry.value.items if isinstance(entry.value, ListNode) else ()
    blocks = tuple(item for item in items if isinstance(item, MapNode))
    if not blocks or len(blocks) < len(items):
        wrong = next((item for item in items if not isinstance(item, MapNode)), entry.value)
        what = (
            "is empty" if wrong is entry.value and items == () and isinstance(wrong, ListNode) else "must hold blocks"
        )
        found = "" if what == "is empty" else f", found {kind_of(wrong)}"
        diagnostics.error("PEN2004", f"`{name}` {what}{found}", wrong.place.span, f"{name} = [{{ … }}, {{ … }}]")
        return rest, None
    return rest, blocks


def inheriting(block: MapNode, entry: MapNode, common: Collection[str]) -> MapNode:
    """The entry merged over the block's options, except those for inputs and outputs."""
    inherited = tuple(other for other in block.entries if other.key not in common)
    return merged(replace(block, entries=inherited), entry)


def taken(node: MapNode, name: str) -> tuple[MapNode, Entry | None]:
    """The block without an entry, and the entry."""
    entry = node.entry(name)
    return replace(node, entries=tuple(other for other in node.entries if other is not entry)), entry


def taken_path(node: MapNode) -> tuple[MapNode, Entry | None]:
    """An entry of `table_transform` without the path of its table, and the path; SeaTunnel also reads `tablePath`."""
    return taken(node, "table_path" if node.entry("table_path") is not None else "tablePath")


def pattern_of(entry: Entry | None, diagnostics: Diagnostics) -> str | None:
    """Compile a regular expression; an invalid one is reported, and matches nothing."""
    if entry is None or not isinstance(entry.value, TextNode):
        return None
    try:
        user_pattern(entry.value.value)
    except re.error as cause:
        message = f"`{entry.value.value}` is not a regular expression: {cause}"
        diagnostics.error("PEN2004", message, entry.value.place.span)
        return "(?!)"
    return entry.value.value
