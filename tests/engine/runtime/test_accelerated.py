"""Random jobs have equal rows, counts and errors with Comet and without it; the default run compares a sample."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[3]
FIRST = "13"
"""The first seed: the jobs from here on have rules, NOT NULL, errors and sources of several formats."""


def sample_and(full: int, sample: int):
    """Runs a test with a sample, and with the full number in the soak tests."""
    return pytest.mark.parametrize("count", [sample, pytest.param(full, marks=pytest.mark.soak)])


@pytest.mark.spark
@pytest.mark.slow
@sample_and(500, sample=2)
def test_rows_and_counts_are_equal_with_and_without_comet(count):
    """In a process of its own: a session that runs already cannot get Comet."""
    *problems, summary = printed("accelerated_runs", str(count), FIRST)
    assert problems == []
    assert summary["jobs"] == count
    assert summary["native"] > 0, summary
    assert summary["explained"]["operators"] >= summary["explained"]["native"] > 0, summary


@pytest.mark.spark
@pytest.mark.soak
def test_rules_that_drop_rows_and_not_null_are_native():
    summary = printed("accelerated_runs", "1", FIRST)[-1]
    assert summary["explained"]["native"] == summary["explained"]["operators"], summary


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.parametrize("what", ["tpch", "tpcds", "cases", "random"])
def test_rows_of_queries_are_equal_with_and_without_comet(what):
    *problems, summary = printed("accelerated_queries", what, "2000")
    assert [problem for problem in problems if "query" in problem] == []
    assert summary["native"] > 0


def printed(program: str, *arguments: str) -> list[dict[str, Any]]:
    """The JSON lines of a program of this folder."""
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.engine.runtime.{program}", *arguments],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
