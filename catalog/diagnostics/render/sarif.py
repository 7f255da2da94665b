"""Diagnostics as SARIF 2.1.0 (OASIS), which code-scanning services read."""

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from catalog.diagnostics.codes import CODES
from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.shown_names import shown_text
from catalog.diagnostics.source import Span

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def to_sarif(diagnostics: Sequence[Diagnostic]) -> str:
    codes = sorted({item.code for item in diagnostics})
    run = {
        "tool": {"driver": {"name": "penstock", "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(item, codes.index(item.code)) for item in diagnostics],
    }
    return shown_text(
        json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"
    )


def _rule(code: str) -> dict[str, object]:
    return {"id": code, "shortDescription": {"text": CODES[code]}}


def _result(item: Diagnostic, rule: int) -> dict[str, object]:
    lines = [item.message, *(f"{label}: {text}" for label, text in item.remarks())]
    result: dict[str, object] = {
        "ruleId": item.code,
        "ruleIndex": rule,
        "level": item.severity.value,
        "message": {"text": "\n".join(lines)},
    }
    if item.span:
        result["locations"] = [{"physicalLocation": _location(item.span)}]
    if item.also:
        result["relatedLocations"] = [{"physicalLocation": _location(span)} for span in item.also]
    return result


def _location(span: Span) -> dict[str, object]:
    return {
        "artifactLocation": {"uri": _uri(span.file)},
        "region": {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        },
    }


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogatepass")
