"""Shows diagnostics: as text with source lines; as JSON, GitHub annotations or SARIF for programs."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Final, TextIO

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.render import Format, render
from catalog.diagnostics.render.text import wants_color
from catalog.diagnostics.source import SourceFile, Span
from catalog.limits import LimitError, read_small
from catalog.masks import Masks
from engine.job.options.hidden_texts import hide_connections
from engine.terminal.shown_stream import plain_stream

_REPORTED_FROM: Final[ContextVar[Path | None]] = ContextVar("reported_from", default=None)
"""The folder that files in diagnostics are relative to; None for the current one."""


@contextmanager
def reported_from(folder: Path) -> Iterator[None]:
    """Within the block, diagnostics name their files as seen from `folder`."""
    token = _REPORTED_FROM.set(folder)
    try:
        yield
    finally:
        _REPORTED_FROM.reset(token)


def report(diagnostics: Iterable[Diagnostic], masks: Masks, format: str = "text", stream: TextIO | None = None) -> None:
    """Print diagnostics, masked: text to `stream` (default: stderr), the formats for programs to stdout."""
    found = tuple(diagnostics)
    folder = _REPORTED_FROM.get()
    if folder is None or folder == Path.cwd():
        sources = sources_of(found)
    else:
        found, sources = seen_from(found, masks, folder)
    for source in sources:
        hide_connections(source.text, masks)
    if (
        format in {known.value for known in Format} and Format(format) is not Format.TEXT
    ):  # a command may have further formats
        plain_stream(sys.stdout).write(render(found, format, masks=masks))
        return
    out = plain_stream(stream or sys.stderr)
    out.write(render(found, Format.TEXT, sources, masks=masks, color=wants_color(out)))
    out.flush()


def seen_from(
    found: tuple[Diagnostic, ...], masks: Masks, folder: Path
) -> tuple[tuple[Diagnostic, ...], tuple[SourceFile, ...]]:
    """The diagnostics and their files, named as seen from another folder than the current one."""
    sources = sources_of(found)

    def seen(name: str) -> str:
        return name if os.path.isabs(name) else os.path.relpath(os.path.abspath(name), folder)

    def moved(span: Span) -> Span:
        return replace(span, file=seen(span.file))

    moved_diagnostics = tuple(
        replace(item, span=item.span and moved(item.span), also=tuple(map(moved, item.also))) for item in found
    )
    renamed = []
    for source in sources:
        renamed.append(SourceFile(seen(source.path), source.text))
        for start, end in masks.hidden(source):
            masks.hide(renamed[-1], start, end)
    return moved_diagnostics, tuple(renamed)


def sources_of(diagnostics: Iterable[Diagnostic]) -> tuple[SourceFile, ...]:
    """The files of the diagnostics, read from disk."""
    names = dict.fromkeys(item.span.file for item in diagnostics if item.span)
    return tuple(SourceFile(name, text) for name in names if (text := _read(name)) is not None)


def _read(name: str) -> str | None:
    """Read the text exactly as for jobs, line ends included, since hidden ranges depend on it."""
    try:
        text = read_small(name).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError, LimitError):  # without the excerpt, the diagnostic is still shown
        return None
