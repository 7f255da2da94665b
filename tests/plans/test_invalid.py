"""Job files with errors, and their messages: `invalid/<case>.conf` or `.sql`, and next to it `<case>.txt`."""

from pathlib import Path

import pytest

from catalog.diagnostics import Diagnostics
from catalog.render import Format, render
from catalog.source import SourceFile
from engine.job.load import load
from engine.plan.building.build_plan import build

CASES = Path(__file__).parent / "invalid"
ENVIRONMENT = ("day", "baze", "rows", "who")


@pytest.mark.parametrize("path", sorted((*CASES.glob("*.conf"), *CASES.glob("*.sql"))), ids=lambda path: path.stem)
def test_errors_are_reported(path: Path, update: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES)
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    diagnostics = Diagnostics()
    job = load(path.name, diagnostics)
    if job is not None:
        build(job, diagnostics)
    text = render(diagnostics, Format.TEXT, [SourceFile(path.name, path.read_text(encoding="utf-8"))])
    expected = path.with_suffix(".txt")
    if update:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_ten_errors_give_ten_diagnostics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("day", raising=False)
    diagnostics = Diagnostics()
    path = CASES / "ten_errors.conf"
    job = load(path, diagnostics)
    assert job is not None
    assert build(job, diagnostics) is None
    lines = dict(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    places = sorted((each.code, each.span.line, each.span.column) for each in diagnostics if each.span)
    expected = [
        ("PEN1003", "${day}"), ("PEN2001", "snik_options"), ("PEN2002", "FakeSorce"), ("PEN2003", "rows_num"),
        ("PEN2004", '"two"'), ("PEN2005", 'Sql { plugin_input = "orders"'), ("PEN2006", 'orders"            #'),
        ("PEN2007", 'bigg"'), ("PEN2008", 'b"                  #'), ("PEN3004", "amuont"),
    ]  # fmt: skip
    assert [code for code, _, _ in places] == [code for code, _ in expected]
    for (_, line, column), (_, words) in zip(places, expected, strict=True):
        assert lines[line][column - 1 :].startswith(words)
