"""A bounded pool of slots for which pipelines queue: first come, first served, with aging.

A request that does not fit may be overtaken by a smaller one that does, until it has waited `aging_seconds`. Beside
slots, a pipeline may need connections to systems that limit them; it gets all that it needs at once.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from catalog.diagnostics import run_error

_LOOK_AGAIN: Final = 0.2
_SLOTS: Final = ""


@dataclass(frozen=True, slots=True)
class Need:
    """What a pipeline holds while it runs: slots, and connections by the names of their systems."""

    slots: int = 1
    connections: Mapping[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class _Request:
    name: str
    needs: Mapping[str, int]
    since: float


class Slots:
    """A pool of `size` slots, and of `connections` to systems by their names, shared by threads."""

    def __init__(self, size: int, aging_seconds: float = 60.0, *, connections: Mapping[str, int] | None = None) -> None:
        self.size = max(1, size)
        self._sizes = {_SLOTS: self.size, **(connections or {})}
        self.aging_seconds = aging_seconds
        self._changed = threading.Condition()
        self._queue: list[_Request] = []
        self._held: dict[str, Mapping[str, int]] = {}

    @contextmanager
    def held(
        self, name: str, need: Need, *, since: float, timeout: float | None, is_stopped: Callable[[], bool]
    ) -> Iterator[bool]:
        """Hold what is needed (at most all that there is) for the block; False where `is_stopped` came before it.

        `since` is when the wait began (`monotonic`). Raises PEN5050 once it has lasted `timeout` seconds.
        """
        wanted = {_SLOTS: need.slots, **need.connections}
        request = _Request(name, {of: min(count, self._sizes[of]) for of, count in wanted.items()}, since)
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
                        self._held[request.name] = request.needs
                        return True
                    self._changed.wait(_LOOK_AGAIN)
                return False
            finally:
                self._queue.remove(request)
                self._changed.notify_all()

    def _may_start(self, request: _Request) -> bool:
        """Whether it fits, and overtakes neither a request that fits too nor one that has waited long for the same."""
        earlier = self._queue[: self._queue.index(request)]
        return not self._lacking(request) and not any(self._is_next(other, request) for other in earlier)

    def _is_next(self, other: _Request, request: _Request) -> bool:
        lacking = self._lacking(other)
        has_aged = monotonic() - other.since > self.aging_seconds
        return not lacking or (has_aged and any(of in request.needs for of in lacking))

    def _lacking(self, request: _Request) -> list[str]:
        """What is not free in the number that the request needs."""
        return [of for of, count in request.needs.items() if count > self._sizes[of] - self._taken(of)]

    def _taken(self, of: str) -> int:
        return sum(needs.get(of, 0) for needs in self._held.values())

    def _timeout(self, request: _Request, waited: float) -> Exception:
        of = next(iter(self._lacking(request)), _SLOTS)
        what = f"connections to `{of}`" if of else "slots"
        message = f"pipeline `{request.name}` waited {waited:.0f} s for {request.needs[of]} of {self._sizes[of]} {what}"
        held = ", ".join(f"`{name}` ({needs[of]})" for name, needs in self._held.items() if of in needs)
        help = f"raise `slot_timeout_seconds` or `{'max_connections' if of else 'max_concurrent_pipelines'}`"
        return run_error("PEN5050", message, None, help, (f"they are held by {held}",) if held else ())
