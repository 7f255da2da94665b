"""Nodes of a job file as values of an option: HOCON does not tell whether `2` is a number or a text; the
option's type does."""

import re
from collections.abc import Iterator

from catalog.options import Option, OptionType, Value
from engine.job.model.tree import ListNode, MapNode, Node, ScalarNode, TextNode, plain

_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_LARGEST = 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NESTING = (OptionType.MAP, OptionType.LIST, OptionType.ANY)

_MOST_DIGITS = 1_000
"""Longer numbers stay texts, and are of the wrong type for what needs one."""


def converted(node: Node, option: Option) -> Value:
    """The value converted to the option's type if possible, else as written in the file."""
    match option.type:
        case OptionType.LIST:
            return [_scalar(item, option.element, option.choices) for item in _items(node)]
        case OptionType.MAP if isinstance(node, MapNode) and option.element not in (None, *_NESTING):
            return {key: _scalar(leaf, option.element, ()) for key, leaf in _leaves(node, "")}
        case _:
            return _scalar(node, option.type, option.choices)


def parts_of(node: TextNode) -> tuple[TextNode, ...]:
    """A list written as text: its parts between commas, without surrounding blanks (as in Apache SeaTunnel)."""
    parts: list[TextNode] = []
    start = 0
    for part in node.value.split(","):
        bare = part.strip()
        first = start + part.index(bare)
        if bare:
            parts.append(TextNode(node.text.slice(first, first + len(bare)), node.place, node.is_resolved))
        start += len(part) + 1
    return tuple(parts)


def written(node: Node) -> str | None:
    """The text of a scalar as the user wrote it; None for null, lists and maps."""
    match node:
        case TextNode():
            return node.value
        case ScalarNode() if node.value is not None:
            return node.written
        case _:
            return None


def nodes(name: str, node: Node) -> Iterator[tuple[str, Node]]:
    """The node and every node under it, each with the name that leads to it."""
    yield name, node
    match node:
        case MapNode(entries):
            for entry in entries:
                yield from nodes(f"{name}.{entry.key}", entry.value)
        case ListNode(items):
            for index, item in enumerate(items):
                yield from nodes(f"{name}.{index}", item)


def _items(node: Node) -> tuple[Node, ...]:
    match node:
        case ListNode(items):
            return items
        case TextNode():
            return parts_of(node)
        case _:
            return (node,)


def _leaves(node: MapNode, prefix: str) -> Iterator[tuple[str, Node]]:
    for entry in node.entries:
        if isinstance(entry.value, MapNode):
            yield from _leaves(entry.value, f"{prefix}{entry.key}.")
        else:
            yield prefix + entry.key, entry.value


def _scalar(node: Node, type: OptionType | None, choices: tuple[str, ...]) -> Value:
    text = written(node)
    if text is None or type is None or type in _NESTING:
        return plain(node)
    match type:
        case OptionType.STRING:
            return next((choice for choice in choices if choice.lower() == text.lower()), text)
        case OptionType.INTEGER if not isinstance(plain(node), bool):
            return _integer(text, plain(node))
        case OptionType.NUMBER if isinstance(node, TextNode):
            return _number(text)
        case OptionType.NUMBER if isinstance(number := plain(node), int) and abs(number) > _LARGEST:
            return text
        case OptionType.BOOLEAN if isinstance(node, TextNode):
            folded = text.strip().lower()
            return True if folded in _TRUE else False if folded in _FALSE else text
    return plain(node)


def _integer(text: str, bare: Value) -> Value:
    """The number; the text where it is none, or above what Java's `long` holds."""
    if _INTEGER.fullmatch(text.strip()):
        found = int(text) if len(text) <= _MOST_DIGITS else _LARGEST + 1
    elif isinstance(bare, float) and bare.is_integer():
        found = int(bare)
    else:
        return bare
    return found if abs(found) <= _LARGEST else text


def _number(text: str) -> Value:
    return float(text) if _NUMBER.fullmatch(text.strip()) else text
