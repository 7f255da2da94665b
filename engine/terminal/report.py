"""Shows diagnostics: as text with source lines for people; as JSON, GitHub annotations or SARIF for programs."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.render import Format, render
from catalog.diagnostics.render.text import wants_color
from catalog.diagnostics.source import SourceFile


def report(diagnostics: Iterable[Diagnostic], format: str = "text", stream: TextIO | None = None) -> None:
    """Print diagnostics: text to `stream` (default: stderr), the formats for programs to stdout."""
    found = tuple(diagnostics)
    if (
        format in {known.value for known in Format} and Format(format) is not Format.TEXT
    ):  # a command may have further formats
        sys.stdout.write(render(found, format))
        return
    out = stream or sys.stderr
    out.write(render(found, Format.TEXT, sources_of(found), color=wants_color(out)))
    out.flush()


def sources_of(diagnostics: Iterable[Diagnostic]) -> tuple[SourceFile, ...]:
    """The files of the diagnostics, read from disk."""
    names = dict.fromkeys(item.span.file for item in diagnostics if item.span)
    return tuple(SourceFile(name, text) for name in names if (text := _read(name)) is not None)


def _read(name: str) -> str | None:
    """Read the text exactly as for jobs, line ends included, since hidden ranges depend on it."""
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):  # without the excerpt, the diagnostic is still shown
        return None
