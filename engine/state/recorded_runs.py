"""What the journals say of runs: what a run has committed, which were killed, and which are running.

Reads only; a state directory on this machine's disk needs no Spark.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import run_error
from connectors.commits import run_owner as owner
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.nodes import Write
from engine.state.journal import Journal, Recorded, journal, open_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def uncommitted(spark: "SparkSession | None", state: str, run_id: str, writes: Iterable[Write]) -> tuple[Write, ...]:
    """The writes that no run of this id has committed; a rerun does them."""
    recorded = journal(spark, state, run_id).read()
    return tuple(write for write in writes if recorded is None or write.id not in recorded.done)


def unwritten(spark: "SparkSession | None", state: str, run_id: str, writes: Sequence[Write]) -> tuple[Write, ...]:
    """The writes that a run of this id still has to do, also where the job has changed since: what it committed as
    another write of the same target is written, and would be there twice."""
    recorded = journal(spark, state, run_id).read()
    if recorded is None:
        return tuple(writes)
    missing = [write for write in writes if write.id not in recorded.done]
    changed = recorded.done - {write.id for write in writes}
    written = Counter(recorded.targets[write_id] for write_id in changed if write_id in recorded.targets)
    found = []
    for write in missing:
        if written[write.target]:
            written[write.target] -= 1
        else:
            found.append(write)
    return tuple(found)


def killed_runs(spark: "SparkSession | None", state: str) -> Iterator[tuple[Journal, Recorded]]:
    """The runs whose process died before they ended."""
    for log in open_journals(spark, state):
        recorded = log.read()
        if recorded is not None and recorded.outcome is None and owner.has_died(recorded.mark):
            yield log, recorded


def refuse_running(spark: "SparkSession | None", state: str, run_id: str, writes: Sequence[Write], job: str) -> None:
    """Raise PEN5301 if another process has this run id or is running this job."""
    refuse_run_id(run_id, journal(spark, state, run_id).read())
    refuse_second_run(spark, state, run_id, writes, job)


def refuse_run_id(run_id: str, recorded: Recorded | None) -> None:
    """Raise PEN5301 if another process has this run id."""
    if recorded is not None and _is_running_elsewhere(recorded):
        message = f"run {run_id} is still running: {owner.describe(recorded.mark)}"
        raise run_error("PEN5301", message, None, _ways_to_start(run_id))


def refuse_second_run(spark: "SparkSession | None", state: str, run_id: str, writes: Sequence[Write], job: str) -> None:
    """Raise PEN5301 if another process is running this job: both would write the same targets."""
    ids = {write.id for write in writes}
    for log in open_journals(spark, state):
        recorded = log.read() if log.run_id != run_id else None
        if recorded is None or recorded.job != job or not ids & recorded.writes.keys():
            continue
        if _is_running_elsewhere(recorded):
            message = f"the job `{job}` is already running: run `{log.run_id}`, {owner.describe(recorded.mark)}"
            raise run_error("PEN5301", message, None, _ways_to_start(log.run_id), (f"its journal is {log.folder}",))


def refuse_held_targets(spark: "SparkSession | None", state: str, run_id: str, writes: Iterable[Write]) -> None:
    """Raise PEN5007 if another process is writing a target of these writes whose sink leaves that to the engine.

    Call it when the own run is recorded: of two runs that begin at once, at least one then sees the other.
    """
    held = {dataset: write for write in writes if (dataset := _locked_by_engine(write)) is not None}
    for log in open_journals(spark, state) if held else ():
        recorded = log.read() if log.run_id != run_id else None
        if recorded is None or not _is_running_elsewhere(recorded):
            continue
        for location in recorded.targets.values():
            if (write := held.get(Dataset.of(location))) is not None:
                message = f"run {log.run_id} is writing to `{write.target}`: {owner.describe(recorded.mark)}"
                raise run_error("PEN5007", message, write.span, _ways_to_start(log.run_id))


def _locked_by_engine(write: Write) -> Dataset | None:
    return None if write.connector.sink_capabilities.allows_concurrent_runs else dataset_of(write)


def _is_running_elsewhere(recorded: Recorded) -> bool:
    is_open = recorded.outcome is None and not owner.is_this_process(recorded.mark)
    return is_open and not owner.has_died(recorded.mark)


def _ways_to_start(running: str) -> str:
    return (
        "wait until it has ended, or stop that process: what it staged is then removed; where it is gone for "
        f"certain, `penstock runs --forget {running}` dismisses it and changes no target"
    )
