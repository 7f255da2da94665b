"""The states of a job and its pipelines as events, each move a legal one."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError
from engine.events.dispatch import Dispatcher
from engine.events.event import Event
from engine.events.listeners import listener_of
from engine.plan.nodes import Plan
from engine.runtime.interrupts import InterruptedRun
from engine.runtime.results import JobResult
from engine.state.ledger import now
from engine.state.run_state import State, follow


class JobEvents:
    """Notifies the listeners of one run: `begin`, `pipeline` for each move, `end` or `failed`, then `close`."""

    def __init__(self, plan: Plan, run_id: str) -> None:
        self._run_id, self._job = run_id, plan.env.name
        self._state = State.CREATED
        self._masks = plan.env.masks
        self._dispatcher = Dispatcher([listener_of(config, plan) for config in plan.env.listeners])

    def begin(self) -> None:
        self._notify(None, State.CREATED)
        self._move(State.SCHEDULED)
        self._move(State.RUNNING)

    def pipeline(self, name: str, state: State, cause: str | None = None) -> None:
        """A pipeline has entered a state."""
        self._notify(name, state, cause)

    def end(self, state: State, cause: str | None, counts: Mapping[str, object]) -> None:
        """The job has finished, or its pipelines have failed."""
        if state is State.FAILED:
            self._move(State.FAILING, cause)
        self._move(state, cause, counts)

    def failed(self, error: BaseException) -> None:
        """The job was ended by an error or an interrupt."""
        said = error.diagnostics[0].message if isinstance(error, PenstockError) else str(error)
        if isinstance(error, KeyboardInterrupt | InterruptedRun):
            self._move(State.CANCELING, said)
            self._move(State.CANCELED, said)
        else:
            self._move(State.FAILING, said)
            self._move(State.FAILED, said)

    def close(self) -> tuple[Diagnostic, ...]:
        """Wait for the listeners, each at most its time-out; gives warnings about those that missed events."""
        return self._dispatcher.close()

    def _move(self, state: State, cause: str | None = None, counts: Mapping[str, object] | None = None) -> None:
        self._state = follow(self._state, state)
        self._notify(None, state, cause, counts or {})

    def _notify(
        self, pipeline: str | None, state: State, cause: str | None = None, counts: Mapping[str, object] | None = None
    ) -> None:
        said = self._masks.text(cause) if cause else None
        shown = self._masks.mapping(counts or {})
        self._dispatcher.notify(Event(now(), self._run_id, self._job, pipeline, state.value, said, shown))


def with_events(plan: Plan, run_id: str, run: Callable[[JobEvents], JobResult]) -> JobResult:
    """The result of a run whose begin and end, or error, the job's listeners receive; it adds their warnings."""
    events = JobEvents(plan, run_id)
    events.begin()
    try:
        result = run(events)
    except BaseException as error:
        events.failed(error)
        events.close()
        raise
    cause = result.diagnostics[0].message if result.diagnostics else None
    events.end(result.state, cause, result.counts)
    return replace(result, warnings=(*result.warnings, *events.close()))
