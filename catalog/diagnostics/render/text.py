"""Diagnostics as text: the message, the lines concerned with the error underlined, and the remedy."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO
from unicodedata import combining, east_asian_width

from catalog.diagnostics.diagnostic import Diagnostic, Severity
from catalog.diagnostics.shown_names import shown_name, shown_text
from catalog.diagnostics.source import SourceFile, Span
from catalog.masks import Masks
from catalog.secret_names import starred_source, stars

TAB_WIDTH: Final = 4
MAX_LINES: Final = 4
"""A longer span is shown by its first and last lines only."""
MAX_PLACES: Final = 3
"""Further places of a repeated warning that are named."""
MAX_WIDTH: Final = 160
"""A longer line is cut to the part around the span."""

_RESET: Final = "\x1b[0m"
_BOLD: Final = "\x1b[1m"
_BLUE: Final = "\x1b[1;34m"
_COLORS: Final = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m"}


def wants_color(stream: TextIO) -> bool:
    """Whether to colour the output: it goes to a terminal, and NO_COLOR is not set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def to_text(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, SourceFile], masks: Masks, *, color: bool = False
) -> str:
    """One paragraph for each diagnostic, separated by empty lines; equal warnings of several files share one."""
    shown = _without_repeats(diagnostics)
    files = {item.span.file for item, _ in shown if item.span is not None}
    lines = {file: masked(sources[file], masks).split("\n") for file in files if file in sources}
    paragraphs = ("\n".join(_paragraph(item, also, lines, color)) + "\n" for item, also in shown)
    return "\n".join(paragraphs)


def _without_repeats(diagnostics: Sequence[Diagnostic]) -> list[tuple[Diagnostic, list[Span]]]:
    """The diagnostics to show, each with the places of equal warnings in other files.

    A folder of jobs that share their sources would else repeat a warning about a source for each job.
    """
    shown: list[tuple[Diagnostic, list[Span]]] = []
    firsts: dict[tuple[object, ...], tuple[Diagnostic, list[Span]]] = {}
    for item in diagnostics:
        key = (item.code, item.message, *item.remarks())
        first = firsts.get(key) if item.severity is Severity.WARNING else None
        if first is not None and item.span and first[0].span and first[0].span.file != item.span.file:
            first[1].append(item.span)
        else:
            shown.append((item, []))
            firsts.setdefault(key, shown[-1])
    return shown


def _paragraph(
    item: Diagnostic, also: Sequence[Span], lines: Mapping[str, Sequence[str]], color: bool
) -> Iterator[str]:
    tone = _COLORS[item.severity]
    head = _paint(f"{item.severity.value}[{item.code}]", tone, color)
    yield head + _paint(f": {shown_text(item.message)}", _BOLD, color)
    margin = " " * 2
    if item.span is not None:
        numbers = _shown_lines(item.span) if item.span.file in lines else ()
        margin = " " * max(2, len(str(numbers[-1] if numbers else item.span.line)))
        yield f"{margin}{_paint('┌─', _BLUE, color)} {_location(item.span)}"
        if numbers:
            yield margin + _paint("│", _BLUE, color)
            yield from _excerpt(item.span, lines[item.span.file], numbers, len(margin), tone if color else "")
    for label, text in (*item.remarks(), *_also(also)):
        first, *rest = shown_text(text).splitlines() or [""]
        yield f"{margin}{_paint('=', _BLUE, color)} {label}: {first}"
        yield from (f"{margin}    {' ' * len(label)}{line}" for line in rest)


def _also(places: Sequence[Span]) -> Iterator[tuple[str, str]]:
    if places:
        named = ", ".join(map(_location, places[:MAX_PLACES]))
        more = len(places) - MAX_PLACES
        yield "also", f"{named} and {more:,} more" if more > 0 else named


def _location(span: Span) -> str:
    """`file:line:column` in one line; control characters in the name are escaped, as in `a\\nb.conf`."""
    return shown_name(str(span))


def _shown_lines(span: Span) -> tuple[int, ...]:
    """The numbers of the lines to show; a span that ends before a line's first character does not touch that line."""
    last = span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
    lines = tuple(range(span.line, last + 1))
    return lines if len(lines) <= MAX_LINES else (*lines[:2], *lines[-1:])


def _excerpt(span: Span, texts: Sequence[str], lines: tuple[int, ...], width: int, tone: str) -> Iterator[str]:
    before = lines[0] - 1
    bar = _paint("│", _BLUE, bool(tone))
    for number in lines:
        if number != before + 1:
            yield f"{'…':>{width}}{bar}"
        before = number
        text = texts[number - 1].rstrip("\r") if number <= len(texts) else ""
        start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
        end = span.end_column - 1 if number == span.end_line else len(text)
        text, start, end = _clipped(text, start, max(end, start))
        yield f"{number:>{width}}{bar} {_expanded(text)}".rstrip()
        indent = _width(text[:start], 0)
        carets = "^" * max(1, _width(text[start:end], indent))
        yield f"{' ' * width}{bar} {' ' * indent}{_paint(carets, tone, bool(tone))}"


def masked(source: SourceFile, masks: Masks) -> str:
    """The file's text with its secrets as stars: the hidden ranges, and the values of keys such as `password`.

    The keys are needed for a text that is not yet, or cannot be, parsed as a job.
    """
    text = starred_source(source.text)
    parts, position = [], 0
    for start, end in sorted(masks.hidden(source)):
        if end > position:
            shown = max(start, position)
            parts += [text[position:shown], stars(text[shown:end])]
            position = end
    return masks.starred("".join([*parts, text[position:]]))


def _clipped(text: str, start: int, end: int) -> tuple[str, int, int]:
    """A line that is too long, cut around the span, which moves with it."""
    if len(text) <= MAX_WIDTH:
        return text, start, end
    first = 0 if start < MAX_WIDTH // 2 else start - MAX_WIDTH // 2
    last = first + MAX_WIDTH
    head, tail = ("…" if first else ""), ("…" if last < len(text) else "")
    shift = len(head) - first
    return head + text[first:last] + tail, start + shift, min(end, last) + shift


def _expanded(text: str) -> str:
    """The line with tabs as spaces, and control characters, which could move the cursor, as a visible mark."""
    if _is_plain(text):
        return text
    found: list[str] = []
    column = 0
    for char in text:
        width = _char_width(char, column)
        found.append(" " * width if char == "\t" else char if char.isprintable() or width == 0 else "�")
        column += width
    return "".join(found)


def _width(text: str, column: int) -> int:
    """The width of a text on the terminal if it begins at `column`."""
    if _is_plain(text):
        return len(text)
    start = column
    for char in text:
        column += _char_width(char, column)
    return column - start


def _is_plain(text: str) -> bool:
    """Whether each character takes one column, as in most lines; `…` shows where a line was cut."""
    return text.isprintable() and text.replace("…", "").isascii()


def _char_width(char: str, column: int) -> int:
    if char == "\t":
        return TAB_WIDTH - column % TAB_WIDTH
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _paint(text: str, tone: str, color: bool) -> str:
    return f"{tone}{text}{_RESET}" if color else text
