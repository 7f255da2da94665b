"""Processes that work on the jobs of a command, if that pays off: compiling is bound by the processor.

All processes, including this one, take the next few jobs from a shared counter until none is left. What a process has
kept of a job is used when the job comes again: it is then given to the same process. If a process cannot start, is
killed or hits a bug, this process does its jobs afterwards, so that the outcome is the same as with one process.
"""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from catalog.masks import Masks
from engine.child_processes import process_context
from engine.job.model.settings import Settings
from engine.supervised import beat, end_with, lifeline
from engine.terminal.quiet_libraries import quiet_libraries
from engine.terminal.rare_collections import modules_kept, rare_collections

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from multiprocessing.sharedctypes import Synchronized

_Outcome = TypeVar("_Outcome")

JOBS_PER_PROCESS: Final = 20
"""Working on fewer jobs is faster than starting another process."""
JOBS_AT_A_TIME: Final = 5

Kept: TypeAlias = dict[Path, Any]
"""What a process has kept of jobs, for when they come again."""
Item: TypeAlias = tuple[Path, Any]
"""A job, and what its work needs besides the settings."""
Work: TypeAlias = Callable[[Path, Any, Settings, Kept], _Outcome]
"""A function of a module, or a `partial` of one: it must be picklable."""
_Turn: TypeAlias = tuple[Work[Any], Sequence[tuple[int, Item]], Sequence[tuple[int, Item]]]
"""What is to be done, with the numbered jobs of one process, and with those that any process may take."""


@dataclass(eq=False, slots=True)
class _Other:
    """Another process, and the pipe to it; `is_gone`: it does not answer."""

    process: "BaseProcess"
    pipe: "Connection"
    is_gone: bool = False


@dataclass(eq=False, slots=True)
class JobWorkers:
    """The processes of one command; `processes`: None for as many as the jobs and the machine call for."""

    settings: Settings
    processes: int | None = None
    kept: Kept = field(default_factory=dict)
    _others: "list[_Other]" = field(default_factory=list)
    _counter: "Synchronized[int] | None" = None
    _owners: dict[Path, _Other] = field(default_factory=dict)
    _lifeline: tuple[int, int] | None = None

    def __enter__(self) -> "JobWorkers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for other in self._others:
            other.pipe.close()
            other.process.terminate()
            other.process.join()
        for descriptor in self._lifeline or ():
            os.close(descriptor)
        self._lifeline = None

    def each(self, work: Work[_Outcome], items: Sequence[Item]) -> tuple[_Outcome, ...]:
        """What `work` returns for each job, in the order of `items`. Raises what it raises, for the first such job."""
        known: dict[int, _Outcome] = {}
        with suppress(OSError):  # no process, no semaphore: what is missing is done below
            self._start(len(items))
            known = self._in_processes(work, items)
        return tuple(
            known[index] if index in known else _done(work, item, self.settings, self.kept)
            for index, item in enumerate(items)
        )

    def _start(self, jobs: int) -> None:
        wanted = min(_cores(), jobs // JOBS_PER_PROCESS) if self.processes is None else min(self.processes, jobs)
        if wanted <= len(self._others) + 1:
            return
        context = process_context()
        self._counter = self._counter or context.Value("i", 0)
        if context.get_start_method() == "fork":
            self._lifeline = self._lifeline or lifeline()
        while len(self._others) + 1 < wanted:
            ours, theirs = context.Pipe()
            given = (theirs, self._counter, self.settings, self.kept)
            process = context.Process(target=_work, args=given, kwargs={"life": self._lifeline}, daemon=True)
            process.start()
            self._others.append(_Other(process, ours))
            theirs.close()  # so that the end of the process is the end of the pipe

    def _in_processes(self, work: Work[_Outcome], items: Sequence[Item]) -> dict[int, _Outcome]:
        """The outcomes by the index of the job, of all processes that answer."""
        if self._counter is None:
            return {}
        own: dict[_Other | None, list[tuple[int, Item]]] = {}
        free: list[tuple[int, Item]] = []
        for index, item in enumerate(items):
            owner = self._owners.get(item[0])
            if owner is not None or item[0] in self.kept:
                own.setdefault(owner, []).append((index, item))
            else:
                free.append((index, item))
        self._counter.value = 0
        asked = [other for other in self._others if other in own or len(free) > JOBS_AT_A_TIME]
        asked = [other for other in asked if _sent(other, (work, own.get(other, ()), free))]
        known = _turn((work, own.get(None, ()), free), self._counter, self.settings, self.kept)
        for other in asked:
            outcomes = self._answer_of(other)
            self._owners.update((items[index][0], other) for index in outcomes)
            known |= outcomes
        return known

    def _answer_of(self, other: _Other) -> dict[int, Any]:
        try:
            outcomes, masks = other.pipe.recv()
        except (EOFError, OSError):
            other.is_gone = True
            return {}
        self.settings.masks.merge(masks)
        found: dict[int, Any] = outcomes
        return found


def _sent(other: _Other, turn: _Turn) -> bool:
    if not other.is_gone:
        try:
            other.pipe.send(turn)
        except OSError:
            other.is_gone = True
    return not other.is_gone


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # Linux: those that this process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _work(
    pipe: "Connection", counter: "Synchronized[int]", settings: Settings, kept: Kept, *, life: tuple[int, int] | None
) -> None:
    if life:
        end_with(*life)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the first process ends the others
    with modules_kept(), rare_collections(), quiet_libraries(), suppress(EOFError):  # this process is ours
        while True:
            outcomes = _turn(pipe.recv(), counter, settings, kept)
            answer: tuple[dict[int, object], Masks] = (outcomes, settings.masks)
            pipe.send(answer)


def _turn(turn: _Turn, counter: "Synchronized[int]", settings: Settings, kept: Kept) -> dict[int, Any]:
    """The outcomes of a process's own jobs, and of the next few of the others until none is left; jobs that raise an
    exception are left out."""
    work, own, free = turn
    known: dict[int, Any] = {}
    taken = own
    while taken or free:
        for index, item in taken:
            with suppress(Exception):  # raised again when the first process does the job itself
                known[index] = _done(work, item, settings, kept)
        with counter.get_lock():
            start = counter.value
            counter.value += JOBS_AT_A_TIME
        if start >= len(free):
            break
        taken = free[start : start + JOBS_AT_A_TIME]
    return known


def _done(work: Work[_Outcome], item: Item, settings: Settings, kept: Kept) -> _Outcome:
    outcome = work(*item, settings, kept)
    beat()
    return outcome
