"""Runs a command in a process of its own, and ends it where one job takes more than its time.

Code that Python's signals do not reach, such as a compiled parser, cannot outlast the limit. Only the standard library
is imported here: nothing else is loaded when the process divides.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

_GRACE: Final = 0.6
"""Seconds after the limit, in which the command itself says where it was exceeded."""
_WAIT_FACTOR: Final = 10
"""How many times its limit of processor time a job may wait, on a machine that other processes keep busy."""
_BEAT: list[int] = []
"""The descriptor to which the process writes when it has done a job."""
_RELEASED: Final = b"r"
_ENDED: Final = 128 + signal.SIGKILL


def supervised(run: Callable[[], int], seconds: float, report: Callable[[], int]) -> int:
    """The exit code of `run`, or of `report` where a job took longer than that."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return run()
    ours, theirs = os.pipe()
    held, watched = lifeline()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(ours)
        end_with(held, watched)
        os.set_blocking(theirs, False)
        _BEAT[:] = [theirs]
        return run()
    os.close(theirs)
    os.close(watched)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command answers it
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    try:
        is_late = _watch(child, ours, seconds + _GRACE)
        _, status = os.waitpid(child, 0)
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(ours)
        os.close(held)
    code = os.waitstatus_to_exitcode(status)
    if is_late or code == -signal.SIGKILL:
        os._exit(_flushed(report()))
    os._exit(code if code >= 0 else 128 - code)


def lifeline() -> tuple[int, int]:
    """A pipe that a process holds, and the end of it that its children watch."""
    watched, held = os.pipe()
    return held, watched


def end_with(held: int, watched: int) -> None:
    """End this process, which has just been divided off, when the one that holds the pipe has ended, were it by
    SIGKILL: also while it waits for a pipe that nobody opens. Closes its copy of `held`."""
    import fcntl

    os.close(held)
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(watched, fcntl.F_SETSIG, signal.SIGKILL)
    else:
        signal.signal(signal.SIGIO, lambda *_: os._exit(_ENDED))
    fcntl.fcntl(watched, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(watched, fcntl.F_SETFL, fcntl.fcntl(watched, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_ASYNC)
    with contextlib.suppress(BlockingIOError):
        os.read(watched, 1)
        os._exit(_ENDED)  # it had ended before


def beat() -> None:
    """Say that a job is done: the next one has its whole time."""
    for descriptor in _BEAT:
        with contextlib.suppress(OSError):
            os.write(descriptor, b".")


def release() -> None:
    """Say that from now on the command reads no text of somebody else: it may take its time to start Spark."""
    for descriptor in _BEAT:
        with contextlib.suppress(OSError):
            os.write(descriptor, _RELEASED)


def _watch(child: int, beats: int, seconds: float) -> bool:
    """Wait for the end of the process; whether it was ended because a job took too long."""
    while True:
        started, used = time.monotonic(), _processor_seconds(child)
        while True:
            ready, _, _ = select.select([beats], [], [], 0.1)
            if ready:
                said = os.read(beats, 4096)
                if not said or _RELEASED in said:
                    return False
                break
            waited = time.monotonic() - started
            if waited > seconds and (_processor_seconds(child) - used > seconds or waited > _WAIT_FACTOR * seconds):
                for process in (child, *_children(child)):
                    with contextlib.suppress(OSError):
                        os.kill(process, signal.SIGKILL)
                return True


def _processor_seconds(process: int) -> float:
    """What the process has used of the processor; without /proc, the time of the clock."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children(process: int) -> list[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _flushed(code: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    return code
