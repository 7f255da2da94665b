"""Identifies the writing process: a mark by which other processes see whether it has ended.

A mark says so only to processes of the same machine and process namespace. Elsewhere the lease of a claim decides
(`connectors.commits.claiming`).
"""

import os
import socket
import time
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from catalog.options import Value

_DYING_SECONDS: Final = 20.0


class Presence(str, Enum):
    """What a mark says of its process. `UNKNOWN`: it is another machine's or namespace's, or is stopped."""

    RUNNING = "running"
    GONE = "gone"
    UNKNOWN = "unknown"


def this_process() -> dict[str, Value]:
    """The mark of the running process."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "boot": _boot(), "namespace": _namespace(), "pid": pid, "start": _start(pid)}


def with_jvm(owner: Mapping[str, Value], pid: int) -> dict[str, Value]:
    """The mark with the Java process, which may run a moment longer than Python."""
    return {**owner, "jvm_pid": pid, "jvm_start": _start(pid)}


def presence(owner: Mapping[str, Value]) -> Presence:
    """Whether the process, or its Java process, may still write."""
    if not _is_here(owner):
        return Presence.UNKNOWN
    if _is_running(owner.get("pid"), owner.get("start")):
        return Presence.UNKNOWN if _state(owner.get("pid")) in _STOPPED else Presence.RUNNING
    return Presence.RUNNING if _is_running(owner.get("jvm_pid"), owner.get("jvm_start")) else Presence.GONE


def is_alive(owner: Mapping[str, Value]) -> bool:
    """Whether the process, or its Java process, may still write; True if that cannot be seen from here."""
    return presence(owner) is not Presence.GONE


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


_STOPPED: Final = ("T", "t")
"""States of a process that runs no code: by SIGSTOP, or by a debugger."""


def _is_here(owner: Mapping[str, Value]) -> bool:
    """Whether the process has, or had, its number on this machine and in this namespace."""
    if owner.get("boot") is None or _boot() is None:
        return owner.get("host") == socket.gethostname() and owner.get("boot") == _boot()
    return owner.get("boot") == _boot() and owner.get("namespace", _namespace()) == _namespace()


def _is_running(pid: Value, start: Value) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _state(pid) not in ("Z", "X") and (start is None or _start(pid) in (start, None))


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/<pid>/stat after the command's name; None if there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _state(pid: Value) -> str | None:
    stat = _stat(pid) if isinstance(pid, int) else None
    return stat[0] if stat else None


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


def _namespace() -> str | None:
    """The namespace of process numbers: each container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None
