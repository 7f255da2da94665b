"""The examples of docs/extending.md, built from the page: added to a copy of the code, and installed as a package."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from engine import transforms
from engine.compile import Settings, compile_job

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "extending.md").read_text()
PACKAGES_PAGE = (ROOT / "docs" / "connector-packages.md").read_text()
BLOCKS = re.findall(r"```python\n(# (\S+\.py)\n.*?)```", PAGE + PACKAGES_PAGE, re.DOTALL)
EXAMPLE = ROOT / "examples" / "connector_package"
FILES = {name: text for text, name in BLOCKS if not name.startswith("example_connectors/")}
FUNCTION_LINE = re.search(r"```tsv\n(.*\n)```", PAGE)[1]
CHANGED = {"engine/optimizer/__init__.py", "sql/functions/spark_4_1.tsv"}
"""The files of Penstock that the page says to change."""
RULE_LINE = re.search(r"```python\n(    \w+,.*\n)```", PAGE)[1]

JOB = """
source {
  Squares { plugin_output = "few", count = 5 }
  Squares { plugin_output = "more", count = 20 }
}
transform {
  Filter { plugin_input = "few", plugin_output = "some", condition = "number > 2" }
  Filter { plugin_input = "more", plugin_output = "even", include_fields = ["number"], condition = "number > 17" }
  Mask { plugin_input = "even", plugin_output = "masked", field = "number", shown = 1 }
}
sink {
  Console { plugin_input = "some" }
  Console { plugin_input = "masked" }
}
"""


PACKAGES = ("catalog", "connectors", "engine", "sql")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The packages with the page's files added, the line in `RULES` with its import, and the line of the function."""
    root = tmp_path_factory.mktemp("copy")
    for package in (*PACKAGES, "tests"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)  # the settings of pytest, whose import path is relative to it
    for name, text in FILES.items():
        assert not (root / name).exists(), name
        (root / name).write_text(text.removeprefix(f"# {name}\n"))
    rules = root / "engine" / "optimizer" / "__init__.py"
    name = RULE_LINE.split(",")[0].strip()
    text = rules.read_text()
    last = next(line for line in text.splitlines(keepends=True) if line.startswith("    push_filters,"))
    first_import = "from engine.optimizer.prune_unused"
    text = text.replace(last, last + RULE_LINE)
    with (root / "sql" / "functions" / "spark_4_1.tsv").open("a") as table:
        table.write(FUNCTION_LINE)
    rules.write_text(text.replace(first_import, f"from engine.optimizer.{name} import {name}\n{first_import}"))
    return root


def penstock(copy, *arguments, job=JOB, exit_code=0):
    (copy / "job.conf").write_text(job)
    command = [sys.executable, "-m", "engine.cli", *arguments]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == exit_code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_page_has_a_file_of_each_kind():
    assert [name.rpartition("/")[0] for name in FILES] == [
        "connectors",
        "engine/transforms",
        "engine/optimizer",
        "engine/commands",
    ]


def test_only_the_files_that_the_page_names_are_changed(copy):
    def contents(root):
        files = (path for package in (*PACKAGES, "tests") for path in (root / package).rglob("*") if path.is_file())
        return {str(path.relative_to(root)): path.read_bytes() for path in files if path.suffix != ".pyc"}

    before, after = contents(ROOT), contents(copy)
    assert {name for name in after if before.get(name) != after[name]} == CHANGED | set(FILES)
    assert all(f"`{name}`" in PAGE for name in CHANGED)


def test_the_connector_is_found_and_its_options_are_printed(copy):
    assert "How many." in penstock(copy, "connectors", "Squares")


def test_the_transform_is_chained_and_the_source_takes_columns_and_filters(copy):
    text = penstock(copy, "explain", "job.conf", "--columns")
    assert "masked: Filter + Mask" in text
    assert "columns: number (1 of 2)" in text
    assert "filters: `number` > 17" in text
    assert "- number string" in text


def test_the_rule_is_run_and_can_be_switched_off(copy):
    dropped = penstock(copy, "explain", "job.conf", "--rules")
    assert "rule drop_idle" in dropped
    assert "some: Filter\n" not in dropped.partition("rule ")[0]
    kept = penstock(copy, "explain", "job.conf", "--rules", "--disable", "drop_idle")
    assert "rule drop_idle" not in kept


def test_the_function_is_known_checked_and_typed(copy):
    job = """
    source {{ Squares {{ plugin_output = "few", count = 5 }} }}
    transform {{ Sql {{ plugin_input = "few", plugin_output = "named", query = "select {} as short from few" }} }}
    sink {{ Console {{ plugin_input = "named" }} }}
    """
    text = penstock(copy, "explain", "job.conf", "--columns", job=job.format("initials('Ada Lovelace', ' ')"))
    assert "- short string" in text
    text = penstock(copy, "validate", "job.conf", job=job.format("initials()"), exit_code=2)
    assert "initials" in text
    text = penstock(copy, "validate", "job.conf", job=job.format("initial('Ada')"), exit_code=2)
    assert "did you mean `initials`" in text


def test_the_command_is_found_and_reports_errors(copy):
    assert "list the tables that a job writes" in penstock(copy, "--help")
    assert "console_2: number\n" in penstock(copy, "tables", "job.conf")
    text = penstock(copy, "tables", "job.conf", job=JOB.replace("count = 5", "cuont = 5"), exit_code=2)
    assert "did you mean `count`" in text


def test_the_connectors_of_the_pages_are_those_of_the_example_package():
    shown = {
        name.replace("connectors/", "example_connectors/") if name in FILES else name: text for text, name in BLOCKS
    }
    connectors_shown = {name: text for name, text in shown.items() if name.startswith("example_connectors/")}
    assert {Path(name).stem for name in connectors_shown} == {"squares", "sqlite_table", "sqlite_rows", "json_folder"}
    for name, text in connectors_shown.items():
        assert text.partition("\n")[2] == (EXAMPLE / name).read_text(), name


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ruff") is None, reason="needs the tools of `make lint`")
def test_the_files_pass_the_type_check_and_the_linter(copy):
    settings = str(ROOT / "pyproject.toml")
    code = [name for name in FILES if not name.startswith("tests/")]
    if (ROOT / ".mypy_cache").exists():  # of the code that the files import, which `make lint` has just checked
        shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    for tool in (
        ["ruff", "check", "--config", settings],
        ["mypy", "--config-file", settings],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *tool, *code], cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.spark
def test_the_rows_are_those_of_the_page(spark, tmp_path, monkeypatch):
    """The same files as a third party's package would bring them."""
    from engine.spark.lower import lower

    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    points = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    points = re.sub(r'\[project.entry-points."(.*)"\]', r"[\1]", points).replace('"', "")
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "my_package").mkdir()
    for name, text in FILES.items():
        if name.startswith("tests/"):
            continue
        (tmp_path / "my_package" / Path(name).name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    (tmp_path / "job.conf").write_text(JOB)
    diagnostics = Diagnostics()
    job = compile_job(tmp_path / "job.conf", Settings(), diagnostics)
    assert job is not None, diagnostics.items
    frames = lower(spark, job.plan.writes).dataframes
    rows = [[tuple(row) for row in frames[write.input].collect()] for write in job.plan.writes]
    assert rows == [[(3, 9), (4, 16)], [("*8",), ("*9",)]]
    forget()


def forget():
    """Entry points are looked up once in a process."""
    connectors.forget()
    transforms.plugins.forget()
