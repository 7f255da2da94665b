"""Diagnostics as workflow commands of GitHub Actions, which shows them next to the lines of a pull request."""

from collections.abc import Sequence

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.shown_names import shown_text


def to_github(diagnostics: Sequence[Diagnostic]) -> str:
    return "".join(_command(item) + "\n" for item in diagnostics)


def _command(item: Diagnostic) -> str:
    properties: dict[str, object] = {}
    if span := item.span:
        properties = {"file": span.file, "line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:
            # GitHub accepts columns only within one line, and its end column is inclusive.
            properties |= {"col": span.column, "endColumn": max(span.end_column - 1, span.column)}
    properties["title"] = item.code
    listed = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    lines = [item.message, *(f"{label}: {text}" for label, text in item.remarks())]
    return f"::{item.severity.value} {listed}::{_escaped(chr(10).join(lines))}"


def _escaped(text: str, more: str = "") -> str:
    """Percent-escapes what would end a command or, in a property, what would end the property."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return shown_text(text)
