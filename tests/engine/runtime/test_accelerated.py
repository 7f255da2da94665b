"""Random jobs have equal rows and equal counts with Comet and without it; the default run compares a sample."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[3]


def sample_and(full: int, sample: int):
    """Runs a test with a sample, and with the full number in the soak tests."""
    return pytest.mark.parametrize("count", [sample, pytest.param(full, marks=pytest.mark.soak)])


@pytest.mark.spark
@pytest.mark.slow
@sample_and(500, sample=12)
def test_rows_and_counts_are_equal_with_and_without_comet(count):
    """In a process of its own: a session that runs already cannot get Comet."""
    command = [sys.executable, "-m", "tests.engine.runtime.accelerated_runs", str(count)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert ended.returncode == 0, ended.stderr[-3000:]
    *problems, summary = lines
    assert problems == []
    assert summary["jobs"] == count
    assert summary["native"] > summary["operators"] / 2, summary
