"""Runs of `penstock run` in processes of their own, which are killed at chosen instants of their journals."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts sooner
STEPS = ("begin.json", "prepared.json", "*.staged.json", "commit.json", "*.committed.json", "end.json")


class Run:
    """One run of a job, in a process group of its own."""

    def __init__(self, job: Path, run_id: str, *arguments: str) -> None:
        self.journal = job.parent / "state" / "runs" / run_id / "journal"
        self.log = job.parent / f"{run_id}.log"
        command = [sys.executable, "-m", "engine.cli", "run", str(job), "--run-id", run_id, *arguments]
        environment = {**os.environ, "MASTER": "local[2]", "JAVA_TOOL_OPTIONS": JAVA_OPTIONS}
        environment["PENSTOCK_STATE_DIR"] = str(job.parent / "state")
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

    def at_some_instant(self, chance: random.Random, act: Callable[[], None], seconds: float = 240.0) -> bool:
        """Act when a step of the journal has been written, or a moment later; False if the run had ended before."""
        step, delay = chance.choice(STEPS), chance.choice((0.0, chance.uniform(0.0, 0.05), chance.uniform(0.0, 2.0)))
        until = time.monotonic() + seconds
        while not any(fnmatch(name, step) for name in self.steps()):
            assert time.monotonic() < until, self.text()
            if self.process.poll() is not None:
                return False
            time.sleep(0.002)
        time.sleep(delay)
        if self.process.poll() is not None:
            return False
        act()
        return True

    def steps(self) -> list[str]:
        return os.listdir(self.journal) if self.journal.is_dir() else []

    def kill(self) -> None:
        """Python and Java at once."""
        os.killpg(os.getpgid(self.process.pid), signal.SIGKILL)
        self.process.wait()

    def finish(self) -> int:
        return self.process.wait(timeout=400)

    def text(self) -> str:
        return self.log.read_text()[-4000:]


class Runner:
    """`running_jobs.py` in a process group of its own: a run of a job costs no start of Spark."""

    def __init__(self, folder: Path, *, separate: bool = False) -> None:
        self.folder, self.log = folder, folder / "runs.log"
        self.runs = folder / "state" / "runs"
        words = [sys.executable, "-m", "tests.connectors.running_jobs", str(self.log), *["separate"] * separate]
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PENSTOCK_STATE_DIR": str(folder / "state")},
            start_new_session=True,
        )

    def start(self, job: Path, run_id: str) -> None:
        """Begin a run; `result` waits for its end."""
        with open(self.log, "a") as log:
            print(f"== {run_id}", file=log)
        assert self.process.stdin is not None
        print(json.dumps([str(job), "--run-id", run_id, "--quiet"]), file=self.process.stdin, flush=True)

    def run(self, job: Path, run_id: str) -> None:
        """Run a job, which must succeed."""
        self.start(job, run_id)
        assert self.result() == 0, self.text()

    def result(self) -> int:
        """The exit code of the run."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.text()
        return int(line)

    def has_answered(self) -> bool:
        assert self.process.stdout is not None
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def steps(self, run_id: str) -> set[str]:
        """The steps in the journal of a run."""
        journal = self.runs / run_id / "journal"
        return set(os.listdir(journal)) if journal.is_dir() else set()

    def writes(self, run_id: str) -> list[str]:
        """The ids of a run's writes, in the order of the job."""
        return list(json.loads((self.runs / run_id / "journal" / "begin.json").read_text())["writes"])

    def kill(self, *, java: bool = True) -> None:
        """Python and Java at once; or Python alone, and Java ends by itself, a moment later."""
        if java:
            self._signal(signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        until = time.monotonic() + 60
        while self._signal(0):
            assert time.monotonic() < until, "Java outlives Python"
            time.sleep(0.02)

    def _signal(self, number: int) -> bool:
        """Send it to Python and Java; False if none of them is there."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return False
        return True

    def text(self) -> str:
        return self.log.read_text()[-6000:]


@dataclass(frozen=True)
class Instant:
    """When a run is killed: so many seconds after a step of its journal, the `count`th of its kind."""

    step: str
    count: int
    seconds: float

    @classmethod
    def some(cls, chance: random.Random, writes: int) -> "Instant":
        """Mostly while rows are staged or committed."""
        step = chance.choice(("begin.json", "*.staged.json", "*.staged.json", "commit.json", *["*.committed.json"] * 3))
        count = chance.randint(1, writes) if step.startswith("*") else 1
        return cls(step, count, chance.choice((0.0, chance.uniform(0, 0.05), chance.uniform(0, 0.5))))

    def wait(self, runner: Runner, run_id: str) -> None:
        """Until then, or until the run has ended."""
        while not runner.has_answered():
            assert runner.process.poll() is None, runner.text()
            if sum(fnmatch(name, self.step) for name in runner.steps(run_id)) >= self.count:
                time.sleep(self.seconds)
                return
            time.sleep(0.001)
