"""Whether the cluster gives a job executors, without which Spark waits for ever."""

from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import run_error
from engine.spark.failures.errors import SPARK_ERRORS
from engine.spark.starting.defaults import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS_BETWEEN: Final = 2.0
"""Between two looks: each asks Java."""


@dataclass(eq=False)
class ExecutorWatch:
    """Looks whether tasks wait and no executor is there, for longer than `timeout` seconds (None: no limit)."""

    spark: "SparkSession"
    timeout: float | None

    def __post_init__(self) -> None:
        self._is_needed = self.timeout is not None and not is_local(str(self.spark.sparkContext.master))
        self._looked = self._last_seen = monotonic()

    def look(self) -> None:
        """Raises `RunError` PEN5053 if the time is over."""
        now = monotonic()
        if not self._is_needed or self.timeout is None or now - self._looked < _SECONDS_BETWEEN:
            return
        self._looked = now
        if self._executors() > 0 or not self._tasks_wait():
            self._last_seen = now
        elif now - self._last_seen > self.timeout:
            master = self.spark.sparkContext.master
            message = f"no executor in {now - self._last_seen:.0f} s: the job needs at least one, `{master}` gave none"
            help = "free or add workers, ask for smaller executors (`spark.executor.memory`, `spark.executor.cores`), "
            raise run_error("PEN5053", message, None, f"{help}or raise `slot_timeout_seconds`")

    def _executors(self) -> int:
        with suppress(*SPARK_ERRORS):
            status = self.spark.sparkContext._jsc.sc().getExecutorMemoryStatus()
            return int(status.size()) - 1  # without the driver
        return 1

    def _tasks_wait(self) -> bool:
        return bool(self.spark.sparkContext.statusTracker().getActiveStageIds())
