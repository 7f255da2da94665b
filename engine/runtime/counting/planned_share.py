"""What of a job an accelerator would execute, by Spark's plan of it; nothing runs."""

from typing import TYPE_CHECKING, Any

from engine.job.model.job import Accelerator
from engine.plan.nodes import Plan
from engine.runtime.counting.fallback_places import in_queries
from engine.runtime.counting.native_share import HEAD, NativeShare, native_share, together
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from engine.spark.starting.accelerator import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def planned_share(spark: "SparkSession", plan: Plan) -> NativeShare | None:
    """None where the job has no accelerator. Rows that several sinks share count once for each.

    Spark replans while it runs: the summary of a run says what was native then.
    """
    if plan.env.accelerator is not Accelerator.COMET:
        return None
    session = pipeline_session(spark, plan.env.session_settings)
    lowered = lower(session, plan.writes, lambda node, persisted, df: df)
    shares = (_share(lowered.dataframes[write.input]) for write in plan.writes)
    return in_queries(together(shares), plan)


def _share(df: "DataFrame") -> NativeShare | None:
    executed: Any = df._jdf.queryExecution().executedPlan()
    return native_share(f"{HEAD}\n{explained(df.sparkSession.sparkContext._jvm, executed)}")
