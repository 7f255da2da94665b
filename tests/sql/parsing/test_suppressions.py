"""Comments that switch off a code on their line."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.diagnostics.source import PlacedText
from sql.suppressions import not_suppressed


def left(text: str, *codes: str) -> list[str]:
    """The codes that stay of diagnostics at the first character of the text."""
    query = PlacedText.bare(text)
    found = not_suppressed(query, [Diagnostic(code, "wrong", query.span(0, 1)) for code in codes])
    return [diagnostic.code for diagnostic in found]


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("a -- penstock: ignore PEN3004", ["PEN3008"]),
        ("a --PENSTOCK:ignore pen3004 , PEN3008", []),
        ("a -- ignore PEN3004", ["PEN3004", "PEN3008"]),
        ("a\n-- penstock: ignore PEN3004", ["PEN3004", "PEN3008"]),
        ("a -- penstock: ignore", ["PEN3004", "PEN3008"]),
    ],
)
def test_a_comment_names_the_codes_of_its_line(text, stays):
    assert left(text, "PEN3004", "PEN3008") == stays


def test_what_has_no_place_stays():
    query = PlacedText.bare("a -- penstock: ignore PEN3004")
    assert len(not_suppressed(query, [Diagnostic("PEN3004", "wrong", None)])) == 1
