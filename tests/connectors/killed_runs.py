"""Runs of `penstock run` in processes of their own, which are killed at chosen instants of their journals."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts sooner
STEPS = ("begin.json", "*.prepared.json", "*.staged.json", "commit.json", "*.committed.json", "end.json")


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
