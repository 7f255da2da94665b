"""Variables inside texts: `${name}` and `${name:default}`, from the command line, the environment, or the default.

A sink fills in its own placeholders per table (`${table_name}`), so they are unchanged in its block. `$${name}` is the
literal text `${name}`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from catalog.compat import Compat
from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, Segment
from catalog.limits import check
from engine.job.hocon.substitution import undefined_help
from engine.job.model.tree import Entry, ListNode, MapNode, Node, TextNode

SINK_PLACEHOLDERS: Final = (
    "database_name", "schema_name", "table_name", "schema_full_name", "table_full_name",
    "primary_key", "unique_key", "field_names", "partition_keys",
    "database", "table", "comment", "rowtype_fields", "rowtype_primary_key", "rowtype_unique_key",
    "rowtype_duplicate_key",
    "transactionId", "now", "uuid",
)  # fmt: skip
"""The placeholders of Apache SeaTunnel's sinks: names of the table, parts of CREATE TABLE templates, names of files."""

_NUMBERED_PLACEHOLDER: Final = re.compile(r"[kv]\d+")  # of partition_dir_expression
_VARIABLE: Final = re.compile(r"(\$?)\$\{\s*([^\W\d][\w.\-]*)\s*(?::([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Variables:
    """The values of variables. With `compat`, an undefined one stays as written."""

    given: Mapping[str, str]
    environment: Mapping[str, str]
    compat: Compat = Compat.OFF

    def value(self, name: str, default: str | None) -> str | None:
        return self.given.get(name, self.environment.get(name, default))


def as_literal(text: str) -> str:
    """What a job has for the text, in which `${name}` is no variable."""
    return _VARIABLE.sub(lambda match: f"${match[0]}", text)


def fill_in(node: Node, variables: Variables, diagnostics: Diagnostics, *, in_sink: bool = False) -> Node:
    """The tree with the variables of its texts filled in; the same object if there are none."""
    match node:
        case TextNode(text):
            return _filled(node, variables, diagnostics, in_sink) if "${" in text.value else node
        case ListNode(items):
            values = [fill_in(item, variables, diagnostics, in_sink=in_sink) for item in items]
            same = all(new is old for new, old in zip(values, items, strict=True))
            return node if same else replace(node, items=tuple(values))
        case MapNode(entries):
            values = [fill_in(entry.value, variables, diagnostics, in_sink=in_sink) for entry in entries]
            if all(new is old.value for new, old in zip(values, entries, strict=True)):
                return node
            new = (Entry(old.key, old.key_place, value) for old, value in zip(entries, values, strict=True))
            return replace(node, entries=tuple(new))
        case _:
            return node


def _filled(node: TextNode, variables: Variables, diagnostics: Diagnostics, in_sink: bool) -> TextNode:
    mark = diagnostics.mark()
    text = fill_in_text(node.text, variables, diagnostics, in_sink=in_sink)
    return replace(node, text=text, is_resolved=node.is_resolved and mark.is_last)


def fill_in_text(text: PlacedText, variables: Variables, diagnostics: Diagnostics, *, in_sink: bool) -> PlacedText:
    """A text with its variables filled in; each value stands where the variable does. Raises `LimitError`."""
    parts: list[PlacedText] = []
    position, length = 0, len(text.value)
    for match in _VARIABLE.finditer(text.value):
        escape, name, default = match.groups()
        start, end = match.span()
        value: str | None
        if escape and not variables.compat.is_seatunnel:
            value = match.group()[1:]
        elif in_sink and is_placeholder(name) and name not in variables.given:
            continue
        else:
            start += len(escape)
            value = variables.value(name, default)
        if value is None:
            if not variables.compat.is_seatunnel:
                help = undefined_help(name, (*variables.given, *(SINK_PLACEHOLDERS if in_sink else ())))
                diagnostics.error("PEN1003", f"the variable `{name}` is not defined", text.span(start, end), help)
            continue
        parts += [text.slice(position, start), _standing_at(text, start, end, value)]
        position = end
        length += len(value)
        check("text", length, text.span(), "a text with its variables filled in")
    if not position:
        return text
    parts.append(text.slice(position, len(text.value)))
    return _joined(parts, text)


def is_placeholder(name: str) -> bool:
    return name in SINK_PLACEHOLDERS or _NUMBERED_PLACEHOLDER.fullmatch(name) is not None


def _standing_at(text: PlacedText, start: int, end: int, value: str) -> PlacedText:
    part = text.slice(start, end)
    at = (part.segments[0].file_start, part.segments[-1].file_end) if part.segments else (0, 0)
    return PlacedText(value, text.source, (Segment(0, len(value), *at),) if value else ())


def _joined(parts: list[PlacedText], whole: PlacedText) -> PlacedText:
    segments: list[Segment] = []
    length = 0
    for part in parts:
        segments += (
            replace(segment, start=segment.start + length, end=segment.end + length) for segment in part.segments
        )
        length += len(part.value)
    return PlacedText("".join(part.value for part in parts), whole.source, tuple(segments))
