"""Reads a job within its limits: of the processor's time, of memory, of what it may read.

Time and memory are measured in the main thread of a process that was started for it (`limits_process`): elsewhere, in a
language server or a service, the limits of text, values and nesting hold alone.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from catalog.limits import LimitError, limit_behind, limits
from catalog.reach import Reach, within
from engine.job.root import root_of
from engine.supervised import beat

try:
    import resource
except ImportError:  # Windows: no signal and no limit of memory
    resource = None  # type: ignore[assignment]

_IS_MEASURED: Final[ContextVar[bool]] = ContextVar("is_measured", default=False)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The folders that belong to the jobs of a folder: its roots, and where else its data may be."""

    folder: Path
    roots: tuple[str, ...]
    around: tuple[str, ...]


_KNOWN: Final[ContextVar[Surroundings | None]] = ContextVar("known", default=None)
_AGAIN: Final = 0.2
"""Seconds after which the limit is raised again, where the first time was in code that takes all exceptions."""
_LOOK: Final = 0.2
"""Seconds of processor time between two looks at a job that is read to be run."""
_FEWEST_DIGITS: Final = 640
"""What Python takes for the least limit."""
_MORE_MEGABYTES: Final = 600
"""What a job may need where the process has more than the limit already."""


@contextmanager
def bounded(path: Path, *, allows_outside: bool, is_run: bool, limits_process: bool) -> Iterator[None]:
    """Raises `LimitError` where the block takes more than its limits.

    `is_run`: data may be anywhere, and other threads may start Spark meanwhile: they are not measured.
    """
    path = Path(path)  # callers from Python may give text
    known = _KNOWN.get()
    roots = None if allows_outside else project_roots(path)
    is_measured = resource is not None and limits_process and threading.current_thread() is threading.main_thread()
    if known and known.folder == path.parent:
        around = known.around
    else:
        around = () if is_run or roots is None else (*_checkout(path), *_called_from())
    data_roots = None if is_run or roots is None else (*roots, *around)
    if not _IS_MEASURED.get():
        beat()
    with within(Reach(roots, data_roots)):
        try:
            if is_measured:
                with _watched() if is_run else _measured():
                    yield
            else:
                yield
        except (RecursionError, MemoryError, ValueError) as error:
            if limit := limit_behind(error):
                raise LimitError(limit) from None
            raise


@contextmanager
def of_folder(job: Path, known: Surroundings | None = None) -> Iterator[Surroundings]:
    """Looks once for the project of a job's folder, for all steps of compiling the job. `known`: what was found for
    earlier ones."""
    path = Path(job)
    found = known or Surroundings(path.parent, project_roots(path), (*_checkout(path), *_called_from()))
    token = _KNOWN.set(found)
    try:
        yield found
    finally:
        _KNOWN.reset(token)


def project_roots(job: Path) -> tuple[str, ...]:
    """The folders within which a job's own files are: its root, and its folder where `$PENSTOCK_ROOT` is another."""
    known = _KNOWN.get()
    if known and known.folder == job.parent:
        return known.roots
    return tuple(dict.fromkeys(map(os.path.realpath, (root_of(job), job.parent))))


def _checkout(path: Path) -> tuple[str, ...]:
    """The checkout of git that a job is in: its data may be next to its jobs, and all of it is the job's author's."""
    folder = Path(os.path.realpath(path.parent))
    return next(((str(above),) for above in (folder, *folder.parents) if (above / ".git").exists()), ())


def _called_from() -> tuple[str, ...]:
    """The current folder, from which relative paths start; never somebody's whole home, nor what is above it."""
    here, home = os.path.realpath(os.curdir), os.path.realpath(os.path.expanduser("~"))
    return () if os.path.commonpath([here, home]) == here else (here,)


@contextmanager
def _measured() -> Iterator[None]:
    if _IS_MEASURED.get():  # within a block that is: its limits hold
        yield
        return

    def stop(_number: int, _frame: Any) -> None:
        raise LimitError("seconds")

    handler = signal.signal(signal.SIGPROF, stop)
    memory = resource.getrlimit(resource.RLIMIT_DATA)
    digits = sys.get_int_max_str_digits()
    token = _IS_MEASURED.set(True)
    try:
        sys.set_int_max_str_digits(max(_FEWEST_DIGITS, int(limits().digits)))
        with _limited_memory(memory):
            signal.setitimer(signal.ITIMER_PROF, limits().seconds, _AGAIN)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.set_int_max_str_digits(digits)
        signal.signal(signal.SIGPROF, handler)
        _IS_MEASURED.reset(token)


@contextmanager
def _watched() -> Iterator[None]:
    """The limits of time and memory, looked at from time to time; processes that are started inherit none."""
    if _IS_MEASURED.get():
        yield
        return
    started, most = time.thread_time(), max(limits().megabytes, _megabytes("VmRSS:") + _MORE_MEGABYTES)

    def look(_number: int, _frame: Any) -> None:
        if time.thread_time() - started > limits().seconds:
            raise LimitError("seconds")
        if _megabytes("VmRSS:") > most:
            raise LimitError("megabytes")

    handler = signal.signal(signal.SIGPROF, look)
    token = _IS_MEASURED.set(True)
    try:
        signal.setitimer(signal.ITIMER_PROF, _LOOK, _LOOK)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        _IS_MEASURED.reset(token)


@contextmanager
def _limited_memory(before: tuple[int, int]) -> Iterator[None]:
    now = _megabytes("VmData:")
    most = int(max(limits().megabytes, now + _MORE_MEGABYTES)) * 1024 * 1024
    if now == 0 or (before[1] != resource.RLIM_INFINITY and most > before[1]):
        yield  # not on this system
        return
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _megabytes(field: str) -> int:
    """What the process has: `VmData:`, of the memory that is limited, or `VmRSS:`, in use; 0 where the system does not
    say."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith(field)), 0)
