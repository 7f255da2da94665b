"""Kill -9 while a job overwrites: each target reads as wholly old or wholly new, and what is left is ended by
`penstock run --resume` or by the next run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.connectors.overwriting import JAVA_OPTIONS, ROWS

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
"""How often the job of both targets is killed; `make soak` kills it and those of one target 30 times."""

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.slow]


ALONE = [pytest.param(kind, marks=pytest.mark.soak) for kind in ("parquet", "delta")]


@pytest.mark.parametrize("kinds", [*ALONE, "parquet+delta"])
def test_targets_are_wholly_old_or_wholly_new(tmp_path, kinds):
    pytest.importorskip("pyarrow")
    chance = random.Random(f"kill {kinds}")
    version = 1
    for attempt in range(KILLS + 1):
        if attempt % 2:
            resume(tmp_path)
            assert leftovers(tmp_path) == [], f"after `--resume` of kill {attempt}"
            resumed = versions(tmp_path, kinds)
            assert len(set(resumed)) == 1, f"targets of one run differ after `--resume`: {resumed}"
        program = Program(tmp_path, kinds, version)
        program.wait_for("recovered")
        seen = versions(tmp_path, kinds)
        assert leftovers(tmp_path) == [], f"after kill {attempt}"
        assert len(set(seen)) == 1, f"targets of one run differ after recovery: {seen}"
        assert open_runs(tmp_path) == []
        if attempt == KILLS:
            program.kill(chance)
            break
        if attempt == 0:
            program.wait_for("done 1")  # there is always an old version
        program.kill_at_some_instant(chance)
        after = versions(tmp_path, kinds)
        started = max(program.said(phase) for phase in ("stage", "commit", "done"))
        done = program.said("done")
        for found in after:
            assert found >= max(done, *seen, 0), f"an older version came back: {found} after {done} was done"
            assert found <= started
        version = started + 1
        if program.said("commit") < started:
            assert set(after) == {max(done, seen[0])}, "rows were visible before the commit"


def resume(folder: Path) -> None:
    """End the run that was killed, if the kill met one, from the command line."""
    killed = open_runs(folder)
    assert len(killed) <= 1, killed
    for run in killed:
        command = [sys.executable, "-m", "engine.cli", "run", "--resume", run, "--state-dir", str(folder / "state")]
        environment = {**os.environ, "MASTER": "local[2]", "JAVA_TOOL_OPTIONS": JAVA_OPTIONS}
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        assert open_runs(folder) == []


def open_runs(folder: Path) -> list[str]:
    """The runs that have begun and not ended."""
    begun = (folder / "state").glob("runs/*/journal/begin.json")
    return [each.parents[1].name for each in begun if not (each.parent / "end.json").exists()]


class Program:
    """A running `overwriting.py` in a process group of its own."""

    def __init__(self, folder: Path, kinds: str, version: int) -> None:
        self.version = version
        self.output = folder / "output.txt"
        self.errors = folder / "errors.txt"
        with open(self.output, "w") as out, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.connectors.overwriting", str(folder), kinds, str(version)],
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )

    def lines(self) -> list[str]:
        return self.output.read_text().splitlines()

    def said(self, phase: str) -> int:
        """The last version reported to the phase; 0 if none was."""
        return max((int(line.split()[1]) for line in self.lines() if line.startswith(f"{phase} ")), default=0)

    def wait_for(self, line: str, seconds: float = 180.0) -> None:
        until = time.monotonic() + seconds
        while line not in self.lines():
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"no `{line}`: {self.errors.read_text()[-3000:]}")
            time.sleep(0.002)

    def kill_at_some_instant(self, chance: random.Random) -> None:
        """Half of the time anywhere in a version's life, else shortly after the commit has begun."""
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0.0, 3.0))
        else:
            self.wait_for(f"commit {max(self.said('stage'), self.version) + chance.choice((0, 1))}")
            time.sleep(chance.choice((0.0, chance.uniform(0.0, 0.02), chance.uniform(0.0, 0.5))))
        self.kill(chance)

    def kill(self, chance: random.Random) -> None:
        """Python and Java at once, or Python alone: Java then ends by itself, a moment later."""
        group = os.getpgid(self.process.pid)
        if chance.random() < 0.75:
            os.killpg(group, signal.SIGKILL)
        else:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if chance.random() < 0.5:
            return
        until = time.monotonic() + 20
        while time.monotonic() < until and _lives(group):
            time.sleep(0.02)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def versions(folder: Path, kinds: str) -> list[int]:
    return [version_of(folder / kind) for kind in kinds.split("+") if (folder / kind).exists()] or [0]


def version_of(target: Path) -> int:
    """The one version that all rows at a target are of; fails where they are not all there, or of several."""
    import pyarrow.parquet

    for _ in range(5):
        try:
            files = delta_files(target) if (target / "_delta_log").exists() else sorted(target.glob("*.parquet"))
            found = [
                pyarrow.parquet.ParquetFile(file).read(columns=["version"]).column(0).to_pylist() for file in files
            ]
            break
        except FileNotFoundError:  # a Java process that outlives its driver swapped the files while they were listed
            continue
    values = [value for each in found for value in each]
    assert len(values) == ROWS, f"{len(values)} rows in {target}"
    assert len(set(values)) == 1, f"rows of several versions in {target}: {set(values)}"
    return values[0]


def delta_files(target: Path) -> list[Path]:
    """The files of a Delta table's latest version, by its log."""
    live: dict[str, None] = {}
    for commit in sorted((target / "_delta_log").glob("*.json")):
        for action in map(json.loads, commit.read_text().splitlines()):
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                live[action["add"]["path"]] = None
    return [target / path for path in live]


def leftovers(folder: Path) -> list[str]:
    known = {"parquet", "delta", "state", "output.txt", "errors.txt"}
    return sorted(set(os.listdir(folder)) - known)
