"""The changes of a project against another state of it: jobs, columns, who reads them, and what must be rebuilt."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

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
    """A job that is new, gone or means something else. `datasets`: what it newly writes, or writes no more."""

    name: str
    path: str
    kind: JobChangeKind
    columns: tuple[ColumnChange, ...] = ()
    added_datasets: tuple[str, ...] = ()
    removed_datasets: tuple[str, ...] = ()

    @property
    def is_breaking(self) -> bool:
        is_read = self.kind is JobChangeKind.REMOVED or bool(self.removed_datasets)
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
    found = [_change(before.jobs.get(name), graph.jobs[name], graph) for name in graph.jobs if name in differing]
    gone = [
        JobChange(name, job.path, JobChangeKind.REMOVED, removed_datasets=tuple(job.writes))
        for name, job in before.jobs.items()
        if name not in graph.jobs
    ]
    selectable = graph.selectable()
    again = differing | selectable.descendants(differing)
    return PlanOfChanges((*found, *gone), tuple(name for name in selectable.in_order(again) if name in graph.jobs))


def _change(before: RecordedJob | None, job: ProjectJob, graph: JobGraph) -> JobChange:
    now = {shown(write.dataset): write.columns for write in job.writes}
    path = job.path.as_posix()
    if before is None:
        return JobChange(job.name, path, JobChangeKind.ADDED, added_datasets=tuple(now))
    columns = tuple(change for name in now if name in before.writes for change in _columns(name, before, now, graph))
    added = tuple(name for name in now if name not in before.writes)
    removed = tuple(name for name in before.writes if name not in now)
    return JobChange(job.name, path, JobChangeKind.CHANGED, columns, added, removed)


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
