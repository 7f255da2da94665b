"""Jobs with errors, and what is reported of them: `invalid/<case>.test`, or `<case>.sql.test` for an SQL script."""

from pathlib import Path

import pytest

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.render import Format, render
from catalog.diagnostics.source import SourceFile
from engine.job.load import load_file
from engine.plan.building.build_plan import build
from tests.engine.plan.plan_cases import Case, cases, read_case

CASES = Path(__file__).parent / "invalid"
ENVIRONMENT = ("day", "baze", "rows", "who")


@pytest.fixture(autouse=True)
def _undefined_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def diagnostics_of(case: Case, folder: Path) -> tuple[Diagnostics, SourceFile]:
    name = "job.sql" if case.path.stem.endswith(".sql") else "job.conf"
    (folder / name).write_text(case.job)
    diagnostics = Diagnostics()
    job = load_file(name, diagnostics)
    if job is not None:
        build(job, diagnostics)
    return diagnostics, SourceFile(name, case.job)


@pytest.mark.parametrize("path", cases(CASES), ids=lambda path: path.stem)
def test_errors_are_reported(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = read_case(path)
    monkeypatch.chdir(tmp_path)
    diagnostics, source = diagnostics_of(case, tmp_path)
    case.check({"errors": render(diagnostics, Format.TEXT, [source])}, request.config.getoption("--update"))


def test_every_case_has_a_title() -> None:
    assert all(path.read_text().startswith("-- ") for path in (*cases(), *cases(CASES)))


def test_ten_errors_give_ten_diagnostics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = read_case(CASES / "ten_errors.test")
    monkeypatch.chdir(tmp_path)
    diagnostics, _ = diagnostics_of(case, tmp_path)
    lines = dict(enumerate(case.job.splitlines(), 1))
    places = sorted((each.code, each.span.line, each.span.column) for each in diagnostics if each.span)
    expected = [
        ("PEN1003", "${day}"), ("PEN2001", "snik_options"), ("PEN2002", "FakeSorce"), ("PEN2003", "rows_num"),
        ("PEN2004", '"two"'), ("PEN2005", 'Sql { plugin_input = "orders"'), ("PEN2006", 'orders"            #'),
        ("PEN2007", 'bigg"'), ("PEN2008", 'b"                  #'), ("PEN3004", "amuont"),
    ]  # fmt: skip
    assert [code for code, _, _ in places] == [code for code, _ in expected]
    for (_, line, column), (_, words) in zip(places, expected, strict=True):
        assert lines[line][column - 1 :].startswith(words)
