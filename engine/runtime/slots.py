"""A bounded pool of slots for which pipelines queue: first come, first served, with aging.

A request that does not fit may be overtaken by a smaller one that does, until it has waited `aging_seconds`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

from catalog.diagnostics import run_error

_LOOK_AGAIN: Final = 0.2


@dataclass(eq=False)
class _Request:
    name: str
    weight: int
    since: float


class Slots:
    """A pool of `size` slots, shared by threads."""

    def __init__(self, size: int, aging_seconds: float = 60.0) -> None:
        self.size = max(1, size)
        self.aging_seconds = aging_seconds
        self._changed = threading.Condition()
        self._queue: list[_Request] = []
        self._held: dict[str, int] = {}

    @contextmanager
    def held(
        self, name: str, weight: int, *, since: float, timeout: float | None, is_stopped: Callable[[], bool]
    ) -> Iterator[bool]:
        """Hold `weight` slots (at most all) for the block; False where `is_stopped` came before them.

        `since` is when the wait began (`monotonic`). Raises PEN5050 once it has lasted `timeout` seconds.
        """
        request = _Request(name, min(weight, self.size), since)
        granted = self._acquire(request, timeout, is_stopped)
        try:
            yield granted
        finally:
            with self._changed:
                self._held.pop(name, None)
                self._changed.notify_all()

    def _acquire(self, request: _Request, timeout: float | None, is_stopped: Callable[[], bool]) -> bool:
        with self._changed:
            self._queue.append(request)
            try:
                while not is_stopped():
                    waited = monotonic() - request.since
                    if timeout is not None and waited >= timeout:
                        raise self._timeout(request, waited)
                    if self._may_start(request):
                        self._held[request.name] = request.weight
                        return True
                    self._changed.wait(_LOOK_AGAIN)
                return False
            finally:
                self._queue.remove(request)
                self._changed.notify_all()

    def _may_start(self, request: _Request) -> bool:
        """Whether it fits, and overtakes neither a request that fits too nor one that has waited long."""
        free = self.size - sum(self._held.values())
        earlier = self._queue[: self._queue.index(request)]
        is_overtaking = any(other.weight <= free or monotonic() - other.since > self.aging_seconds for other in earlier)
        return request.weight <= free and not is_overtaking

    def _timeout(self, request: _Request, waited: float) -> Exception:
        message = f"pipeline `{request.name}` waited {waited:.0f} s for {request.weight} of {self.size} slots"
        held = ", ".join(f"`{name}` ({weight})" for name, weight in self._held.items())
        help = "raise `slot_timeout_seconds` or `max_concurrent_pipelines`"
        return run_error("PEN5050", message, None, help, (f"they are held by {held}",) if held else ())
