"""The tests are arranged as the packages they test, and a skipped test is a failure in CI."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("catalog", "sql", "connectors", "engine")


def test_the_folders_of_tests_are_those_of_the_code():
    folders = [path for package in PACKAGES for path in (ROOT / "tests" / package).rglob("test_*.py")]
    named = {path.parent.relative_to(ROOT / "tests") for path in folders}
    assert len(named) > 20
    assert [str(folder) for folder in sorted(named) if not (ROOT / folder / "__init__.py").exists()] == []


def test_no_module_imports_tests_by_name():
    """They would run there once more."""
    repeated = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_"):
                repeated += [f"{path.name}: {name.name}" for name in node.names if name.name.lower().startswith("test")]
    assert repeated == []


@pytest.mark.parametrize(("is_ci", "code"), [(True, 1), (False, 0)])
def test_a_skipped_test_fails_in_ci(tmp_path, is_ci, code):
    pytest.importorskip("pyspark")  # without it, tests of Spark are left out
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_sessionfinish\n")
    (tmp_path / "test_skip.py").write_text("import pytest\n\ndef test_one():\n    pytest.skip('not here')\n")
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(
        [*command, "test_skip.py"], cwd=tmp_path, env=environment | ({"CI": "1"} if is_ci else {}),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert ("which is a failure in CI" in done.stdout) == is_ci
