"""Commits staged writes; writes that a sink can commit together share one transaction."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from connectors.interface.run_context import RunContext
from connectors.interface.sink import AnySink
from connectors.interface.sink_abilities import PendingCommit, SupportsGroupCommit
from connectors.shared.staged import Staged

Pending: TypeAlias = dict[str, PendingCommit]
"""Started commits, by the id of the first write of their group."""


@dataclass(frozen=True, eq=False, slots=True)
class StagedWrite:
    """A write to commit."""

    write_id: str
    sink: AnySink
    staged: Staged


def commit_groups(writes: Iterable[StagedWrite]) -> Iterator[tuple[StagedWrite, ...]]:
    """The writes in the order of the job; those of one group follow its first write."""
    groups: dict[tuple[str, str], list[StagedWrite]] = {}
    for write in writes:
        sink = write.sink
        group = sink.commit_group(write.staged) if isinstance(sink, SupportsGroupCommit) else None
        key = ("write", write.write_id) if group is None else (sink.name, group)
        groups.setdefault(key, []).append(write)
    return (tuple(group) for group in groups.values())


def begin_commit(spark: SparkSession, group: tuple[StagedWrite, ...], run: RunContext, pending: Pending) -> None:
    """Do the steps that the target may refuse; a commit that then only needs its last step goes into `pending`."""
    sink = group[0].sink
    if not isinstance(sink, SupportsGroupCommit):
        return
    begun = sink.begin_commit(spark, [write.staged for write in group], run)
    if begun is not None:
        pending[group[0].write_id] = begun


def cancel(pending: Pending) -> None:
    for begun in pending.values():
        begun.cancel()
    pending.clear()


def finishing_first(groups: Iterable[tuple[StagedWrite, ...]], pending: Pending) -> list[tuple[StagedWrite, ...]]:
    """The groups, started ones first."""
    return sorted(groups, key=lambda group: group[0].write_id not in pending)


def commit_group(
    spark: SparkSession | Any,
    group: tuple[StagedWrite, ...],
    run: RunContext,
    committed: Callable[[str], None],
    pending: Pending | None = None,
) -> None:
    """Commit one group and record each of its writes; if it raises, a later process commits the rest."""
    sink = group[0].sink
    pending = {} if pending is None else pending
    try:
        run.check_claim()
        if begun := pending.pop(group[0].write_id, None):
            begun.finish()
        if len(group) == 1 or not isinstance(sink, SupportsGroupCommit):
            sink.commit(spark, group[0].staged, run)
        else:
            sink.commit_all(spark, [write.staged for write in group], run)
    except BaseException:
        cancel(pending)
        raise
    for write in group:
        committed(write.write_id)
