"""What a run is doing, shown while it does it: live on a terminal, one line per change of state elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from engine.runtime.states import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tasks = Callable[[], tuple[int, int]]
"""How many tasks of the stages under way are done, and how many there are."""


class Progress(Protocol):
    """Is told what happens; called from several threads."""

    def changed(self, pipeline: str, state: State) -> None: ...

    def doing(self, pipeline: str, what: str) -> None: ...


class Lines:
    """For logs: each change of state on a line of its own, on stderr."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started = monotonic()

    def changed(self, pipeline: str, state: State) -> None:
        if state not in (State.CREATED, State.SCHEDULED):
            print(f"{monotonic() - self._started:7.1f} s  {pipeline}: {state.value}", file=self._stream, flush=True)

    def doing(self, pipeline: str, what: str) -> None:
        pass


class Screen:
    """For people: one line per pipeline, drawn again four times a second."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._lock = Lock()
        self._states: dict[str, State] = {}
        self._doing: dict[str, str] = {}
        self._since: dict[str, float] = {}

    def changed(self, pipeline: str, state: State) -> None:
        with self._lock:
            self._states[pipeline] = state
            if state is State.RUNNING:
                self._since[pipeline] = monotonic()

    def doing(self, pipeline: str, what: str) -> None:
        with self._lock:
            self._doing[pipeline] = what

    def __rich__(self) -> Table:
        table = Table.grid(padding=(0, 2))
        with self._lock:
            for pipeline, state in self._states.items():
                running = state is State.RUNNING
                seconds = f"{monotonic() - self._since[pipeline]:.0f} s" if running else ""
                table.add_row(pipeline, state.value, seconds, self._doing.get(pipeline, "") if running else "")
        done, total = self._tasks()
        table.add_row("", f"{done} of {total} tasks" if total else "", "", "")
        return table


@contextmanager
def shown(spark: "SparkSession", stream: TextIO | None = None) -> Iterator[Progress]:
    """Progress on stderr for as long as the block lasts; what was drawn is wiped at its end."""
    out = stream or sys.stderr
    if not out.isatty():
        yield Lines(out)
        return
    screen = Screen(lambda: active_tasks(spark))
    with Live(screen, console=Console(file=out), refresh_per_second=4, transient=True):
        yield screen


def active_tasks(spark: "SparkSession") -> tuple[int, int]:
    """Tasks of the active stages: done and all."""
    tracker = spark.sparkContext.statusTracker()
    stages = [stage for stage_id in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(stage_id))]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
