"""The run for which the engine calls a connector."""

from dataclasses import dataclass, field

from connectors.commits.claim import RunClaim


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The rows of a target that a merge has changed; a row that is updated to the same values counts as updated."""

    inserted: int
    updated: int
    deleted: int


@dataclass(frozen=True, eq=False, slots=True)
class RunContext:
    """The run, which may be ended by another process than the one that began it.

    `spark_version`: the version of the session's Spark, such as `4.1.4`; that of the installed pyspark where there is
    no session. `claim`: this process's claim on the run; None in a dry run. `changes`: what merges have changed, by the
    identity of the write: a sink that knows it after its commit records it, for the counts that the run prints.
    """

    run_id: str
    spark_version: str
    claim: RunClaim | None = None
    changes: dict[str, RowChanges] = field(default_factory=dict)

    def check_claim(self) -> None:
        """Raise PEN5401 if another process has taken the run over."""
        if self.claim is not None:
            self.claim.check()
