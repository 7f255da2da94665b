"""Shows the progress of a run: live on a terminal, one line per change of state elsewhere."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from catalog.diagnostics.shown_names import shown_name
from engine.runtime.attendant import RunProgress
from engine.state.run_state import State
from engine.terminal.shown_stream import plain_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGED: Final = "STAGED"
"""The state shown for a pipeline that has staged its rows and waits for the job's commit."""

MANY: Final = 20
"""More pipelines than these are shown by their totals."""
SECONDS_BETWEEN_TOTALS: Final = 5.0

Tasks = Callable[[], tuple[int, int]]
"""How many tasks of the active stages are done, and how many there are."""


class Lines:
    """For logs: each change of state on a line of its own, on stderr."""

    def __init__(self, stream: TextIO, job: str) -> None:
        self._stream = stream
        self._job = shown_name(job)
        self._started = monotonic()

    def changed(self, pipeline: str, state: State) -> None:
        if state not in (State.CREATED, State.SCHEDULED):
            self._print(f"{pipeline}: {STAGED if state is State.FINISHED else state.value}")

    def doing(self, pipeline: str, what: str) -> None:
        pass

    def committing(self, pipelines: Sequence[str]) -> None:
        self._print(f"committing {len(pipelines)} pipeline{'' if len(pipelines) == 1 else 's'}")

    def committed(self, pipelines: Sequence[str]) -> None:
        for pipeline in pipelines:
            self._print(f"{pipeline}: {State.FINISHED.value}")

    def _print(self, text: str) -> None:
        print(f"{monotonic() - self._started:7.1f} s  {self._job}: {text}", file=self._stream, flush=True)


class Totals(Lines):
    """For logs of many pipelines: how many are in which state, now and then, and each that does not finish."""

    def __init__(self, stream: TextIO, job: str, total: int) -> None:
        super().__init__(stream, job)
        self._total = total
        self._lock = Lock()
        self._states: dict[str, State] = {}
        self._last = 0.0

    def changed(self, pipeline: str, state: State) -> None:
        with self._lock:
            self._states[pipeline] = state
            if state in (State.FAILED, State.CANCELED):
                self._print(f"{pipeline}: {state.value}")
            is_full = state is State.RUNNING  # when one ends, the next takes its place a moment later
            if is_full and monotonic() - self._last >= SECONDS_BETWEEN_TOTALS:
                self._last = monotonic()
                states = list(self._states.values())
                staged, running = states.count(State.FINISHED), states.count(State.RUNNING)
                self._print(f"{staged} of {self._total} pipelines staged, {running} running")

    def committed(self, pipelines: Sequence[str]) -> None:
        self._print(f"{len(pipelines)} pipelines: {State.FINISHED.value}")


class Screen:
    """For a terminal: one line per pipeline, drawn again four times a second, and one for the job."""

    def __init__(self, job: str, tasks: Tasks) -> None:
        self._job = job
        self._tasks = tasks
        self._lock = Lock()
        self._states: dict[str, State] = {}
        self._doing: dict[str, str] = {}
        self._since: dict[str, float] = {}
        self._words: dict[str, str] = {}

    def changed(self, pipeline: str, state: State) -> None:
        with self._lock:
            self._states[pipeline] = state
            if state is State.RUNNING:
                self._since[pipeline] = monotonic()

    def doing(self, pipeline: str, what: str) -> None:
        with self._lock:
            self._doing[pipeline] = what

    def committing(self, pipelines: Sequence[str]) -> None:
        with self._lock:
            self._words |= dict.fromkeys(pipelines, "COMMITTING")

    def committed(self, pipelines: Sequence[str]) -> None:
        with self._lock:
            self._words |= dict.fromkeys(pipelines, State.FINISHED.value)

    def __rich__(self) -> Table:
        """Running pipelines first: of more pipelines than lines, the last ones are not shown."""
        table = Table.grid(padding=(0, 2))
        with self._lock:
            for pipeline, state in sorted(self._states.items(), key=lambda item: item[1] is not State.RUNNING):
                running = state is State.RUNNING
                seconds = f"{monotonic() - self._since[pipeline]:.0f} s" if running else ""
                word = self._words.get(pipeline, STAGED if state is State.FINISHED else state.value)
                table.add_row(shown_name(pipeline), word, seconds, self._doing.get(pipeline, "") if running else "")
        done, total = self._tasks()
        table.add_row(shown_name(self._job), f"{done} of {total} tasks" if total else "", "", "")
        return table


@contextmanager
def shown_progress(
    spark: "SparkSession", job: str, pipelines: int, *, lists_all: bool = False, stream: TextIO | None = None
) -> Iterator[RunProgress]:
    """Show the progress of so many pipelines of a job on stderr during the block; a live display is erased at its end.

    `lists_all`: also of many pipelines, each is shown."""
    out = stream or sys.stderr
    if not out.isatty():
        yield Totals(out, job, pipelines) if pipelines > MANY and not lists_all else Lines(out, job)
        return
    screen = Screen(job, lambda: active_tasks(spark))
    with Live(
        screen, console=Console(file=plain_stream(out), markup=False, emoji=False), refresh_per_second=4, transient=True
    ):
        yield screen


def active_tasks(spark: "SparkSession") -> tuple[int, int]:
    """Tasks of the active stages: done and all."""
    tracker = spark.sparkContext.statusTracker()
    stages = [stage for stage_id in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(stage_id))]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
