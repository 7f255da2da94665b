"""A job's tree as HOCON text, with the comments of the file that it was read from."""

import json
import re
from collections.abc import Iterator
from typing import Final

from engine.job.hocon.comments import Comments
from engine.job.model.tree import Entry, ListNode, MapNode, Node, ScalarNode, TextNode

WIDTH = 110
PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*")
SECTIONS = ("source", "transform", "sink")

_HALF: Final = re.compile("[\ud800-\udfff]")


def to_hocon(root: MapNode, comments: Comments) -> str:
    """The text of a HOCON job file that says what the tree says."""
    lines = [f"# {line}".rstrip() for line in comments.header()]
    if lines:
        lines.append("")
    env = root.get("env")
    if isinstance(env, MapNode) and env.entries:
        lines.append("env {")
        for entry in flat(env):
            lines.extend(_commented(comments, entry, "  "))
            lines.extend(_entry(entry.key, entry.value, "  "))
        lines += ["}", ""]
    for section in SECTIONS:
        blocks = root.get(section)
        if isinstance(blocks, ListNode) and blocks.items:
            lines.append(f"{section} {{")
            for block in blocks.items:
                if isinstance(block, MapNode):
                    lines.extend(_block(block, comments))
            lines += ["}", ""]
    return "\n".join(lines).rstrip() + "\n"


def flat(node: MapNode, prefix: str = "") -> Iterator[Entry]:
    """The entries of maps within maps under dotted keys."""
    for entry in node.entries:
        if isinstance(entry.value, MapNode):
            yield from flat(entry.value, f"{prefix}{entry.key}.")
        else:
            yield Entry(prefix + entry.key, entry.key_place, entry.value)


def _commented(comments: Comments, entry: Entry, indent: str) -> list[str]:
    return [f"{indent}# {node}".rstrip() for node in comments.above(entry.key_place.start)]


def _block(block: MapNode, comments: Comments) -> Iterator[str]:
    name = block.get("plugin_name")
    yield from (f"  # {node}".rstrip() for node in comments.above(block.place.start))
    yield f"  {_key(name.value) if isinstance(name, TextNode) else 'unknown'} {{"
    for entry in block.entries:
        if entry.key != "plugin_name":
            yield from _commented(comments, entry, "    ")
            yield from _entry(entry.key, entry.value, "    ")
    yield "  }"


def _entry(key: str, value: Node, indent: str) -> Iterator[str]:
    shown = _key(key)
    inline = inlined(value)
    is_text = isinstance(value, TextNode)
    if is_text or len(indent) + len(shown) + len(inline) + 3 <= WIDTH:
        yield f"{indent}{shown} = {inline}"
    elif isinstance(value, MapNode):
        yield f"{indent}{shown} {{"
        for entry in value.entries:
            yield from _entry(entry.key, entry.value, indent + "  ")
        yield indent + "}"
    elif isinstance(value, ListNode):
        yield f"{indent}{shown} = ["
        yield from (f"{indent}  {inlined(item)}" for item in value.items)
        yield indent + "]"


def inlined(node: Node) -> str:
    """A value on one line, but for texts of several."""
    match node:
        case ScalarNode(written=written):
            return written
        case TextNode():
            return _text(node.value)
        case ListNode(items):
            return "[" + ", ".join(map(inlined, items)) + "]"
        case MapNode(entries):
            inner = ", ".join(f"{_key(entry.key)} = {inlined(entry.value)}" for entry in entries)
            return f"{{ {inner} }}" if inner else "{}"


def _key(name: str) -> str:
    return name if PLAIN_KEY.fullmatch(name) else _quoted(name)


def _text(value: str) -> str:
    is_long = "\n" in value or ('"' in value and "\\" not in value)
    if is_long and '"""' not in value and not value.endswith('"') and not _HALF.search(value):
        return f'"""{value}"""'
    return _quoted(value)


def _quoted(text: str) -> str:
    """Halves of characters are escaped: no file can hold them."""
    return json.dumps(text, ensure_ascii=bool(_HALF.search(text)))
