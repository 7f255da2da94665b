"""Diagnostics as text, JSON, GitHub annotations or SARIF."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.render.github import to_github
from catalog.diagnostics.render.records import to_json
from catalog.diagnostics.render.sarif import to_sarif
from catalog.diagnostics.render.text import to_text
from catalog.diagnostics.source import SourceFile
from catalog.masks import Masks


class Format(str, Enum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


_MACHINE_FORMATS: Final[Mapping[Format, Callable[[Sequence[Diagnostic]], str]]] = {
    Format.JSON: to_json,
    Format.GITHUB: to_github,
    Format.SARIF: to_sarif,
}


def render(
    diagnostics: Iterable[Diagnostic],
    format: Format | str = Format.TEXT,
    sources: Iterable[SourceFile] = (),
    *,
    masks: Masks | None = None,
    color: bool = False,
) -> str:
    """The diagnostics in order of location, exact duplicates once; ends in a newline unless empty.

    `sources` are the files whose lines the text form shows, `masks` what must not be shown; `color` concerns the text
    form alone.
    """
    masks = masks or Masks()
    found = in_order(_redacted(item, masks) for item in diagnostics)
    if Format(format) is Format.TEXT:
        return to_text(found, {source.path: source for source in sources}, masks, color=color)
    return _MACHINE_FORMATS[Format(format)](found)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by file, line and column, those without a location first; exact duplicates once."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=_place))


def _redacted(item: Diagnostic, masks: Masks) -> Diagnostic:
    texts = (item.message, item.help or "", *item.notes)
    message, help, *notes = shown = tuple(map(masks.text, texts))
    return item if shown == texts else replace(item, message=message, help=help or None, notes=tuple(notes))


def _place(item: Diagnostic) -> tuple[str, int, int]:
    return (item.span.file, item.span.line, item.span.column) if item.span else ("", 0, 0)
