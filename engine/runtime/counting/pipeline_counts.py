"""Counts the writes of a pipeline that was staged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostic
from catalog.secret_names import redacted_text
from catalog.tables.savemode import WriteMode
from connectors.interface.sink_abilities import SupportsCounts
from connectors.shared.staged import Staged
from engine.expectations.expectation_outcome import ExpectationOutcome
from engine.plan.nodes import AnyNode, Expect, Plan, Shuffle, Write, below
from engine.runtime.counting.counts import (
    Execution,
    ScanIdentity,
    WriteCount,
    count_write,
    filtered_rows,
    last_that_read,
    merged,
)
from engine.state.watermarks import HighWatermark

if TYPE_CHECKING:
    from engine.spark.writing.open_run import OpenRun


@dataclass(frozen=True, slots=True)
class StagedPipeline:
    """The result of staging a pipeline: how to find its scans and writes in Spark's metrics, and its expectations.

    `descriptions`: of the Spark jobs of each write, and of each node whose rows were persisted, by their ids.
    """

    scans: tuple[ScanIdentity, ...]
    descriptions: Mapping[str, str]
    expectations: tuple[ExpectationOutcome, ...]
    watermarks: tuple[HighWatermark, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def write_counts(
    plan: Plan, staged: StagedPipeline, run: "OpenRun", ran: Mapping[str, list[Execution]]
) -> tuple[WriteCount, ...]:
    """The counts of a pipeline's writes, and of what was dropped before a stream was routed to its tables.

    `ran` are the executions by their descriptions.
    """
    counts = [
        _with_changes(
            _write_count(write, staged, run.places[write.id], ran),
            write,
            run,
            ran.get(staged.descriptions[write.id], ()),
        )
        for write in plan.writes
    ]
    return (*counts, *_before_routing(staged, plan, ran))


def _write_count(write: Write, staged: StagedPipeline, place: Staged, ran: Mapping[str, list[Execution]]) -> WriteCount:
    """Count rows that a rule removed as rejected, not filtered, although Spark drops them by a filter."""
    if not write.connector.sink_capabilities.is_staged:
        printed = _written(write, place)
        return WriteCount(write.name, printed[0] if printed else None, None)
    of_write = ran.get(staged.descriptions[write.id], ())
    count = count_write(write.name, of_write)
    if (written := _written(write, place)) is not None:
        last = last_that_read(of_write)
        filtered = 0 if last is None else filtered_rows(last)
        count = replace(count, rows=written[0], bytes=written[1], filtered=filtered)
    count = replace(count, target=_target(write))
    nodes = below(write)
    if routed := next((node for node in nodes if isinstance(node, Shuffle)), None):
        nodes = tuple(node for node in nodes if node not in below(routed))  # the others are those of all tables
        if routed.persisted is None or routed.persisted.by is None:
            count = replace(count, filtered=None)  # Spark counts the rows of other tables, too
    return _with_earlier(count, nodes, staged, ran)


def _with_changes(count: WriteCount, write: Write, run: "OpenRun", ran: Sequence[Execution]) -> WriteCount:
    """The count with what a merge has changed, by the sink or by Spark's counters."""
    if not write.write_mode.needs_key:
        return count
    changes = run.context.changes.get(run.tasks[write.id].identity) or merged(ran)
    if changes is None:
        return count
    several = write.write_mode is WriteMode.SCD2  # a row may end a version and begin one
    seen = changes.inserted + changes.updated + changes.deleted
    return replace(
        count, changes=changes, unchanged=None if several or count.rows is None else max(0, count.rows - seen)
    )


def _written(write: Write, place: Staged) -> tuple[int, int | None] | None:
    """The rows and bytes that the sink has counted itself."""
    return write.connector.written(place) if isinstance(write.connector, SupportsCounts) else None


def _is_computed(node: AnyNode, staged: StagedPipeline) -> bool:
    return not isinstance(node, Write) and node.id in staged.descriptions


def _before_routing(staged: StagedPipeline, plan: Plan, ran: Mapping[str, list[Execution]]) -> Iterator[WriteCount]:
    """Rows that were dropped before a stream was routed to its tables, of each that drops any."""
    for node in plan.nodes():
        if isinstance(node, Shuffle):
            count = WriteCount(f"{node.name} (before its tables)", None, 0)
            count = _with_earlier(count, below(node), staged, ran)
            if count.filtered or count.rejected:
                yield count


def _with_earlier(
    count: WriteCount, nodes: Sequence[AnyNode], staged: StagedPipeline, ran: Mapping[str, list[Execution]]
) -> WriteCount:
    """The count with the rows that were dropped where these nodes were computed."""
    persisted = [ran.get(staged.descriptions[node.id], ()) for node in nodes if _is_computed(node, staged)]
    earlier = [filtered_rows(last) for executions in persisted if (last := last_that_read(executions))]
    if count.filtered is not None and earlier:
        known = [number for number in earlier if number is not None]
        count = replace(count, filtered=count.filtered + sum(known) if len(known) == len(earlier) else None)
    checked = {node.name for node in nodes if isinstance(node, Expect)}
    taken = [
        expectation for expectation in staged.expectations if expectation.node in checked and expectation.rule.takes_out
    ]
    if not taken:
        return count
    rejected = sum({expectation.node: expectation.rejected for expectation in taken}.values())
    filtered = None if count.filtered is None else max(0, count.filtered - rejected)
    return replace(count, rejected=rejected, filtered=filtered)


def _target(write: Write) -> str | None:
    """The target of a write, as the job names it."""
    named = (write.options.get(name) for name in ("path", "table", "topic"))
    return next((redacted_text(text) for text in named if isinstance(text, str)), None)
