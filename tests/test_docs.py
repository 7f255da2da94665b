"""Outputs in the documentation are those that the commands print, and the README's first job runs as it says."""

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from engine.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
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


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [match["text"] for match in BLOCK.finditer(text) if match["language"] == language]


def readme_blocks(language: str) -> list[str]:
    return blocks("README.md", language)


def test_the_readme_is_short_and_shows_a_picture():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "](docs/images/validate.svg)" in text


def test_the_quick_start_is_two_commands_that_the_makefile_has():
    quick_start = readme_blocks("sh")[0].split("\n")[:-1]
    assert quick_start == ["make demo", "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "lint", "bench", "golden"} <= set(targets)


def test_the_picture_is_what_validate_prints_of_a_misspelled_column(tmp_path, capsys, monkeypatch, update):
    monkeypatch.chdir(tmp_path)
    (job,) = readme_blocks("hocon")
    (tmp_path / "orders.conf").write_text(job.replace("sum(amount)", "sum(amout)"))
    assert main(["validate", "orders.conf"]) == 2
    printed = re.sub(r"\(\d+\.\d+ s\)", "(0.05 s)", capsys.readouterr().out)
    assert "column `amout` does not exist in `orders`" in printed
    console = Console(record=True, width=120, file=io.StringIO(), highlight=False)
    console.print(Text("$ penstock validate orders.conf\n", style="bold"), end="")
    for line in printed.splitlines():
        style = "bold red" if line.startswith("error") else "green" if "= help" in line else ""
        console.print(Text(line, style=style))
    picture = console.export_svg(title="penstock", unique_id="validate")
    path = ROOT / "docs/images/validate.svg"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == picture, "run pytest with --update, and look at the picture"


def test_the_first_job_is_the_same_as_a_script(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = []
    script = next(text for text in blocks("docs/sql-jobs.md", "sql") if text.startswith("-- orders.sql"))
    for kind, job in (("conf", readme_blocks("hocon")[0]), ("sql", script)):
        (tmp_path / f"orders.{kind}").write_text(job)
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


def test_the_site_builds_strictly(tmp_path):
    pytest.importorskip("mkdocs")  # the plain environment, which has what `validate` needs, builds no site
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tutorial/index.html").exists()


OF_THE_READER = {"sql/functions/spark_4_2.tsv", "tests/engine/plan/drop_idle.test"}
"""Files that a page tells its reader to make."""
HOUSE = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("architecture", "analysis", "extending")),
]
CODE_PATH = re.compile(r"`((?:engine|sql|catalog|connectors|tests|benchmarks|examples|docs)/[^`\s]*)`")


@pytest.mark.parametrize("page", HOUSE, ids=lambda page: page.name)
def test_the_files_that_pages_about_the_code_name_are_there(page):
    named = set(CODE_PATH.findall(page.read_text(encoding="utf-8"))) - OF_THE_READER
    made = set(re.findall(r"^# (\S+\.py)$", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named
    assert [path for path in sorted(named - made) if "NAME" not in path and not list(ROOT.glob(path))] == []


@pytest.mark.parametrize("package", ["engine", "sql"])
def test_every_folder_is_described(package):
    pages = "".join(page.read_text(encoding="utf-8") for page in HOUSE)
    folders = [path.parent.relative_to(ROOT) for path in (ROOT / package).glob("*/*.py")]
    assert [str(folder) for folder in sorted(set(folders)) if f"`{folder}/`" not in pages] == []
