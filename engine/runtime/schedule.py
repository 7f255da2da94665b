"""Run a job's pipelines side by side: a limited number at once, with retries after transient errors."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic
from typing import Final, Generic, TypeVar

from engine.runtime.slots import Need, Slots
from engine.runtime.transient import is_transient
from engine.state.run_state import State, follow

T = TypeVar("T")

Observer = Callable[[str, State, str | None], None]
"""Called at each change of state of a pipeline, in the thread in which it happens."""


_STOPPED: Final = "the job was stopped"
_LOOK_AGAIN: Final = 0.2


class FailurePolicy(str, Enum):
    """What happens to the other pipelines of a job if one fails."""

    STOP = "stop"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a pipeline is retried after transient errors, and the seconds to wait before."""

    times: int = 3
    interval_seconds: float = 3.0


@dataclass(frozen=True, eq=False, slots=True)
class PipelineOutcome(Generic[T]):
    """How a pipeline ended. `value` is what its work returned, where it finished."""

    name: str
    state: State
    attempts: int
    seconds: float
    value: T | None = None
    error: BaseException | None = None


@dataclass(eq=False)
class Schedule(Generic[T]):
    """Pipelines by name, the work of each, and what cancels the Spark jobs of those that run.

    `work` is called in a worker thread with the pipeline's name; `cancel` with a name, from any thread, possibly often.
    `can_retry`: whether another attempt has what it needs. `look` is called again and again; what it raises ends all.
    """

    names: Sequence[str]
    work: Callable[[str], T]
    cancel: Callable[[str], None]
    parallelism: int = 2
    retry: Retry = Retry()
    policy: FailurePolicy = FailurePolicy.STOP
    observe: Observer = lambda name, state, cause: None
    slots: Slots | None = None
    needs: Mapping[str, Need] = field(default_factory=dict)
    slot_timeout: float | None = None
    can_retry: Callable[[], bool] = lambda: True
    look: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._states = dict.fromkeys(self.names, State.CREATED)
        self._slots = self.slots or Slots(self.parallelism)
        self._running: dict[Future[PipelineOutcome[T]], str] = {}
        self._outcomes: dict[str, PipelineOutcome[T]] = {}

    def run(self) -> tuple[PipelineOutcome[T], ...]:
        """Run all and wait; one outcome per pipeline, in order. An interrupt cancels running pipelines
        and is raised again.

        This thread waits for slots; a pipeline has a worker thread only while it holds its own.
        """
        with ThreadPoolExecutor(max_workers=self._slots.size, thread_name_prefix="pipeline") as pool:
            try:
                self._request_slots()
                while len(self._outcomes) < len(self.names):
                    self._start(pool)
                    self._watch(set(self._running))
                    self.look()
            except BaseException:
                self._stopped.set()
                self._cancel_waiting()
                self._watch_cancelled(set(self._running))
                raise
            return tuple(self._outcomes[name] for name in self.names)

    def stop(self) -> None:
        """Cancel running pipelines and start no others; may be called from any thread, more than once."""
        self._stopped.set()
        for future, name in tuple(self._running.items()):
            if not future.done():
                self.cancel(name)

    def _request_slots(self) -> None:
        since = monotonic()
        for name in self.names:
            self._slots.request(name, self.needs.get(name, Need()), since)
            self._enter(name, State.SCHEDULED)

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Start the pipelines that get their slots now, then fail those that have waited too long for theirs."""
        if not self._stopped.is_set():
            for name in self._slots.grant(monotonic()):
                self._running[pool.submit(self._run_in_slots, name)] = name
            if self.slot_timeout is not None:
                self._fail_late(self.slot_timeout)
        if self._stopped.is_set():
            self._cancel_waiting()

    def _fail_late(self, timeout: float) -> None:
        for name, error in self._slots.timed_out(timeout, monotonic()):
            self._enter(name, State.FAILING, str(error))
            self._enter(name, State.FAILED, str(error))
            self._outcomes[name] = PipelineOutcome(name, State.FAILED, 0, 0.0, None, error)
            if self.policy is FailurePolicy.STOP:
                self.stop()
                return

    def _cancel_waiting(self) -> None:
        begun = {*self._outcomes, *self._running.values()}
        for name in self.names:
            if name not in begun and self._states[name] in (State.CREATED, State.SCHEDULED):
                self._enter(name, State.CANCELED, _STOPPED)
                self._outcomes[name] = PipelineOutcome(name, State.CANCELED, 0, 0.0)

    def _watch(self, pending: set[Future[PipelineOutcome[T]]]) -> None:
        """Wait for pipelines to end, but not for long: a request may time out, and a stop may come from elsewhere."""
        ended, _ = wait(pending, timeout=_LOOK_AGAIN, return_when=FIRST_COMPLETED)
        for future in ended:
            outcome = future.result()
            self._slots.release(outcome.name)
            self._outcomes[outcome.name] = outcome
            del self._running[future]
        failed = any(future.result().state is State.FAILED for future in ended)
        if self._stopped.is_set() or (failed and self.policy is FailurePolicy.STOP):
            self.stop()  # also again: a job may have been submitted to Spark just after the last cancel

    def _watch_cancelled(self, pending: set[Future[PipelineOutcome[T]]]) -> None:
        while pending:
            self.stop()
            _, pending = wait(pending, timeout=_LOOK_AGAIN)

    def _run_in_slots(self, name: str) -> PipelineOutcome[T]:
        started = monotonic()
        attempts = 0
        while not self._stopped.is_set():
            attempts += 1
            self._enter(name, State.RUNNING)
            try:
                value = self.work(name)
            except Exception as error:  # noqa: BLE001 (users' code and drivers run below; the cause is kept in the outcome)
                again = self._after_error(name, error, attempts)
                if again:
                    continue
                return PipelineOutcome(name, self._states[name], attempts, monotonic() - started, None, error)
            self._enter(name, State.FINISHED)
            return PipelineOutcome(name, State.FINISHED, attempts, monotonic() - started, value)
        self._enter(name, State.CANCELED, _STOPPED)
        return PipelineOutcome(name, State.CANCELED, attempts, monotonic() - started)

    def _after_error(self, name: str, error: Exception, attempts: int) -> bool:
        """Whether to retry; if not, the pipeline is in its final state."""
        if self._stopped.is_set():
            self._enter(name, State.CANCELING, _STOPPED)
            self._enter(name, State.CANCELED, _STOPPED)
            return False
        self._enter(name, State.FAILING, str(error))
        if attempts > self.retry.times or not (self.can_retry() and is_transient(error)):
            self._enter(name, State.FAILED, str(error))
            return False
        if self._stopped.wait(self.retry.interval_seconds):
            self._enter(name, State.CANCELING, _STOPPED)
            self._enter(name, State.CANCELED, _STOPPED)
            return False
        self._enter(name, State.SCHEDULED, f"retry after attempt {attempts}")
        return True

    def _enter(self, name: str, state: State, cause: str | None = None) -> None:
        with self._lock:
            self._states[name] = follow(self._states[name], state)
        self.observe(name, state, cause)
