"""`validate` of the job of somebody else ends within its limits, and reads nothing outside the project."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.cli import main
from tests.security.hostile_jobs import (
    EVIL_PATTERNS,
    NUMBERS,
    SHAPES,
    SOURCE,
    SUBSTITUTIONS,
    TEXTS,
    furnish,
    lake_jobs,
    pattern_jobs,
    with_options,
)
from tests.security.own_process import own_process

LONG = ("five thousand blocks", "five thousand sinks of one table")
SLOW = (
    "only blanks", "five thousand files", "many closed brackets", "many keys", "a dotted env", "many plugin inputs",
    "blocks that substitutions bring", "a query: a deep type", "a query: many semicolons", "a query: many values",
    "a query: a sum of 3,500 columns", "a query: many columns",
)  # fmt: skip
"""Cases of a second or more, which `make soak` tries."""
SECRET = "planted-4f1c"
SECONDS, MEGABYTES = 5.0, 1000


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    furnish(folder)
    return folder


def checked(text: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    Path("job.conf").write_bytes(text.encode("utf-8", "surrogatepass"))
    code = main(["validate", *arguments, "job.conf"])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


QUICK_PATTERNS = {name: text for name, text in pattern_jobs().items() if name.startswith(EVIL_PATTERNS[0] + " of ")}


def try_all(jobs: Mapping[str, str], place: Path) -> None:
    """Each in a process of its own: what hangs, or takes too much memory, is ended by the limits of the system."""
    with own_process() as others:
        for name, text in jobs.items():
            (place / "job.conf").write_bytes(text.encode("utf-8", "surrogatepass"))
            ended = others.run(["validate", "job.conf"], place)
            assert ended.code in (0, 2), (name, ended.shown[:2000])
            assert "PEN9" not in ended.shown, (name, ended.shown[:2000])
            assert ended.seconds < SECONDS, (name, ended.seconds)
            assert ended.megabytes < MEGABYTES, (name, ended.megabytes)


@pytest.mark.parametrize(
    "jobs",
    [SUBSTITUTIONS, NUMBERS, TEXTS, pytest.param(SHAPES, marks=pytest.mark.slow), QUICK_PATTERNS],
    ids=["values", "numbers", "texts", "sql", "regex"],
)
def test_a_job_that_would_hang_or_fill_the_memory_has_an_answer(jobs, place):
    try_all({name: text for name, text in jobs.items() if name not in (*LONG, *SLOW)}, place)


@pytest.mark.soak
def test_no_pattern_of_any_option_hangs(place):
    try_all(pattern_jobs(), place)


@pytest.mark.soak
def test_a_job_that_takes_its_time_has_an_answer(place):
    jobs = {**SUBSTITUTIONS, **TEXTS, **SHAPES}
    try_all({name: jobs[name] for name in (*LONG, *SLOW)}, place)


def test_a_table_whose_files_are_not_what_they_should_be_has_an_answer(tmp_path, monkeypatch, capsys):
    for number, (name, (text, make)) in enumerate(lake_jobs().items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder)
        monkeypatch.chdir(folder)
        code, shown = checked(text, capsys)
        assert code in (0, 2), (name, shown)
        assert "PEN9" not in shown, (name, shown)


def outside_jobs(secret: Path) -> dict[str, str]:
    sink = "sink { Console { } }\n"
    names = (str(secret), f"file://{secret}", f"../{secret.name}", f"x/../../{secret.name}", "link.conf", "../*.conf")
    found = {f"include {name}": f'include "{name}"\n' + SOURCE + sink for name in names}
    found |= {f"include file {name}": f'include required(file("{name}"))\n' + SOURCE + sink for name in names}
    for kind in ("csv", "json", "text", "parquet", "orc", "avro", "xml"):
        for path in (str(secret), f"file://{secret}", "link.conf", f"{secret.parent}/*"):
            found[f"{kind} {path}"] = with_options("LocalFile", path=path, file_format_type=kind)
            found[f"{kind} header {path}"] = with_options(
                "LocalFile", path=path, file_format_type=kind, csv_use_header_line=True,
                schema={"fields": {"other": "string"}},
            )  # fmt: skip
    for connector in ("Delta", "Paimon"):
        found[f"{connector} table"] = with_options(connector, path=str(secret.parent))
    found["Python source"] = SOURCE + (
        f'transform {{ Python {{ source_code_path = "{secret}", output_schema {{ a = int }} }} }}\n' + sink
    )
    found["a package"] = 'include package("this:x.conf")\n' + SOURCE + sink
    found["the test suite"] = 'include package("test:__init__.py")\n' + SOURCE + sink
    return found


def test_nothing_outside_of_the_project_is_shown(tmp_path, monkeypatch, capsys):
    (tmp_path / "project").mkdir()
    secret = tmp_path / "secret.conf"
    secret.write_text(f"{SECRET},b\n{SECRET} : 1 }}\n")
    monkeypatch.chdir(tmp_path / "project")
    Path("link.conf").symlink_to(secret)
    for name, text in outside_jobs(secret).items():
        code, shown = checked(text, capsys)
        assert SECRET not in shown, (name, shown)
        assert "PEN9" not in shown, (name, shown)
        assert code in (0, 2), (name, shown)
    assert "this" not in sys.modules


def test_data_outside_is_an_error_where_that_is_asked_for(tmp_path, monkeypatch, capsys):
    (tmp_path / "project").mkdir()
    (tmp_path / "in.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path / "project")
    job = with_options("LocalFile", path=str(tmp_path / "in.csv"), file_format_type="csv", csv_use_header_line=True)
    assert checked(job, capsys)[0] == 0
    code, shown = checked(job, capsys, "--strict=data")
    assert code == 2
    assert "error[PEN1602]" in shown
    assert "PEN1602" not in checked(job, capsys, "--strict=data", "--allow-outside")[1]


def test_an_error_names_its_limit_and_how_to_raise_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, shown = checked(SUBSTITUTIONS["a list that doubles itself"], capsys)
    assert code == 2
    assert "the limit `nodes`" in shown
    assert "PENSTOCK_LIMITS=nodes=" in shown
