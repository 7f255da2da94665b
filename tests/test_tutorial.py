"""The tutorial, followed literally in an empty folder: its files are written, its commands run, in their order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```', re.DOTALL | re.MULTILINE)
RUNNER = """
import shlex, sys
from connectors.delta.connector import connector as delta
from engine.cli import main
from engine.spark.session import open_session
settings = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2"}
spark = open_session("tutorial", settings, delta.maven, delta.session_settings)  # one for all commands: they share it
for line in sys.stdin.read().splitlines():
    words = shlex.split(line)
    assert words.pop(0) == "penstock", line
    print("$", line, flush=True)
    code = main(words)
    if code:
        sys.exit(f"{line}: exit code {code}")
spark.stop()
"""


def steps() -> list[tuple[str, str | None, str]]:
    text = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    return [(match["language"], match["file"], match["text"]) for match in BLOCK.finditer(text)]


def lines(text: str) -> list[str]:
    """Without blanks between words, and without seconds, which differ each time."""
    shown = (re.sub(r"\b\d+\.\d+( s\b|$)", "N", " ".join(line.split())) for line in text.splitlines())
    return [line for line in shown if line]


@pytest.mark.spark
@pytest.mark.delta
def test_the_tutorial_ends_well(tmp_path):
    commands = ""
    for language, file, text in steps():
        if file is None:
            commands += text if language == "sh" else ""
        else:  # all files first: no command of the tutorial comes before a file that would change what it does
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=commands, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    printed = lines(done.stdout)
    for language, file, text in steps():
        if file is None and language == "text":
            assert [line for line in lines(text) if line not in printed] == [], done.stdout
    assert (tmp_path / "out/orders/_delta_log").is_dir()
    assert (tmp_path / "graph.html").exists()
