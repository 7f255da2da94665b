"""The run for which the engine calls a connector."""

from dataclasses import dataclass

from connectors.commits.claim import RunClaim


@dataclass(frozen=True, eq=False, slots=True)
class RunContext:
    """The run, which may be ended by another process than the one that began it.

    `spark_version`: the version of the session's Spark, such as `4.1.4`; that of the installed pyspark where there is
    no session. `claim`: this process's claim on the run; None in a dry run.
    """

    run_id: str
    spark_version: str
    claim: RunClaim | None = None
