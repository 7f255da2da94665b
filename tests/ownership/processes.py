"""Runs seeded schedules of real processes that run and end the same runs, stopped and killed at chosen steps.

    python -m tests.ownership.processes FOLDER FIRST COUNT [STORE [paused]]

Each process is a fork, so that a schedule takes a second. It does the steps of a run or of `--resume` (`programs`) on
this machine's disk, or on a store of another kind (`disk_stores`). `paused`: a run is stopped, another process ends
it, then it goes on. Prints what is wrong, and the seed; nothing if all
rows are right.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from connectors.commits import leases
from connectors.files.committing import local_commit
from connectors.files.committing.file_staged import APPEND, REPLACE
from connectors.storage import filesystem
from connectors.storage.filesystem import Files
from connectors.storage.local_files import LocalFiles
from engine.spark.writing.recover import resume
from engine.state import layout
from engine.state.dismissal import forget
from engine.state.layout import StateLayout, layout_at
from tests.ownership.disk_stores import STORES, CopyingDisk
from tests.ownership.programs import reported, write

LEASE_SECONDS = 0.6
PARTS = 3


class Interrupted(LocalFiles):
    """This machine's disk, whose change of a number stops or kills the process, before or after it is done."""

    def __init__(self, at: int, number: int) -> None:
        super().__init__()
        self.at, self.number, self.changes = at, number, 0

    def _change(self, change: Callable[[], object]) -> object:
        self.changes += 1
        if self.changes == self.at:
            os.kill(os.getpid(), self.number)
        return change()

    def write(self, path: str, text: str) -> None:
        if path.endswith(".alive"):
            super().write(path, text)
        else:
            self._change(lambda: LocalFiles.write(self, path, text))

    def write_new(self, path: str, text: str) -> bool:
        return bool(self._change(lambda: LocalFiles.write_new(self, path, text)))

    def move(self, source: str, target: str) -> None:
        self._change(lambda: LocalFiles.move(self, source, target))

    def delete(self, path: str) -> None:
        if "/." in path.removeprefix("/.") and path.endswith(".tmp"):
            super().delete(path)
        else:
            self._change(lambda: LocalFiles.delete(self, path))


class Leases:
    """A store of another kind; renewing a lease is no change of it."""

    def __init__(self, store: CopyingDisk) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def write(self, path: str, text: str) -> None:
        (self.store.disk if path.endswith(".alive") else self.store).write(path, text)


def store_of(kind: str, at: int = 0, number: int = 0) -> Files:
    """The store of that name, which stops or kills the process at a change."""
    disk, other = Interrupted(at, number), STORES[kind]
    return disk if other is None else Leases(other(disk._change))


