"""Tasks that outlive their job."""

from contextlib import suppress
from time import monotonic, sleep
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

POLL_SECONDS: Final = 0.1


def wait_for_tasks(spark: SparkSession, tag: str, seconds: float = 30.0) -> None:
    """Wait until no task of the jobs with this tag runs, at most so many seconds.

    A job that failed or was cancelled is over before its tasks are: each goes on until it next asks whether it was
    killed, and could write a file into a directory that has been removed by then.
    """
    ends = monotonic() + seconds
    with suppress(Py4JError):  # Java is ending, and its tasks with it
        context: Any = spark.sparkContext._jsc.sc()
        while True:
            context.listenerBus().waitUntilEmpty(10_000)
            if not _runs(context.statusTracker(), tag) or monotonic() >= ends:
                return
            sleep(POLL_SECONDS)


def _runs(tracker: Any, tag: str) -> bool:
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForTag(tag))
    stages = {stage for job in jobs if job.isDefined() for stage in job.get().stageIds()}
    found = (tracker.getStageInfo(stage) for stage in stages)
    return any(stage.isDefined() and stage.get().numActiveTasks() > 0 for stage in found)
