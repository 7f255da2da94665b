"""The first rows of one node of a plan."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from connectors.interface.incremental import Since
from engine.plan.nodes import Node, Plan, below
from engine.spark.failures.errors import as_run_error
from engine.spark.lower import lower_nodes
from engine.spark.session import pipeline_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sample_rows(
    spark: "SparkSession", plan: Plan, node: Node, limit: int, since: Mapping[str, Since] | None = None
) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    """The names of its columns and at most `limit` rows; raises `RunError` if Spark cannot read or compute them.

    `since`: where incremental scans begin, by their names; the first run where it has none.
    """
    session = pipeline_session(spark, plan.env.session_settings)
    df = lower_nodes(session, [node], {}, since=since)[node]
    try:
        rows = df.limit(limit).collect()
    except (PySparkException, Py4JError) as error:
        raise as_run_error(error, node, below(node)) from error
    return tuple(df.columns), tuple(tuple(row) for row in rows)
