"""Outputs in the documentation are those that the commands print, and the README's first job runs as it says."""

import re
import shlex
from pathlib import Path

import pytest

from engine.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
MADE = re.compile(r"(<!-- made by: (?P<command>.+?) -->\n```text\n)(?P<output>.*?)(```)", re.DOTALL)
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)(?P<target>[^)#\s]+)")

OUTPUTS = [
    pytest.param(page, match["command"], marks=[pytest.mark.spark] if match["command"].startswith("run") else [])
    for page in PAGES
    for match in MADE.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "command"), OUTPUTS)
def test_outputs_are_what_the_commands_print(page, command, request, update, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    if command.startswith("run"):
        request.getfixturevalue("spark")
        monkeypatch.setenv("PENSTOCK_STATE_DIR", "nowhere")
    assert main(shlex.split(command)) == 0
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines()) + "\n"
    text = page.read_text(encoding="utf-8")
    (found,) = (match for match in MADE.finditer(text) if match["command"] == command)
    if update:
        page.write_text(text[: found.start("output")] + printed + text[found.end("output") :], encoding="utf-8")
    else:
        assert found["output"] == printed, "run pytest with --update, and look at the difference"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        assert (page.parent / match["target"]).exists(), match["target"]


def readme_blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [match["text"] for match in BLOCK.finditer(text) if match["language"] == language]


def test_the_quick_start_is_two_commands_that_the_makefile_has():
    quick_start = readme_blocks("sh")[0].split("\n")[:-1]
    assert quick_start == ["make demo", "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "golden"} <= set(targets)


def test_the_first_jobs_misspelling_is_reported_as_the_readme_says(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (job,) = readme_blocks("hocon")
    (tmp_path / "orders.conf").write_text(job.replace("sum(amount)", "sum(amout)"))
    assert main(["validate", "orders.conf"]) == 2
    (told,) = (text for text in readme_blocks("text") if text.startswith("error["))
    assert told in capsys.readouterr().out


def test_the_first_job_is_the_same_as_a_script(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = []
    for kind, language in (("conf", "hocon"), ("sql", "sql")):
        (tmp_path / f"orders.{kind}").write_text(readme_blocks(language)[0])
        assert main(["explain", f"orders.{kind}", "--columns"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


@pytest.mark.spark
def test_the_first_job_runs_by_the_commands_of_the_readme(spark, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_STATE_DIR", raising=False)
    (job,) = readme_blocks("hocon")
    (tmp_path / "orders.conf").write_text(job)
    (commands,) = (text for text in readme_blocks("sh") if "orders.conf" in text)
    for line in commands.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    out = capsys.readouterr().out
    assert "amount > 20" in out, "explain takes the variable's default"
    rows = {tuple(row) for row in spark.read.parquet(str(tmp_path / "out" / "by_region")).collect()}
    assert {(region, orders, str(amount)) for region, orders, amount in rows} == {
        ("north", 1, "120.50"),
        ("south", 1, "80.00"),
    }
    assert re.search(r"orders\s+FINISHED", out)
