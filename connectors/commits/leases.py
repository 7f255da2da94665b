"""Leases: the holder of a claim renews a file while it works; a file that stays as it is shows that the holder is gone.

    <claim>.alive   a number that its holder counts up

An observer watches the file for the length of the lease. It compares no clocks, and no time that a store reports.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from connectors.storage.filesystem import Files

SECONDS_VARIABLE: Final = "PENSTOCK_LEASE_SECONDS"
DEFAULT_SECONDS: Final = 30.0
_RENEWALS: Final = 6
"""How often a lease is renewed in its length."""


def lease_seconds() -> float:
    """The length of this process's leases: `PENSTOCK_LEASE_SECONDS`, else 30 s. Raises PEN2004 for another value."""
    text = os.environ.get(SECONDS_VARIABLE, "")
    with suppress(ValueError):
        if not text or float(text) > 0:
            return float(text or DEFAULT_SECONDS)
    help = f"{SECONDS_VARIABLE}={DEFAULT_SECONDS:.0f}"
    raise run_error("PEN2004", f"{SECONDS_VARIABLE} is `{text}`, not a number of seconds", None, help)


def is_renewed(
    files: Files,
    path: str,
    seconds: float,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Watch a lease until it is renewed, or its length has passed."""
    before, until = _content(files, path), monotonic() + seconds
    while monotonic() < until:
        sleep(min(1.0, seconds / (2 * _RENEWALS)))
        if _content(files, path) != before:
            return True
    return False


class Renewals:
    """Renews leases in a thread, until they are dropped. An error of the store is not raised: the lease may expire."""

    def __init__(self, seconds: float) -> None:
        self._every = seconds / _RENEWALS
        self._leases: dict[str, Files] = {}
        self._lock = Lock()
        self._stopped = Event()
        self._thread: Thread | None = None

    def add(self, files: Files, path: str) -> None:
        with self._lock:
            self._leases[path] = files
            if self._thread is None:
                self._thread = Thread(target=self._renew, name="penstock leases", daemon=True)
                self._thread.start()

    def drop(self, path: str) -> None:
        """Stop renewing it. A renewal that has begun is waited for, so that the file can be deleted."""
        with self._lock:
            self._leases.pop(path, None)

    def stop(self) -> None:
        """End the thread; a renewal that has begun is waited for."""
        self._stopped.set()
        with self._lock:
            self._leases.clear()

    def _renew(self) -> None:
        number = 0
        while not self._stopped.wait(self._every):
            number += 1
            with self._lock:
                for path, files in self._leases.items():
                    with suppress(Exception):  # the next renewal tries again; without one, the lease expires
                        if files.exists(f"{path.removesuffix('.alive')}.json"):  # else it was taken over
                            files.write(path, str(number))


def _content(files: Files, path: str) -> str | None:
    try:
        return files.read(path) if files.exists(path) else None
    except OSError:
        return None
