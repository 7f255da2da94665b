"""Checks many jobs, on several cores if it pays off: validation is bound by the processor.

All processes, including this one, take the next few jobs from a shared counter until none is left. If a process cannot
start, is killed or hits a bug, this process checks its jobs afterwards, so that the outcome is the same as with one
process.
"""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError
from catalog.diagnostics.unexpected_errors import unexpected_error
from catalog.masks import Masks
from engine.child_processes import process_context
from engine.compile import compile_job, typed_columns
from engine.job.model.settings import Settings
from engine.supervised import beat
from engine.terminal.quiet_libraries import quiet_libraries
from engine.terminal.rare_collections import modules_kept, rare_collections

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from multiprocessing.sharedctypes import Synchronized

_Outcome = TypeVar("_Outcome")

JOBS_PER_PROCESS: Final = 20
"""Checking fewer jobs is faster than starting another process."""
JOBS_AT_A_TIME: Final = 5


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """What was found in one job; of its columns, how many have a proved type and how many there are."""

    diagnostics: tuple[Diagnostic, ...]
    typed: int = 0
    columns: int = 0


def check_jobs(paths: Sequence[Path], settings: Settings, processes: int | None = None) -> tuple[CheckedJob, ...]:
    """The outcomes in the order of `paths`; `processes`: None for as many as the jobs and the machine call for."""
    return each_job(paths, settings, _check, processes)


def each_job(
    paths: Sequence[Path],
    settings: Settings,
    work: Callable[[Path, Settings], _Outcome],
    processes: int | None = None,
) -> tuple[_Outcome, ...]:
    """What `work`, a function of a module, returns for each job, in the order of `paths`; it must be picklable."""
    wanted = min(_cores(), len(paths) // JOBS_PER_PROCESS) if processes is None else processes
    known = _in_processes(paths, settings, work, wanted) if wanted > 1 else {}
    return tuple(known[index] if index in known else _done(work, path, settings) for index, path in enumerate(paths))


def _done(work: Callable[[Path, Settings], _Outcome], path: Path, settings: Settings) -> _Outcome:
    outcome = work(path, settings)
    beat()
    return outcome


def _check(path: Path, settings: Settings) -> CheckedJob:
    diagnostics = Diagnostics()
    try:
        compiled = compile_job(path, settings, diagnostics)
        typed, columns = typed_columns(compiled.built) if compiled else (0, 0)
    except PenstockError as error:  # of this job: the others are reported all the same
        return CheckedJob((*diagnostics, *error.diagnostics))
    except Exception as error:  # noqa: BLE001 (a bug in Penstock, met in this job)
        return CheckedJob((*diagnostics, unexpected_error(error, where=path.as_posix())))
    return CheckedJob(tuple(diagnostics), typed, columns)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # Linux: those that this process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_processes(
    paths: Sequence[Path], settings: Settings, work: Callable[[Path, Settings], _Outcome], wanted: int
) -> dict[int, _Outcome]:
    """The outcomes of `wanted` processes, by job index."""
    started: list[tuple[BaseProcess, Connection]] = []
    known: dict[int, _Outcome] = {}
    try:
        context = process_context()
        counter: Synchronized[int] = context.Value("i", 0)
        for _ in range(wanted - 1):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(theirs, counter, paths, settings, work), daemon=True)
            process.start()
            started.append((process, ours))
            theirs.close()  # so that the end of the process is the end of the pipe
        known |= _take(counter, paths, settings, work)
        for _, pipe in started:
            with suppress(EOFError):
                outcomes, masks = pipe.recv()
                known |= outcomes
                settings.masks.merge(masks)
    except OSError:  # no semaphore: the caller checks what is missing
        pass
    finally:
        for child, pipe in started:
            pipe.close()
            child.terminate()
            child.join()
    return known


def _work(
    pipe: "Connection",
    counter: "Synchronized[int]",
    paths: Sequence[Path],
    settings: Settings,
    work: Callable[[Path, Settings], object],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the first process ends the others
    with modules_kept(), rare_collections(), quiet_libraries():  # this process is ours
        outcomes = _take(counter, paths, settings, work)
    answer: tuple[dict[int, object], Masks] = (outcomes, settings.masks)
    pipe.send(answer)
    pipe.close()


def _take(
    counter: "Synchronized[int]",
    paths: Sequence[Path],
    settings: Settings,
    work: Callable[[Path, Settings], _Outcome],
) -> dict[int, _Outcome]:
    """Check the next few jobs until none is left; jobs that raise an exception are left out."""
    known: dict[int, _Outcome] = {}
    while True:
        with counter.get_lock():
            start = counter.value
            counter.value += JOBS_AT_A_TIME
        if start >= len(paths):
            return known
        for index, path in enumerate(paths[start : start + JOBS_AT_A_TIME], start):
            with suppress(Exception):  # raised again when the caller checks the job itself
                known[index] = _done(work, path, settings)
