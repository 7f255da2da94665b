"""Identifies the writing process: a mark by which other runs see whether that process is still running."""

import os
import socket
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from catalog.options import Value

_DYING_SECONDS: Final = 20.0


def this_process() -> dict[str, Value]:
    """The mark of the running process."""
    return {"host": socket.gethostname(), "boot": _boot(), "pid": os.getpid(), "start": _start(os.getpid())}


def with_jvm(owner: Mapping[str, Value], pid: int) -> dict[str, Value]:
    """The mark with the Java process, which may run a moment longer than Python."""
    return {**owner, "jvm_pid": pid, "jvm_start": _start(pid)}


def is_alive(owner: Mapping[str, Value]) -> bool:
    """Whether the process, or its Java process, may still write; True if it is on another machine."""
    if owner.get("host") != socket.gethostname():
        return True
    if owner.get("boot") != _boot():
        return False
    return _runs(owner.get("pid"), owner.get("start")) or _runs(owner.get("jvm_pid"), owner.get("jvm_start"))


def has_died(owner: Mapping[str, Value]) -> bool:
    """Whether the process has ended. Waits a moment for its Java process, which ends only after its last task."""
    until = time.monotonic() + _DYING_SECONDS
    while is_alive(owner):
        if is_alive({**owner, "jvm_pid": None}) or time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def is_this_process(owner: Mapping[str, Value]) -> bool:
    return all(owner.get(key) == value for key, value in this_process().items())


def describe(owner: Mapping[str, Value]) -> str:
    return f"process {owner.get('pid')} on {owner.get('host')}"


def _runs(pid: Value, start: Value) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not _is_zombie(pid) and (start is None or _start(pid) in (start, None))


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/<pid>/stat after the command's name; None if there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _is_zombie(pid: int) -> bool:
    stat = _stat(pid)
    return stat is not None and stat[0] in ("Z", "X")


def _start(pid: int) -> int | None:
    """Clock ticks from boot to the process's start, which tell processes with the same number apart."""
    stat = _stat(pid)
    return int(stat[19]) if stat else None


@cache
def _boot() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
