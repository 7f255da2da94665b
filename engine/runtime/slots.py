"""A bounded pool of slots for which pipelines queue: first come, first served, with aging.

A request that does not fit may be overtaken by a smaller one that does, until it has waited `aging_seconds`. Next to
slots, a pipeline may need connections to systems that limit them; it gets all that it needs at once.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error

_SLOTS: Final = ""

_Needs = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Need:
    """What a pipeline holds while it runs: slots, and connections by the names of their systems."""

    slots: int = 1
    connections: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class _Request:
    number: int
    name: str
    needs: Mapping[str, int]
    since: float


class Slots:
    """A pool of `size` slots, and of `connections` to systems by their names, used by one thread.

    Times are seconds of one clock (`monotonic`). Requests with equal needs wait in a queue of their own: where its
    first does not fit, none of it does, so that many requests are as quickly looked through as few.
    """

    def __init__(self, size: int, aging_seconds: float = 60.0, *, connections: Mapping[str, int] | None = None) -> None:
        self.size = max(1, size)
        self.aging_seconds = aging_seconds
        self._sizes = {_SLOTS: self.size, **(connections or {})}
        self._free = dict(self._sizes)
        self._held: dict[str, Mapping[str, int]] = {}
        self._queues: dict[_Needs, deque[_Request]] = {}
        self._requested = 0

    def request(self, name: str, need: Need, since: float) -> None:
        """Queue for what is needed, at most all that there is. `since`: when the wait began."""
        wanted = {_SLOTS: need.slots, **need.connections}
        needs = {of: min(count, self._sizes[of]) for of, count in wanted.items()}
        self._requested += 1
        request = _Request(self._requested, name, needs, since)
        self._queues.setdefault(frozenset(needs.items()), deque()).append(request)

    def grant(self, now: float) -> Iterator[str]:
        """The names of the requests that may start, in order; each holds what it needs from here on.

        A request overtakes none that fits, and none that has aged and lacks something that both need.
        """
        heads = [(queue[0].number, needs) for needs, queue in self._queues.items()]
        heapify(heads)
        awaited: set[str] = set()
        while heads:
            _, needs = heappop(heads)
            request = self._queues[needs][0]
            lacking = self._lacking(request)
            if lacking and now - request.since > self.aging_seconds:
                awaited.update(lacking)
            if lacking or not awaited.isdisjoint(request.needs):
                continue
            self._pop(needs)
            self._hold(request)
            if needs in self._queues:
                heappush(heads, (self._queues[needs][0].number, needs))
            yield request.name

    def timed_out(self, timeout: float, now: float) -> Iterator[tuple[str, RunError]]:
        """The requests that have waited `timeout` seconds, in order, each with its error (PEN5050); they wait no
        more."""
        late = [request for needs in tuple(self._queues) for request in self._pop_until(needs, now - timeout)]
        for request in sorted(late, key=lambda request: request.number):
            yield request.name, self._timeout(request, now - request.since)

    def release(self, name: str) -> None:
        """Free what a request holds."""
        for of, count in self._held.pop(name).items():
            self._free[of] += count

    def _pop_until(self, needs: _Needs, since: float) -> Iterator[_Request]:
        """Take the requests that have waited since then, or longer, out of their queue."""
        while needs in self._queues and self._queues[needs][0].since <= since:
            yield self._pop(needs)

    def _pop(self, needs: _Needs) -> _Request:
        queue = self._queues[needs]
        request = queue.popleft()
        if not queue:
            del self._queues[needs]
        return request

    def _hold(self, request: _Request) -> None:
        self._held[request.name] = request.needs
        for of, count in request.needs.items():
            self._free[of] -= count

    def _lacking(self, request: _Request) -> list[str]:
        """What is not free in the number that the request needs."""
        return [of for of, count in request.needs.items() if count > self._free[of]]

    def _timeout(self, request: _Request, waited: float) -> RunError:
        of = next(iter(self._lacking(request)), _SLOTS)
        what = f"connections to `{of}`" if of else "slots"
        message = f"pipeline `{request.name}` waited {waited:.0f} s for {request.needs[of]} of {self._sizes[of]} {what}"
        held = ", ".join(f"`{name}` ({needs[of]})" for name, needs in self._held.items() if of in needs)
        help = f"raise `slot_timeout_seconds` or `{'max_connections' if of else 'max_concurrent_pipelines'}`"
        return run_error("PEN5050", message, None, help, (f"they are held by {held}",) if held else ())
