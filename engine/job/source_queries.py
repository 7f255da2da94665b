"""Sources with a query of their own: the source reads the table, and a `Sql` transform runs the query over its rows.

    Paimon { table = t, query = "select id from t", plugin_output = ids }

is read as

    Paimon { table = t, plugin_output = ids_rows }
    Sql    { plugin_input = ids_rows, plugin_output = ids, query = "select id from `ids_rows` AS `t`" }
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import connectors
from catalog.compat import Compat
from catalog.diagnostics.source import PlacedText
from connectors.interface.source import SOURCE_QUERY
from engine.job.hocon.sections import section_like
from engine.job.model.tree import Entry, ListNode, MapNode, Place, TextNode, plain
from sql.parsing.query_text import tables_named
from sql.rewrite.table_names import with_table_names

_OUTPUTS: Final = ("plugin_output", "result_table_name")


def with_source_queries(root: MapNode, compat: Compat) -> MapNode:
    """The tree of a job with a transform for each such query; the same tree where there is none.

    under `compat`, an empty query is as if not written.
    """
    blocks = [block for block in _blocks(root, "source") if _has_query(block, compat)]
    if not blocks:
        return root
    taken = {
        name.lower() for kind in ("source", "transform") for block in _blocks(root, kind) for name in _outputs(block)
    }
    split: dict[MapNode, tuple[MapNode, MapNode]] = {}
    for block in blocks:
        base = next(iter(_outputs(block)), None) or _plugin(block).lower()
        name = next(name for name in _names(f"{base}_rows") if name.lower() not in taken)
        taken.add(name.lower())
        split[block] = _split(block, name)
    return _with_blocks(root, split)


def _split(block: MapNode, name: str) -> tuple[MapNode, MapNode]:
    """The source without its query, and the transform that reads it as `name`."""
    query = block.entry(SOURCE_QUERY.name)
    assert query is not None
    assert isinstance(query.value, TextNode)
    text = query.value.text
    named = {table.lower(): name for table in tables_named(text.value)[:1]}
    place = query.key_place
    outputs = [entry for entry in block.entries if entry.key in _OUTPUTS]
    rest = tuple(entry for entry in block.entries if entry is not query and entry not in outputs)
    written = next(iter(_outputs(block)), None) or _plugin(block).lower()
    source = replace(block, entries=(*rest, _entry("plugin_output", name, place)), written=written)
    renamed = replace(query.value, text=with_table_names(text, named) if query.value.is_resolved else text)
    transform = MapNode(
        (
            _entry("plugin_name", "Sql", place),
            _entry("plugin_input", name, place),
            *outputs,
            replace(query, value=renamed),
        ),
        query.value.place,
    )
    return source, transform


def _with_blocks(root: MapNode, split: dict[MapNode, tuple[MapNode, MapNode]]) -> MapNode:
    added = tuple(transform for _, transform in split.values())
    is_there = any(section_like(entry.key) == "transform" for entry in root.entries)
    place = added[0].place
    entries = root.entries if is_there else (*root.entries, Entry("transform", place, ListNode((), place)))
    return replace(root, entries=tuple(_with_items(entry, split, added) for entry in entries))


def _with_items(entry: Entry, split: dict[MapNode, tuple[MapNode, MapNode]], added: tuple[MapNode, ...]) -> Entry:
    section = section_like(entry.key)
    if not isinstance(entry.value, ListNode) or section not in ("source", "transform"):
        return entry
    items = entry.value.items
    if section == "transform":
        items = (*added, *items)
    else:
        items = tuple(split[item][0] if isinstance(item, MapNode) and item in split else item for item in items)
    return replace(entry, value=replace(entry.value, items=items))


def _blocks(root: MapNode, kind: str) -> Iterator[MapNode]:
    for entry in root.entries:
        if section_like(entry.key) == kind and isinstance(entry.value, ListNode):
            yield from (item for item in entry.value.items if isinstance(item, MapNode))


def _has_query(block: MapNode, compat: Compat) -> bool:
    query = block.get(SOURCE_QUERY.name)
    if not isinstance(query, TextNode) or (compat.is_seatunnel and not query.value):
        return False
    source = connectors.source(_plugin(block))
    return source is not None and SOURCE_QUERY in source.source_options


def _plugin(block: MapNode) -> str:
    name = block.get("plugin_name")
    return name.value if isinstance(name, TextNode) else ""


def _outputs(block: MapNode) -> tuple[str, ...]:
    for key in _OUTPUTS:
        if (node := block.get(key)) is not None:
            value = plain(node)
            return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)
    return ()


def _names(wanted: str) -> Iterator[str]:
    yield wanted
    number = 2
    while True:
        yield f"{wanted}_{number}"
        number += 1


def _entry(key: str, value: str, place: Place) -> Entry:
    return Entry(key, place, TextNode(PlacedText.bare(value), place))
