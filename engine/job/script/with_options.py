"""WITH lists -> the entries of a block, values typed by the spec of the connector or transform."""

import re
from collections.abc import Sequence
from dataclasses import replace

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.options import Option, OptionType
from engine.job.model.tree import Entry, Node, ScalarNode
from engine.job.script.embedded import embedded
from engine.job.script.tree_nodes import entry, nested, place_of, text_node
from engine.transforms import transform
from sql.script.statements import Property

NUMBER = re.compile(r"[+-]?\d+(?P<fraction>\.\d*)?(?P<exponent>[eE][+-]?\d+)?")
CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
BY_TEXT = (OptionType.INTEGER, OptionType.NUMBER, OptionType.BOOLEAN)
OF_EVERY_BLOCK = {
    "parallelism": OptionType.INTEGER,
    "plugin_input": OptionType.LIST,
    "cache": OptionType.STRING,
    "expectations": OptionType.LIST,
    "watermark": OptionType.MAP,
}


def source_spec(plugin: str) -> tuple[Option, ...]:
    found = connectors.source(plugin)
    return found.source_options if found else ()


def sink_spec(plugin: str) -> tuple[Option, ...]:
    found = connectors.sink(plugin)
    return found.offered_options() if found else ()


def transform_spec(plugin: str) -> tuple[Option, ...]:
    found = transform(plugin)
    return found.options if found else ()


def named(spec: Sequence[Option], name: str) -> Option | None:
    """The option of that name, or of which a dotted name is a part."""
    for option in spec:
        for alternative in (option.name, *option.alternatives):
            if name == alternative or name.startswith(alternative + "."):
                return option
    return None


def option_entries(spec: Sequence[Option], properties: Sequence[Property], diagnostics: Diagnostics) -> list[Entry]:
    """One entry for each property; `'schema.fields.id' = 'int'` is a map in a map."""
    entries: list[Entry] = []
    seen: set[str] = set()
    for property in properties:
        if property.key.value in seen:
            diagnostics.error("PEN2011", f"the option `{property.key.value}` is given twice", property.key.span())
        seen.add(property.key.value)
        entries.append(
            entry(property.key.value, _value(_type(spec, property.key.value), property, diagnostics), property.key)
        )
    return nested(entries)


def _type(spec: Sequence[Option], name: str) -> OptionType | None:
    option = named(spec, name)
    if option is None:
        return OF_EVERY_BLOCK.get(name)
    return option.type if name in (option.name, *option.alternatives) else OptionType.ANY


def _value(type: OptionType | None, written: Property, diagnostics: Diagnostics) -> Node:
    text = written.value
    if type is not OptionType.STRING and text.value.lstrip()[:1] in ("{", "["):
        return embedded(text, diagnostics)
    if not written.is_text or type in BY_TEXT:
        return scalar(text)
    return text_node(text)


def scalar(text: PlacedText) -> Node:
    """A number, a truth value or null where the words are one, else the text."""
    word = text.value.strip()
    if word.lower() in CONSTANTS:
        return ScalarNode(CONSTANTS[word.lower()], place_of(text), word)
    match = NUMBER.fullmatch(word)
    if match is None:
        return replace(text_node(text), is_resolved="${" not in word)  # an undefined variable is reported already
    number = float(word) if match["fraction"] is not None or match["exponent"] else int(word)
    return ScalarNode(number, place_of(text), word)
