"""Keeps what a killed attempt of a run has staged: `penstock run JOB --resume ID --continue` stages the rest alone.

A write is kept if its plan, the positions of its sources, and its target are as they were, and its rows are still
there. The process that staged them may only be paused: it asks `Journal.begin_abort` before it removes anything. The
writes of one pipeline are kept together, since they share what was read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pyspark.sql import SparkSession

from catalog.diagnostics.diagnostic import RunError
from connectors.interface.incremental import Since, incremental_of
from connectors.interface.sink import WriteTask
from connectors.interface.sink_abilities import SupportsKeptRows
from connectors.interface.source_abilities import SupportsAcknowledgement, SupportsHeldPosition
from connectors.shared.staged import Credentials, Staged
from engine.plan.meaning.plan_record import PlanRecord
from engine.plan.nodes import Plan, Scan, Write
from engine.plan.pipelines import pipelines
from engine.spark.failures.errors import SPARK_ERRORS
from engine.spark.writing.sink_checks import SinkCheck, kept_table
from engine.state.journal import Journal, Recorded
from engine.state.staged_basis import StagedBasis, target_text

NOT_STAGED: Final = "it was not staged"
"""Why a write is not kept that an earlier attempt has not completed."""

_EDITED: Final = "the job has changed"

PositionOf: TypeAlias = Callable[[Scan], str | None]


@dataclass(frozen=True, eq=False, slots=True)
class Continued:
    """What an attempt needs to know to keep what an earlier one has staged: the plan and what it means, where each
    source stands now, and the secrets of the job."""

    plan: Plan
    meant: PlanRecord
    position: PositionOf
    credentials: Credentials


@dataclass(frozen=True, eq=False, slots=True)
class KeptWrite:
    """A write that is not staged again: its record, and what that rests on."""

    staged: Staged
    basis: StagedBasis


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """The writes that are kept, by their ids; what was read for them of sources that are notified after the commit;
    and why others are not, by the names of their writes."""

    writes: Mapping[str, KeptWrite] = field(default_factory=dict)
    positions: Mapping[Scan, Staged] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def position_of(spark: SparkSession, scan: Scan, starts: Mapping[str, Since]) -> str | None:
    """Where a source stands: equal positions mean equal rows. None if it cannot be held."""
    source = scan.connector
    if scan.of_group is not None and scan.of_group.is_staged:
        return None
    if incremental_of(scan.options) is not None:
        since = starts.get(scan.name)
        return f"after {'the start' if since is None or since.after is None else since.after.value}"
    if isinstance(source, SupportsHeldPosition):
        try:
            return source.held_position(spark, scan.options)
        except (*SPARK_ERRORS, RunError, OSError):  # reading it reports the error
            return None
    if isinstance(source, SupportsAcknowledgement):
        return "its offsets"
    return None


def holds_position(scan: Scan) -> bool:
    """Whether a continued run need not read the source again, as far as that is known before the run."""
    held = (SupportsHeldPosition, SupportsAcknowledgement)
    return incremental_of(scan.options) is not None or isinstance(scan.connector, held)


def bases_of(
    pipeline: Plan, meant: PlanRecord, checks: Mapping[str, SinkCheck], position: PositionOf
) -> dict[str, StagedBasis]:
    """What the writes of a pipeline rest on, by their ids; empty where a source has no position."""
    found = {scan.id: position(scan) for scan in _scans(pipeline)}
    positions = {scan_id: text for scan_id, text in found.items() if text is not None}
    is_known = len(positions) == len(found) and all(write.id in meant.writes for write in pipeline.writes)
    return {write.id: _basis(write, pipeline, meant, checks, positions) for write in pipeline.writes if is_known}


def _basis(
    write: Write, pipeline: Plan, meant: PlanRecord, checks: Mapping[str, SinkCheck], positions: Mapping[str, str]
) -> StagedBasis:
    checked = checks[write.id]
    table = kept_table(checked.state, checked.actions)
    return StagedBasis(
        meant.writes[write.id].fingerprint,
        positions,
        tuple(action.value for action in checked.actions),
        target_text(() if table is None else table.columns),
        tuple(each.id for each in pipeline.writes),
    )


def keep(
    spark: SparkSession,
    earlier: Journal,
    recorded: Recorded,
    continued: Continued,
    *,
    checks: Sequence[SinkCheck],
    tasks: Mapping[str, WriteTask],
) -> Kept:
    """Take over what the attempt `recorded`, of the journal `earlier`, has staged, as far as it can be kept. Called
    with the claim of the run, which the process of that attempt has lost."""
    writes: dict[str, KeptWrite] = {}
    positions: dict[Scan, Staged] = {}
    reasons: dict[str, str] = {}
    by_id = {check.write.id: check for check in checks}
    is_left = not recorded.has_bases or earlier.keep([each for each in by_id if recorded.basis(each) is not None])
    for pipeline in pipelines(continued.plan):
        found = _kept_pipeline(spark, recorded, continued, pipeline, checks=by_id, tasks=tasks, is_left=is_left)
        if isinstance(found, str):
            reasons |= {write.name: found for write in pipeline.writes}
        else:
            writes |= found
            positions |= dict(_positions(recorded, pipeline, continued.credentials))
    return Kept(writes, positions, reasons)


def _kept_pipeline(
    spark: SparkSession,
    recorded: Recorded,
    continued: Continued,
    pipeline: Plan,
    *,
    checks: Mapping[str, SinkCheck],
    tasks: Mapping[str, WriteTask],
    is_left: bool,
) -> dict[str, KeptWrite] | str:
    """The writes of a pipeline; or why they are staged again."""
    then = {write.id: recorded.basis(write.id) for write in pipeline.writes}
    if not all(recorded.is_staged(write.id) for write in pipeline.writes):
        targets = {recorded.targets.get(write_id) for write_id in recorded.writes if recorded.is_staged(write_id)}
        is_edited = any(write.id not in recorded.writes and write.target in targets for write in pipeline.writes)
        return _EDITED if is_edited else NOT_STAGED
    if None in then.values():
        return NOT_STAGED if all(map(holds_position, _scans(pipeline))) else "its source has no position"
    if not is_left:
        return "the process that staged it has begun to remove its rows"
    now = bases_of(pipeline, continued.meant, checks, continued.position)
    kept: dict[str, KeptWrite] = {}
    for write in pipeline.writes:
        basis = then[write.id]
        assert basis is not None
        if write.id not in now:
            return "a source has changed"
        if (difference := basis.difference(now[write.id])) is not None:
            return difference
        sink = write.connector
        staged = recorded.place(write.id, sink.staged_type).with_credentials(continued.credentials)
        own = sink.kept(spark, staged, tasks[write.id]) if isinstance(sink, SupportsKeptRows) else None
        if own is None:
            return "its staged rows are gone" if isinstance(sink, SupportsKeptRows) else f"`{sink.name}` keeps no rows"
        kept[write.id] = KeptWrite(own, basis)
    return kept


def _positions(recorded: Recorded, pipeline: Plan, credentials: Credentials) -> Iterator[tuple[Scan, Staged]]:
    for scan in _scans(pipeline):
        source = scan.connector
        if scan.id in recorded.unacknowledged and isinstance(source, SupportsAcknowledgement):
            yield scan, recorded.position(scan.id, source.position_type).with_credentials(credentials)


def _scans(pipeline: Plan) -> list[Scan]:
    return [node for node in pipeline.nodes() if isinstance(node, Scan)]
