"""What the journals say of runs: what a run has committed, which were killed, and which are running.

Reads only.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.options import Value
from connectors.commits import run_owner as owner
from connectors.commits.claiming import HeldClaim, HeldError
from engine.plan.datasets import Dataset, dataset_of
from engine.plan.meaning.plan_record import PlanRecord, listed
from engine.plan.nodes import Write
from engine.state.journal import Journal, Recorded, journal_in, open_journals_in
from engine.state.layout import StateLayout
from engine.state.run_claims import claim_run, holder, is_abandoned, still_running


def uncommitted(layout: StateLayout, run_id: str, writes: Iterable[Write], plan: PlanRecord) -> tuple[Write, ...]:
    """The writes that no run of this id has committed; a rerun does them.

    Raises PEN5220 where what was committed is another piece of work than `plan`.
    """
    recorded = journal_in(layout, run_id).read()
    if recorded is None or not recorded.done:
        return tuple(writes)
    refuse_other_plan(run_id, recorded, plan)
    known = committed_as(recorded, plan)
    return tuple(write for write in writes if write.id not in known)


def committed_as(recorded: Recorded, plan: PlanRecord) -> Mapping[str, str]:
    """The ids under which the writes of a plan were committed, by their ids of now."""
    if recorded.plan is None:  # of an earlier version of Penstock
        return {write_id: write_id for write_id in recorded.done}
    return plan.written(recorded.plan, recorded.done)


def refuse_other_plan(run_id: str, recorded: Recorded, plan: PlanRecord) -> None:
    """Raise PEN5220 where what a run has committed is another piece of work than `plan`."""
    if recorded.plan is None:
        return
    if conflicts := plan.conflicts(recorded.plan, recorded.done):
        verb = "differs" if len(conflicts) == 1 else "differ"
        message = f"run `{run_id}` has committed another plan than that of the job now: {listed(conflicts)} {verb}"
        help = "a new run id runs the job as it is now; the job as it was is committed under this one"
        raise run_error("PEN5220", message, None, help)


def unwritten(layout: StateLayout, run_id: str, writes: Sequence[Write]) -> tuple[Write, ...]:
    """The writes that a run of this id still has to do, also where the job has changed since: what it committed as
    another write of the same target is written, and would be there twice."""
    recorded = journal_in(layout, run_id).read()
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


def killed_runs(layout: StateLayout, job: str | None = None) -> Iterator[tuple[Journal, Recorded]]:
    """The runs on which no process works any more, although they have not ended; without those that cannot be read.

    The lease of a process that cannot be seen from here is watched for runs of `job` alone.
    """
    for log in open_journals_in(layout):
        recorded, is_killed = None, False
        with suppress(RunError):  # `unreadable_runs` reports it
            recorded = log.read()
            if recorded is not None and recorded.outcome is None:
                is_watched = job is not None and recorded.job == job
                is_killed = is_abandoned(log, recorded) or (is_watched and holder(log, recorded) is None)
        if recorded is not None and is_killed:
            yield log, recorded


def unreadable_runs(layout: StateLayout) -> Iterator[tuple[Journal, RunError]]:
    """The runs whose journals are damaged."""
    for log in open_journals_in(layout):
        try:
            log.read()
        except RunError as error:
            yield log, error


def claimed(log: Journal, mark: Mapping[str, Value]) -> HeldClaim:
    """Claim a run to begin it. Raises PEN5301 if another process has this run id."""
    try:
        return claim_run(log, mark)
    except HeldError as error:
        raise still_running("PEN5301", log.run_id, error.claim.owner, _ways_to_start(log.run_id)) from error


def refuse_running(layout: StateLayout, run_id: str, writes: Sequence[Write], job: str) -> None:
    """Raise PEN5301 if another process has this run id or is running this job."""
    log = journal_in(layout, run_id)
    recorded = log.read()
    if recorded is not None and (mark := holder(log, recorded)) is not None:
        raise still_running("PEN5301", run_id, mark, _ways_to_start(run_id))
    refuse_second_run(layout, run_id, writes, job)


def refuse_second_run(layout: StateLayout, run_id: str, writes: Sequence[Write], job: str) -> None:
    """Raise PEN5301 if another process is running this job: both would write the same targets."""
    ids = {write.id for write in writes}
    for log in open_journals_in(layout):
        if log.run_id == run_id:
            continue
        recorded = None
        with suppress(RunError):  # a damaged journal is reported by `recover`
            recorded = log.read()
        if recorded is None or recorded.job != job or not ids & recorded.writes.keys():
            continue
        if (mark := running(log, recorded)) is not None:
            message = f"the job `{job}` is already running: run `{log.run_id}`, {owner.describe(mark)}"
            raise run_error("PEN5301", message, None, _ways_to_start(log.run_id), (f"its journal is {log.folder}",))


def refuse_held_targets(layout: StateLayout, run_id: str, writes: Iterable[Write]) -> None:
    """Raise PEN5007 if another process is writing a target of these writes whose sink leaves that to the engine.

    Call it when the own run is recorded: of two runs that begin at once, at least one then sees the other.
    """
    held = {dataset: write for write in writes if (dataset := _locked_by_engine(write)) is not None}
    for log in open_journals_in(layout) if held else ():
        recorded = None
        with suppress(RunError):  # a damaged journal is reported by `recover`
            recorded = log.read() if log.run_id != run_id else None
        found = (
            [held[target] for target in map(Dataset.of, recorded.targets.values()) if target in held]
            if recorded
            else []
        )
        if recorded is not None and found and (mark := running(log, recorded)) is not None:
            message = f"run {log.run_id} is writing to `{found[0].target}`: {owner.describe(mark)}"
            raise run_error("PEN5007", message, found[0].span, _ways_to_start(log.run_id))


def _locked_by_engine(write: Write) -> Dataset | None:
    return None if write.connector.sink_capabilities.allows_concurrent_runs else dataset_of(write)


def running(log: Journal, recorded: Recorded) -> Mapping[str, Value] | None:
    """The mark of the process that works on another run; None if there is none."""
    return None if is_abandoned(log, recorded) else holder(log, recorded)


def _ways_to_start(running: str) -> str:
    return (
        "wait until it has ended, or stop that process: what it staged is then removed; where it is gone for "
        f"certain, `penstock runs --forget {running}` dismisses it and changes no target"
    )
