"""What the connectors are given of the run for which the engine calls them."""

from pyspark.sql import SparkSession
from pyspark.version import __version__

from connectors.commits.claim import RunClaim
from connectors.interface.run_context import RunContext


def context_of(spark: SparkSession | None, run_id: str, claim: RunClaim | None = None) -> RunContext:
    """The run as this process works on it; `spark` is None where a run is rolled back without a session."""
    return RunContext(run_id, __version__ if spark is None else spark.version, claim)