class Process:
    """A fork that does some work; `result` is what it returned, None while it runs or if it was killed."""

    def __init__(self, folder: Path, work: Callable[[Files], str], store: Callable[[], Files]) -> None:
        self.output = folder / f"result-{time.monotonic_ns()}"
        self.pid = os.fork()
        if self.pid == 0:
            self._work(work, store())

    def _work(self, work: Callable[[Files], str], files: Files) -> None:
        filesystem.LocalFiles = lambda: files
        if isinstance(files, Interrupted):
            exchange = local_commit.exchange
            local_commit.exchange = lambda one, other: bool(files._change(lambda: exchange(one, other)))
        try:
            text = reported(lambda: work(files))
        except Exception as error:  # noqa: BLE001 (it is the test's finding)
            text = f"fault {type(error).__name__} {error}"
        self.output.write_text(text)
        os._exit(0)

    def wait(self, seconds: float = 20.0) -> bool:
        """Whether it has ended; False if it is stopped."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            if pid:
                return not os.WIFSTOPPED(status)
            time.sleep(0.005)
        raise AssertionError(f"a process does not end: {Path(f'/proc/{self.pid}/stack')}")

    @property
    def result(self) -> str | None:
        return self.output.read_text() if self.output.exists() else None


class _NoPrivateFolder:
    """In place of `LocalFiles` in the layout of the state directory, which else makes a disk of its own."""


layout.LocalFiles = _NoPrivateFolder


def schedule(folder: Path, seed: int, store: str = "disk") -> str | None:
    """Run one schedule; returns what is wrong."""
    chance = random.Random(seed)
    filesystem.LocalFiles = lambda: store_of(store)
    most = 45 if store == "disk" else 80  # a store that copies does it in more steps
    target, state = folder / "t", folder / "state"
    target.mkdir(parents=True)
    (target / "old").write_text("old rows")
    mode = chance.choice((APPEND, APPEND, REPLACE))
    results: list[tuple[str, Process]] = []
    stopped: list[Process] = []

    def begin(run_id: str, kind: str) -> None:
        def work(files: Files) -> str:
            if kind == "write":
                return write(files, str(state), str(target), run_id, mode, PARTS)
            if kind == "forget":
                forget(StateLayout(files, str(state)), run_id)
                return "forgotten"
            return resume(None, layout_at(None, str(state)), run_id).value

        number = chance.choice((signal.SIGSTOP, signal.SIGSTOP, signal.SIGKILL))
        process = Process(folder, work, partial(store_of, store, chance.randint(1, most), number))
        results.append((f"{kind} {run_id}", process))
        if not process.wait():
            stopped.append(process)

    begin("r", "write")
    for _ in range(chance.randint(1, 3)):
        begin(*chance.choice((("r", "resume"), ("r", "resume"), ("s", "write"), ("r", "write"), ("s", "resume"))))
    if chance.random() < 0.2:
        begin("r", "forget")
    chance.shuffle(stopped)
    for process in stopped:
        os.kill(process.pid, signal.SIGCONT)
    for process in stopped:
        if not process.wait():
            return "a process was stopped twice"
    said = [(name, process.result) for name, process in results]
    return _wrong(state, target, mode, said, store)


def paused(folder: Path, seed: int, store: str = "disk") -> str | None:
    """A run is stopped at some change, another process ends it, then it goes on: it changes nothing any more."""
    chance = random.Random(seed)
    filesystem.LocalFiles = lambda: store_of(store)
    target, state = folder / "t", folder / "state"
    target.mkdir(parents=True)
    (target / "old").write_text("old rows")
    mode = chance.choice((APPEND, REPLACE))
    chosen = partial(store_of, store, chance.randint(1, 45 if store == "disk" else 60), signal.SIGSTOP)
    run = Process(folder, lambda files: write(files, str(state), str(target), "r", mode, PARTS), chosen)
    if run.wait():
        return _wrong(state, target, mode, [("write r", run.result)], store)
    other = reported(lambda: resume(None, layout_at(None, str(state)), "r").value)
    before = LocalFiles().files(str(target))
    os.kill(run.pid, signal.SIGCONT)
    if not run.wait():
        return "it was stopped twice"
    said = [("write r", run.result), ("resume r", other)]
    after = LocalFiles().files(str(target))
    if other in ("finished", "rolled back") and before != after:
        return f"the paused process has changed {before} to {after}; {said}"
    return _wrong(state, target, mode, said, store)


def _wrong(state: Path, target: Path, mode: str, said: list[tuple[str, str | None]], store: str) -> str | None:
    found = layout_at(None, str(state))
    for run_id in found.open_run_ids() or ():
        ended = reported(lambda run_id=run_id: resume(None, found, run_id).value)
        if ended not in ("finished", "rolled back") and "PEN5008" not in ended:
            return f"{run_id} cannot be ended: {ended}; {said}"
    last = reported(lambda: write(store_of(store), str(state), str(target), "last", APPEND, PARTS))
    if last != "finished":
        return f"the next run cannot write: {last}; {said}"
    names = set(LocalFiles().files(str(target)))
    for run_id in ("r", "s"):
        parts = [name for name in names if name.startswith(f"{run_id}-")]
        is_marked = f"_penstock/{run_id}.w.json" in names
        is_said = any(name == f"write {run_id}" and result == "finished" for name, result in said)
        is_dismissed = ("forget r", "forgotten") in said and run_id == "r"
        if len(parts) not in (0, PARTS) or bool(parts) != is_marked:
            return f"{run_id} has {len(parts)} of {PARTS} parts, mark {is_marked}; {said}"
        if is_said and not parts and mode == APPEND and not is_dismissed:
            return f"{run_id} finished without its rows; {said}"
    has_written = any(name.startswith(("r-", "s-")) for name in names)
    if ("old" in names) != (mode == APPEND or not has_written):
        return f"old rows: {'old' in names}, mode {mode}, {sorted(names)}; {said}"
    left = [name for name in os.listdir(target.parent) if name.startswith(".t")]
    return f"left: {left}; {said}" if left and not left[0].endswith(".dismissed") else None


def main() -> None:
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    store = sys.argv[4] if len(sys.argv) > 4 else "disk"
    os.environ[leases.SECONDS_VARIABLE] = str(LEASE_SECONDS)
    for seed in range(first, first + count):
        place = folder / str(seed)
        wrong = (paused if sys.argv[5:] == ["paused"] else schedule)(place, seed, store)
        if wrong:
            print(f"{store}, seed {seed}: {wrong}", flush=True)
        else:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
