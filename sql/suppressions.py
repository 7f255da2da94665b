"""Diagnostics that a comment on their line switches off: `-- penstock: ignore PEN3004, PEN3008`."""

import re
from collections.abc import Iterable
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.source import PlacedText

_COMMENT: Final = re.compile(r"--[ \t]*penstock:[ \t]*ignore[ \t]+(PEN\d{4}(?:[ \t]*,[ \t]*PEN\d{4})*)", re.IGNORECASE)


def not_suppressed(query: PlacedText, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The errors without those whose code is named by a comment on their first line."""
    ignored: dict[int, set[str]] = {}
    for found in _COMMENT.finditer(query.value):
        line = query.span(found.start(), found.end()).line
        ignored.setdefault(line, set()).update(code.strip().upper() for code in found[1].split(","))
    if not ignored:
        return tuple(diagnostics)
    return tuple(
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.span is None or diagnostic.code not in ignored.get(diagnostic.span.line, ())
    )
