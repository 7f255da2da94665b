"""SET statements and `/* config env { … } */` blocks -> the `env` block."""

from collections.abc import Sequence

from catalog.diagnostics.diagnostic import Diagnostics
from engine.job.hocon.dotted_names import is_one_the_beginning
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
    for statement in statements:
        if isinstance(statement, SetOption):
            key = statement.key.value.strip()
            value = text_node(statement.value) if key.startswith(TEXTS) else scalar(statement.value)
            entries.append(entry(key, value, statement.key))
        elif isinstance(statement, ConfigBlock):
            entries.extend(_settings(statement, diagnostics))
    whole_names = {entry.key: entry for entry in entries if entry.key.startswith("spark.")}
    if not is_one_the_beginning(whole_names):
        return MapNode(tuple(nested(entries)), whole)
    others = nested([entry for entry in entries if entry.key not in whole_names])
    return MapNode((*others, *whole_names.values()), whole)


def _settings(block: ConfigBlock, diagnostics: Diagnostics) -> Sequence[Entry]:
    root = embedded(block.body, diagnostics)
    if not isinstance(root, MapNode):
        return ()
    for setting in root.entries:
        if setting.key != "env":
            diagnostics.error(
                "PEN2001", f"`{setting.key}` in a config block", setting.key_place.span, "it holds `env { … }`"
            )
    env = root.get("env")
    return env.entries if isinstance(env, MapNode) else ()
