"""The changes of a project against another state of it: jobs, columns, who reads them, and what must be rebuilt."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from catalog.diagnostics.source import Span
from catalog.tables.evolution import Change, ChangeKind, diff
from catalog.tables.table import Column, TableSchema
from catalog.types.typetext import parse_type
from engine.plan.datasets import shown
from engine.project.job_graph import JobGraph
from engine.project.project_job import ProjectJob
from engine.project.recorded_state import RecordedColumn, RecordedJob, RecordedState


class JobChangeKind(str, Enum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """A job that uses a changed column, and where it names the dataset."""

    job: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    dataset: str
    change: Change
    readers: tuple[ColumnReader, ...]

    @property
    def is_breaking(self) -> bool:
        """Whether a job that uses the column, or a reader outside of the project, may fail."""
        return self.change.is_breaking


@dataclass(frozen=True, slots=True)
class JobChange:
    """A job that is new, gone or means something else. `datasets`: what it newly writes, or writes no more; `moved`:
    what it writes no more, with the job that has begun to."""

    name: str
    path: str
    kind: JobChangeKind
    columns: tuple[ColumnChange, ...] = ()
    added_datasets: tuple[str, ...] = ()
    removed_datasets: tuple[str, ...] = ()
    moved_datasets: tuple[tuple[str, str], ...] = ()

    @property
    def is_breaking(self) -> bool:
        is_read = bool(self.removed_datasets) or (self.kind is JobChangeKind.REMOVED and not self.moved_datasets)
        return is_read or any(column.is_breaking for column in self.columns)


@dataclass(frozen=True, slots=True)
class PlanOfChanges:
    """`rebuilds`: the jobs that are to run again, in order: those that changed, and what depends on them."""

    jobs: tuple[JobChange, ...]
    rebuilds: tuple[str, ...]

    @property
    def is_breaking(self) -> bool:
        return any(job.is_breaking for job in self.jobs)


def plan_of_changes(before: RecordedState, graph: JobGraph) -> PlanOfChanges:
    """What changed from `before` to the project as it is."""
    changes = before.changes(graph.jobs.values())
    differing = changes.new | changes.modified
    new = _new_writers(before, graph)
    found = [_change(before.jobs.get(name), graph.jobs[name], graph, new) for name in graph.jobs if name in differing]
    gone = [_gone(name, job, graph, new) for name, job in before.jobs.items() if name not in graph.jobs]
    selectable = graph.selectable()
    again = differing | selectable.descendants(differing)
    return PlanOfChanges((*found, *gone), tuple(name for name in selectable.in_order(again) if name in graph.jobs))


_NewWriters: TypeAlias = Mapping[str, ProjectJob]
"""The jobs that write a dataset which they did not write before, by it."""


def _new_writers(before: RecordedState, graph: JobGraph) -> _NewWriters:
    known = {name: job.writes for name, job in before.jobs.items()}
    return {
        shown(write.dataset): job
        for name, job in graph.jobs.items()
        for write in job.writes
        if shown(write.dataset) not in known.get(name, ())
    }


def _gone(name: str, job: RecordedJob, graph: JobGraph, new: _NewWriters) -> JobChange:
    """A job that is not there any more; what another one has begun to write is compared with what it wrote."""
    columns, moved, removed = _left(job, tuple(job.writes), graph, new)
    return JobChange(name, job.path, JobChangeKind.REMOVED, columns, removed_datasets=removed, moved_datasets=moved)


def _left(
    before: RecordedJob, datasets: tuple[str, ...], graph: JobGraph, new: _NewWriters
) -> tuple[tuple[ColumnChange, ...], tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Of what a job writes no more: changed columns, what another job has begun to write, and what none writes."""
    moved = tuple((dataset, new[dataset].name) for dataset in datasets if dataset in new)
    columns = tuple(
        change
        for dataset, _ in moved
        for write in new[dataset].writes
        if shown(write.dataset) == dataset
        for change in _columns(dataset, before, {dataset: write.columns}, graph)
    )
    return columns, moved, tuple(dataset for dataset in datasets if dataset not in new)


def _change(before: RecordedJob | None, job: ProjectJob, graph: JobGraph, new: _NewWriters) -> JobChange:
    now = {shown(write.dataset): write.columns for write in job.writes}
    path = job.path.as_posix()
    if before is None:
        return JobChange(job.name, path, JobChangeKind.ADDED, added_datasets=tuple(now))
    columns = tuple(change for name in now if name in before.writes for change in _columns(name, before, now, graph))
    added = tuple(name for name in now if name not in before.writes)
    of_others, moved, removed = _left(before, tuple(name for name in before.writes if name not in now), graph, new)
    return JobChange(job.name, path, JobChangeKind.CHANGED, (*columns, *of_others), added, removed, moved)


def _columns(
    dataset: str, before: RecordedJob, now: Mapping[str, tuple[Column, ...]], graph: JobGraph
) -> Iterator[ColumnChange]:
    if not now[dataset]:  # the job has an error
        return
    for change in diff(TableSchema(tuple(map(_column, before.writes[dataset]))), TableSchema(now[dataset])):
        readers = () if change.kind is ChangeKind.ADDED else tuple(_readers(dataset, change.column, graph))
        yield ColumnChange(dataset, change, readers)


def _column(recorded: RecordedColumn) -> Column:
    return Column(recorded.name, parse_type(recorded.type), recorded.nullable)


def _readers(dataset: str, column: str, graph: JobGraph) -> Iterator[ColumnReader]:
    """The jobs that use the column, and those that do not compile any more."""
    name = column.partition(".")[0].lower()
    for edge in graph.edges:
        if edge.read is None or edge.write is None or shown(edge.write.dataset) != dataset:
            continue
        if name in edge.read.used or not edge.read.columns:
            yield ColumnReader(edge.reader, edge.read.span)
