"""States of a job and of its pipelines, and their valid transitions."""

from enum import Enum


class State(str, Enum):
    CREATED = "CREATED"
    SCHEDULED = "SCHEDULED"
    RUNNING = "RUNNING"
    FAILING = "FAILING"
    FAILED = "FAILED"
    CANCELING = "CANCELING"
    CANCELED = "CANCELED"
    FINISHED = "FINISHED"

    @property
    def is_final(self) -> bool:
        return not FOLLOWERS[self]


FOLLOWERS: dict[State, frozenset[State]] = {
    State.CREATED: frozenset({State.SCHEDULED, State.CANCELED}),
    State.SCHEDULED: frozenset({State.RUNNING, State.FAILING, State.CANCELED}),  # FAILING: no slot became free
    State.RUNNING: frozenset({State.FINISHED, State.FAILING, State.CANCELING}),
    State.FAILING: frozenset({State.FAILED, State.SCHEDULED, State.CANCELING}),  # SCHEDULED: it is tried again
    State.FAILED: frozenset(),
    State.CANCELING: frozenset({State.CANCELED}),
    State.CANCELED: frozenset(),
    State.FINISHED: frozenset(),
}


def follow(state: State, to: State) -> State:
    """The next state; ValueError if the transition is invalid."""
    if to not in FOLLOWERS[state]:
        raise ValueError(f"{to.value} does not follow {state.value}")
    return to
