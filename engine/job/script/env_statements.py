"""SET statements and `/* config env { … } */` blocks -> the `env` block."""

from collections.abc import Sequence

from catalog.diagnostics import Diagnostics
from engine.job.model.tree import Entry, MapNode, Place
from engine.job.script.embedded import embedded
from engine.job.script.tree_nodes import entry, nested, text_node
from engine.job.script.with_options import scalar
from sql.script.statements import ConfigBlock, SetOption, Statement

TEXTS = ("job.name", "spark.")
"""Settings that are texts, whatever their value looks like."""


def env_tree(statements: Sequence[Statement], whole: Place, diagnostics: Diagnostics) -> MapNode:
    """All settings in their order; the last one of a key counts."""
    entries: list[Entry] = []
    for each in statements:
        if isinstance(each, SetOption):
            key = each.key.value.strip()
            value = text_node(each.value) if key.startswith(TEXTS) else scalar(each.value)
            entries.append(entry(key, value, each.key))
        elif isinstance(each, ConfigBlock):
            entries.extend(_settings(each, diagnostics))
    return MapNode(tuple(nested(entries)), whole)


def _settings(block: ConfigBlock, diagnostics: Diagnostics) -> Sequence[Entry]:
    root = embedded(block.body, diagnostics)
    if not isinstance(root, MapNode):
        return ()
    for each in root.entries:
        if each.key != "env":
            diagnostics.error("PEN2001", f"`{each.key}` in a config block", each.key_place.span, "it holds `env { … }`")
    env = root.get("env")
    return env.entries if isinstance(env, MapNode) else ()
