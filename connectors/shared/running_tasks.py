"""Tasks that outlive their job."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from connectors.shared.java_names import java_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS: Final = 0.1
CANCEL_SECONDS: Final = 1.0
"""How long a cancelled run waits for its tasks, which Spark interrupts."""
_BUS_MILLISECONDS: Final = 500
_API: Final = "org.apache.spark.status.api.v1"


def tag_of_run(run_id: str) -> str:
    """The tag of all Spark jobs of a run."""
    return f"penstock {run_id}"


@contextmanager
def tagged_jobs(spark: "SparkSession", tag: str) -> Iterator[None]:
    """Give the Spark jobs that this thread starts a tag, by which `wait_for_tasks` finds their tasks."""
    spark.sparkContext.addJobTag(tag)
    try:
        yield
    finally:
        spark.sparkContext.removeJobTag(tag)


def wait_for_tasks(
    spark: "SparkSession", tag: str, seconds: float = 30.0, is_cancelled: Callable[[], bool] = lambda: False
) -> bool:
    """Wait until no task of the jobs with this tag is running, at most the given seconds; returns whether none is.

    A failed or cancelled job ends before its tasks: each runs until it next checks whether it was killed, as it does
    between two rows, and may still write a file into a directory that was removed in the meantime. Once `is_cancelled`,
    the user is waiting, and `CANCEL_SECONDS` are the limit.
    """
    from py4j.protocol import Py4JError

    ends, is_hurried = monotonic() + seconds, False
    with suppress(Py4JError):  # Java is shutting down, together with its tasks
        context: Any = spark.sparkContext._jsc.sc()
        while True:
            if not is_hurried and is_cancelled():
                ends, is_hurried = min(ends, monotonic() + CANCEL_SECONDS), True
            if _has_settled(context) and not _runs(context, tag):
                return True
            if monotonic() >= ends:
                return False
            sleep(POLL_SECONDS)
    return True


def _has_settled(context: Any) -> bool:
    """Whether the events of the tasks that have started and ended have arrived."""
    from py4j.protocol import Py4JJavaError

    try:
        context.listenerBus().waitUntilEmpty(_BUS_MILLISECONDS)
    except Py4JJavaError:  # a time-out
        return False
    return True


def _runs(context: Any, tag: str) -> bool:
    """Whether a task of these jobs is running. A stage that has ended does not count those that began as it ended: the
    tasks themselves are asked."""
    from pyspark import SparkContext

    tracker, store, jvm = context.statusTracker(), context.statusStore(), SparkContext._jvm
    running = java_named(jvm, "java.util.List.of")(java_named(jvm, f"{_API}.TaskStatus").RUNNING)
    order = java_named(jvm, f"{_API}.TaskSorting").ID
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForTag(tag))
    stages = {stage for job in jobs if job.isDefined() for stage in job.get().stageIds()}
    found = (tracker.getStageInfo(stage) for stage in stages)
    attempts = [(stage.get().stageId(), stage.get().currentAttemptId()) for stage in found if stage.isDefined()]
    return any(
        store.taskList(stage, attempt, 0, 1, order, running).nonEmpty()
        for stage, last in attempts
        for attempt in range(last + 1)
    )
