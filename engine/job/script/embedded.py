"""HOCON inside a SQL script: config blocks, and option values such as `'{ fields { id = bigint } }'`."""

import re
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText, Segment, SourceFile, Span
from engine.job.hocon.parse import parse
from engine.job.hocon.substitution import resolve
from engine.job.model.tree import Entry, ListNode, MapNode, Node, Place, ScalarNode, TextNode


def embedded(text: PlacedText, diagnostics: Diagnostics) -> Node:
    """The tree of a HOCON text, every node and every error at its place in the script around it."""
    inner = SourceFile(text.source.path, text.value)
    own = Diagnostics()
    tree = resolve(parse(inner, own), own)
    diagnostics.extend(replace(diagnostic, span=_span(diagnostic.span, inner, text)) for diagnostic in own)
    return _moved(tree, text)


def _span(span: Span | None, inner: SourceFile, text: PlacedText) -> Span:
    if span is None:
        return text.span()
    starts = [0, *(newline.end() for newline in re.finditer("\n", inner.text))]  # a line ends there alone, as in spans
    return text.span(starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1)


def _moved(node: Node, text: PlacedText) -> Node:
    place = _place(node.place, text)
    match node:
        case ScalarNode():
            return replace(node, place=place)
        case TextNode(text=inner):
            return replace(node, place=place, text=_within(inner, text))
        case ListNode(items):
            return ListNode(tuple(_moved(item, text) for item in items), place)
        case MapNode(entries):
            return MapNode(
                tuple(Entry(e.key, _place(e.key_place, text), _moved(e.value, text)) for e in entries), place
            )


def _within(inner: PlacedText, outer: PlacedText) -> PlacedText:
    """A text read from another one's value, as read from the file of that one."""
    segments: list[Segment] = []
    for segment in inner.segments:
        part = outer.slice(segment.file_start, segment.file_end)
        if segment.is_verbatim:
            segments.extend(
                replace(inner_segment, start=inner_segment.start + segment.start, end=inner_segment.end + segment.start)
                for inner_segment in part.segments
            )
        elif part.segments:
            segments.append(
                Segment(segment.start, segment.end, part.segments[0].file_start, part.segments[-1].file_end)
            )
    return PlacedText(inner.value, outer.source, tuple(segments))


def _place(place: Place, text: PlacedText) -> Place:
    part = text.slice(place.start, place.end)
    if not part.segments:
        return Place(text.source, text.segments[0].file_start, text.segments[-1].file_end)
    return Place(text.source, part.segments[0].file_start, part.segments[-1].file_end)
