"""What the pipelines of a run cost: CPU time, shuffled and spilled bytes, summed over their tasks by Spark."""

import json
from collections.abc import Mapping
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


def costs(spark: "SparkSession", tags: Mapping[str, str]) -> Mapping[str, Cost]:
    """The cost of each pipeline, by its name; `tags`: the tags of their Spark jobs, with the names.

    Spark is asked for all at once, as JSON: two calls, however many stages there are. Those that it does not know any
    more (`spark.ui.retainedStages`, a thousand) are left out.
    """
    from engine.spark.failures.errors import SPARK_ERRORS

    found = dict.fromkeys(tags.values(), Cost())
    with suppress(*SPARK_ERRORS):
        stages = {stage["stageId"]: _cost(stage) for stage in _stages(spark) if stage["status"] != "SKIPPED"}
        for job in _jobs(spark):
            for name in [tags[tag] for tag in job.get("jobTags", ()) if tag in tags]:
                found[name] = sum((stages.pop(stage, Cost()) for stage in job["stageIds"]), found[name])
    return found


def _cost(stage: Mapping[str, Any]) -> Cost:
    return Cost(stage["executorCpuTime"] / 1e9, stage["shuffleWriteBytes"], stage["diskBytesSpilled"])


def _jobs(spark: "SparkSession") -> Any:
    return _read(spark, _store(spark).jobsList(None))


def _stages(spark: "SparkSession") -> Any:
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    nothing, quantiles = jvm.java.util.ArrayList(), gateway.new_array(jvm.double, 0)
    return _read(spark, _store(spark).stageList(None, False, False, quantiles, nothing))


def _store(spark: "SparkSession") -> Any:
    context: Any = spark.sparkContext._jsc
    return context.sc().statusStore()


def _read(spark: "SparkSession", listed: Any) -> Any:
    """A list of Spark's monitoring API, as its web interface writes it."""
    jvm: Any = spark._jvm
    return json.loads(jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper().writeValueAsString(listed))
