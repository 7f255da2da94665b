"""A change of state, and what receives it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """The job (`pipeline` is None) or one of its pipelines has entered a state.

    `time` is UTC, ISO 8601; `cause` why, where there is a reason to tell; `counts` come with the end of the job.
    """

    time: str
    run_id: str
    job: str
    pipeline: str | None
    state: str
    cause: str | None = None
    counts: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "time": self.time,
            "run_id": self.run_id,
            "job": self.job,
            "pipeline": self.pipeline,
            "state": self.state,
            "cause": self.cause,
        }
        return {**record, "counts": dict(self.counts)} if self.counts else record


class Listener(Protocol):
    """Receives every event of a run, in order, in a thread of its own; the first error that it raises is reported."""

    @property
    def name(self) -> str: ...

    @property
    def timeout(self) -> float:
        """Seconds that the end of a run waits for it."""
        ...

    def notify(self, event: Event) -> None: ...
