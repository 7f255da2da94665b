"""Who attends a run: a terminal that shows its progress and stops it, or nobody."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.runtime.interrupts import Interrupts
from engine.state.run_state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RunProgress(Protocol):
    """Receives the progress of a run; called from several threads."""

    def changed(self, pipeline: str, state: State) -> None: ...

    def doing(self, pipeline: str, what: str) -> None: ...

    def committing(self, pipelines: Sequence[str]) -> None: ...

    def committed(self, pipelines: Sequence[str]) -> None: ...


class NoProgress:
    """Shows nothing."""

    def changed(self, pipeline: str, state: State) -> None:
        pass

    def doing(self, pipeline: str, what: str) -> None:
        pass

    def committing(self, pipelines: Sequence[str]) -> None:
        pass

    def committed(self, pipelines: Sequence[str]) -> None:
        pass


class Attendant(Protocol):
    """Both are open while a run stages, commits and cleans up."""

    def progress(self, spark: "SparkSession", job: str, pipelines: int) -> AbstractContextManager[RunProgress]:
        """Shows the progress of so many pipelines of a job."""
        ...

    def interrupts(self) -> AbstractContextManager[Interrupts]:
        """Receives what stops the run; outside of it, Ctrl-C ends the process as usual."""
        ...


class Unattended:
    """Nobody: for runs from Python, in which Ctrl-C raises `KeyboardInterrupt` wherever they are."""

    @contextmanager
    def progress(self, spark: "SparkSession", job: str, pipelines: int) -> Iterator[RunProgress]:
        yield NoProgress()

    @contextmanager
    def interrupts(self) -> Iterator[Interrupts]:
        yield Interrupts()


@dataclass(frozen=True, slots=True)
class StopsWithOthers(Unattended):
    """Attends a run in a thread of its own, whose progress is not shown, and which stops with all the others."""

    stop: Interrupts

    @contextmanager
    def interrupts(self) -> Iterator[Interrupts]:
        yield self.stop
