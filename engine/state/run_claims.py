"""The claims of processes on runs: who works on a run, and who may end it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits import claiming
from connectors.commits import run_owner as owner
from connectors.commits.claiming import Claim, HeldClaim
from connectors.commits.leases import Renewals, lease_seconds
from connectors.storage.filesystem import Files
from engine.state.journal import Journal, Recorded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def claim_run(log: Journal, mark: Mapping[str, Value]) -> HeldClaim:
    """Claim a run, to begin it or to end it; from here on no earlier attempt of it can decide to commit.

    Raises `HeldError` if another process works on it. Release the claim when the work is done.
    """
    claim = claiming.acquire(
        log.files,
        log.paths.claims,
        run_id=log.run_id,
        journal=log.uri,
        owner=mark,
        renewals=Renewals(lease_seconds()),
        floor=log.latest_epoch(),
        has_expired=_is_free,
    )
    try:
        log.close_before(claim.epoch)
    except BaseException:
        release(claim)
        raise
    return claim


def release(claim: HeldClaim) -> None:
    claim.release()
    claim.renewals.stop()


def still_running(code: str, run_id: str, mark: Mapping[str, Value], help: str) -> RunError:
    """The error of a run on which another process works: PEN5301 where it should begin, PEN5302 where it should end."""
    return run_error(code, f"run `{run_id}` is still running: {owner.describe(mark)}", None, help)


def holder(log: Journal, recorded: Recorded) -> Mapping[str, Value] | None:
    """The mark of the other process that works on a run; None if there is none.

    Watches the lease of a process that cannot be seen from here, up to its length.
    """
    if recorded.outcome is not None:
        return None
    found = claiming.claims_in(log.files, log.paths.claims)
    if not found and not recorded.is_claimed and not _is_free_mark(recorded.mark):
        return recorded.mark
    return next((claim.owner for claim in found if not _is_free(log.files, log.paths.claims, claim)), None)


def is_abandoned(log: Journal, recorded: Recorded) -> bool:
    """Whether it is known, without a look at leases, that no process works on a run that has not ended."""
    found = claiming.claims_in(log.files, log.paths.claims)
    if not found and not recorded.is_claimed:
        return owner.has_died(recorded.mark)
    return all(claiming.is_gone(claim) for claim in found)


def has_process(mark: Mapping[str, Value]) -> bool:
    """Whether a mark is of another process that is running on this machine."""
    return not _is_free_mark(mark) and owner.presence(mark) is owner.Presence.RUNNING


def mark_of(spark: "SparkSession | None") -> dict[str, Value]:
    """The mark of this process, with the Java process of the session."""
    mark = owner.this_process()
    return mark if spark is None else owner.with_jvm(mark, _pid(spark))


def _pid(spark: "SparkSession") -> int:
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "a session has a Java process"
    return _pid_of(jvm)


@lru_cache(1)
def _pid_of(jvm: Any) -> int:
    return int(jvm.java.lang.ProcessHandle.current().pid())


def _is_free(files: Files, folder: str, claim: Claim) -> bool:
    """Whether a claim can be taken over. One of this process is of a run that it has left without an end."""
    return owner.is_this_process(claim.owner) or claiming.expired(files, folder, claim)


def _is_free_mark(mark: Mapping[str, Value]) -> bool:
    return owner.is_this_process(mark) or owner.has_died(mark)
