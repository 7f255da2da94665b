"""Diagnostics as a JSON list; lines and columns are 1-based, the end exclusive, all null without a location."""

import json
from collections.abc import Sequence

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.shown_names import shown_text
from catalog.diagnostics.source import Span


def to_json(diagnostics: Sequence[Diagnostic]) -> str:
    return shown_text(json.dumps([_record(item) for item in diagnostics], indent=2, ensure_ascii=False) + "\n")


def _record(item: Diagnostic) -> dict[str, object]:
    return {
        "code": item.code,
        "severity": item.severity.value,
        "message": item.message,
        **_place(item.span),
        "help": item.help,
        "notes": list(item.notes),
        "also": [_place(span) for span in item.also],
    }


def _place(span: Span | None) -> dict[str, object]:
    return {
        "file": span.file if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
    }
