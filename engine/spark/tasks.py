"""Tasks that outlive their job."""

from contextlib import suppress
from time import monotonic, sleep
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

POLL_SECONDS: Final = 0.1


def wait_for_tasks(spark: SparkSession, tag: str, seconds: float = 30.0) -> None:
    """Wait until no task of the jobs with this tag is running, at most the given seconds.

    A failed or cancelled job ends before its tasks: each runs until it next checks whether it was killed, and may still
    write a file into a directory that was removed in the meantime.
    """
    ends = monotonic() + seconds
    with suppress(Py4JError):  # Java is shutting down, together with its tasks
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
