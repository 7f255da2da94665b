"""Server processes of tests: started on a free port in a folder of their own, stopped with the tests, also when those
are killed."""

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(command: Sequence[str], log: Path, user: str | None = None) -> subprocess.Popen[bytes]:
    """A child process that the kernel stops when the tests end, however they end."""
    with open(log, "ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            preexec_fn=_stop_with_parent if os.uname().sysname == "Linux" else None,  # noqa: PLW1509 (no threads yet)
        )


def wait_until(is_ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not is_ready():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


def stop(process: subprocess.Popen[bytes], by: signal.Signals = signal.SIGKILL) -> None:
    """At once: its data is thrown away. `by`: what a server with processes of its own ends them at."""
    process.send_signal(by)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _stop_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
