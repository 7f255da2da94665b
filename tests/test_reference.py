"""The reference pages are what the specs say; `pytest --update tests/test_reference.py` writes them again."""

import re
from pathlib import Path

import pytest

import connectors
from catalog.diagnostics.codes import CODES
from catalog.options import Option, OptionType
from engine import transforms
from tests import reference

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["connectors.md", "transforms.md", "errors.md", "seatunnel.md"])
def test_the_page_is_up_to_date(name, update):
    text = reference.pages()[name]
    if update:
        (DOCS / name).write_text(text, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == text, "run `make golden`"


def test_every_option_is_on_the_page():
    page = reference.pages()["connectors.md"]
    for name in connectors.names():
        for each in (connectors.source(name), connectors.sink(name)):
            spec = [] if each is None else [*getattr(each, "source_options", ()), *getattr(each, "sink_options", ())]
            assert [option.name for option in spec if f"\n- `{option.name}` (" not in page] == []
    assert [name for name in transforms.names() if f"\n## {name}\n" not in reference.pages()["transforms.md"]] == []


def test_every_code_that_is_used_is_on_the_page_of_errors():
    used = set()
    for folder in ("catalog", "sql", "connectors", "engine"):
        for path in (DOCS.parent / folder).rglob("*.py"):
            used |= set(re.findall(r"PEN\d{4}", path.read_text(encoding="utf-8")))
    assert used <= set(CODES)
    assert set(re.findall(r"^\| `(PEN\d{4})`", reference.pages()["errors.md"], re.MULTILINE)) == set(CODES)


def test_an_item_tells_all_of_an_option():
    option = Option(
        "mode", OptionType.STRING, "How | why.", default="a", choices=("a", "b"), alternatives=("m",), sensitive=True
    )
    assert reference._options([option]).splitlines() == [
        "- `mode` (string, default `a`): How | why. One of `a`, `b`. Also written `m`. "
        "Sensitive: never shown; `mode_file` names",
        "  a file that holds it.",
    ]


def test_no_line_of_an_item_begins_another_one():
    text = " ".join([*["word"] * 23, "abc"])  # as long as a line
    assert [line[:7] for line in reference._item(f"{text} - one 2. two").splitlines()] == ["- word ", "  abc -"]
