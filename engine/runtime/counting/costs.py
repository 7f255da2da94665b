"""What the pipelines of a run cost: CPU time, shuffled and spilled bytes, summed over their tasks by Spark."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu_seconds`: of the executors' threads; `shuffle_bytes`: written for other tasks; `spilled_bytes`: written to
    disk because they did not fit into memory. Attempts that failed count too."""

    cpu_seconds: float = 0.0
    shuffle_bytes: int = 0
    spilled_bytes: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.cpu_seconds + other.cpu_seconds,
            self.shuffle_bytes + other.shuffle_bytes,
            self.spilled_bytes + other.spilled_bytes,
        )

    @property
    def as_json(self) -> dict[str, object]:
        return {
            "cpu_seconds": round(self.cpu_seconds, 3),
            "shuffle_bytes": self.shuffle_bytes,
            "spilled_bytes": self.spilled_bytes,
        }


def jobs_begun(spark: "SparkSession") -> int:
    """How many Spark jobs the application has begun; the next one has this number as its id."""
    context: Any = spark.sparkContext._jsc
    return int(context.sc().dagScheduler().numTotalJobs())


def costs(spark: "SparkSession", tags: Mapping[str, str], before: int) -> Mapping[str, Cost]:
    """The cost of each pipeline, by its name; `tags`: the tags of their Spark jobs, with the names. `before`: the jobs
    that had begun before the first of these.

    Of the first run of an application, Spark is asked for all stages at once, as JSON: two calls, however many there
    are. Of others, for their own: those of all the runs before would be as many again for each. Stages that it does
    not know any more (`spark.ui.retainedStages`, a thousand) are left out.
    """
    from engine.spark.failures.errors import SPARK_ERRORS

    found = dict.fromkeys(tags.values(), Cost())
    with suppress(*SPARK_ERRORS):
        named = [(name, job) for job in _jobs(spark, before) for name in _names(job, tags)]
        ids = {stage for _, job in named for stage in job["stageIds"]} if before else None
        stages: dict[int, Cost] = defaultdict(Cost)
        for stage in _stages(spark, ids):
            if stage["status"] != "SKIPPED":
                stages[stage["stageId"]] += _cost(stage)
        for name, job in named:
            found[name] = sum((stages.pop(stage, Cost()) for stage in job["stageIds"]), found[name])
    return found


def _names(job: Mapping[str, Any], tags: Mapping[str, str]) -> Iterable[str]:
    return [tags[tag] for tag in job.get("jobTags", ()) if tag in tags]


def _cost(stage: Mapping[str, Any]) -> Cost:
    return Cost(stage["executorCpuTime"] / 1e9, stage["shuffleWriteBytes"], stage["diskBytesSpilled"])


def _jobs(spark: "SparkSession", before: int) -> Any:
    listed = _store(spark).jobsList(None)  # the newest first
    return _read(spark, listed.take(jobs_begun(spark) - before) if before else listed)


def _stages(spark: "SparkSession", ids: Iterable[int] | None) -> Any:
    """The attempts of these stages, or of all."""
    from engine.spark.failures.errors import SPARK_ERRORS

    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    nothing, quantiles = jvm.java.util.ArrayList(), gateway.new_array(jvm.double, 0)
    store = _store(spark)
    if ids is None:
        return _read(spark, store.stageList(None, False, False, quantiles, nothing))
    attempts = jvm.java.util.ArrayList()
    for stage in ids:
        with suppress(*SPARK_ERRORS):  # it is not known any more
            attempts.add(store.stageData(stage, False, nothing, False, quantiles))
    return [attempt for stage in _read(spark, attempts) for attempt in stage]


def _store(spark: "SparkSession") -> Any:
    context: Any = spark.sparkContext._jsc
    return context.sc().statusStore()


def _read(spark: "SparkSession", listed: Any) -> Any:
    """A list of Spark's monitoring API, as its web interface writes it."""
    jvm: Any = spark._jvm
    return json.loads(jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper().writeValueAsString(listed))
