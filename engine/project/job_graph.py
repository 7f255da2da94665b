"""The graph of a project's jobs: what they read and write connects them, and `depends_on` adds to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, did_you_mean
from catalog.diagnostics.source import Span
from engine.plan.datasets import Dataset, shown
from engine.project.project import Project
from engine.project.project_job import ProjectJob, ReadDataset, WrittenDataset
from engine.project.selection.selectable import Changes, Selectable, SelectableGraph


@dataclass(frozen=True, slots=True)
class Edge:
    """`reader` reads what `writer` writes; without a dataset, it only runs after it."""

    writer: str
    reader: str
    write: WrittenDataset | None = None
    read: ReadDataset | None = None
    span: Span | None = None


@dataclass(frozen=True, eq=False)
class JobGraph:
    """`jobs` by name, in the order of their files; `sources`: the datasets that no job writes, with their readers."""

    project: Project
    jobs: Mapping[str, ProjectJob]
    edges: tuple[Edge, ...]
    sources: Mapping[str, tuple[ReadDataset, tuple[str, ...]]]

    @cached_property
    def edges_of(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges by their reader."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.reader, []).append(edge)
        return {name: tuple(edges) for name, edges in found.items()}

    @cached_property
    def writes(self) -> Mapping[Dataset, tuple[WrittenDataset, ...]]:
        found: dict[Dataset, list[WrittenDataset]] = {}
        for job in self.jobs.values():
            for write in job.writes:
                found.setdefault(write.dataset, []).append(write)
        return {dataset: tuple(writes) for dataset, writes in found.items()}

    def write_spans(self, dataset: Dataset) -> Iterator[Span]:
        """Where the dataset is written."""
        for write in self.writes.get(dataset, ()):
            if write.span is not None:
                yield write.span

    def reads_of(self, name: str) -> Iterator[ReadDataset]:
        """What the job reads of other jobs."""
        return (edge.read for edge in self.edges_of.get(name, ()) if edge.read is not None)

    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """The jobs and sources that each job needs."""
        found: dict[str, dict[str, None]] = {name: {} for name in self.jobs}
        for edge in self.edges:
            found[edge.reader][edge.writer] = None
        for source, (_, readers) in self.sources.items():
            for reader in readers:
                found[reader][source] = None
        return {name: tuple(parents) for name, parents in found.items()}

    def selectable(self, changes: Changes | None = None, results: Mapping[str, str] | None = None) -> SelectableGraph:
        """What selections choose from: the jobs, and the sources that none of them writes."""
        nodes = {name: _selectable(self.project, name, job) for name, job in self.jobs.items()}
        package = self.project.name
        for key, (read, _) in self.sources.items():
            group = read.connector.lower()
            nodes[key] = Selectable(key, (package, group, read.name), source=(group, read.name))
        return SelectableGraph(self.project.root, nodes, self.parents(), changes, results)


def _selectable(project: Project, name: str, job: ProjectJob) -> Selectable:
    file = job.path.as_posix()
    return Selectable(name, project.fqn(file), file, job.tags, job.config, job.owner)


def job_graph(project: Project, jobs: Sequence[ProjectJob], diagnostics: Diagnostics) -> JobGraph:
    """The graph; equal names, two writers of one dataset, unknown dependencies and cycles go to `diagnostics`."""
    named = _named(jobs, diagnostics)
    writers = _Writers(named)
    diagnostics.extend(_competing(writers))
    edges: dict[tuple[str, str, Dataset | None], Edge] = {}
    sources: dict[str, tuple[ReadDataset, tuple[str, ...]]] = {}
    for name, job in named.items():
        for read in job.reads:
            found = [(writer, write) for writer, write in writers.of(read.dataset) if writer != name]
            for writer, write in found:
                edges[writer, name, write.dataset] = Edge(writer, name, write, read, read.span)
            if not found:
                key = f"source {read.dataset}"
                first, readers = sources.get(key, (read, ()))
                sources[key] = (first, (*readers, name))
        for edge in _dependencies(name, job, named, diagnostics):
            edges[edge.writer, name, None] = edge
    graph = JobGraph(project, named, tuple(edges.values()), sources)
    diagnostics.extend(_cycles(graph))
    return graph


def _named(jobs: Sequence[ProjectJob], diagnostics: Diagnostics) -> dict[str, ProjectJob]:
    """The jobs by name; a second one of a name is an error, and left out. So is one that would share the first one's
    runs and watermarks."""
    found: dict[str, ProjectJob] = {}
    recorded: dict[str, ProjectJob] = {}
    for job in jobs:
        if (other := found.get(job.name)) is not None:
            diagnostics.items.append(
                Diagnostic(
                    "PEN2707", f"`{other.path}` and `{job.path}` are both the job `{job.name}`", job.job_name_span,
                    "rename one of the files: a job's name is that of its file", also=_spans(other.job_name_span),
                )
            )  # fmt: skip
            continue
        found[job.name] = job
        first = recorded.setdefault(job.job_name, job) if job.job_name else job
        if first is not job:
            message = f"two jobs have the `job.name` `{job.job_name}`: they would share watermarks and runs"
            also = _spans(first.job_name_span)
            diagnostics.items.append(Diagnostic("PEN2707", message, job.job_name_span, "rename one", also=also))
    return found


def _spans(span: Span | None) -> tuple[Span, ...]:
    return () if span is None else (span,)


class _Writers:
    """Finds the writers of a dataset, of one that it is in, or of one that is in it."""

    def __init__(self, jobs: Mapping[str, ProjectJob]) -> None:
        self.by_dataset: dict[Dataset, list[tuple[str, WrittenDataset]]] = {}
        self.inside: dict[Dataset, list[tuple[str, WrittenDataset]]] = {}
        self.known: dict[Dataset, tuple[tuple[str, WrittenDataset], ...]] = {}
        for name, job in jobs.items():
            for write in job.writes:
                for part in _parts(write.dataset):
                    self.by_dataset.setdefault(part, []).append((name, write))
                    for above in part.and_above():
                        if above != part:
                            self.inside.setdefault(above, []).append((name, write))

    def of(self, dataset: Dataset) -> Sequence[tuple[str, WrittenDataset]]:
        if dataset not in self.known:
            self.known[dataset] = tuple(self._of(dataset))
        return self.known[dataset]

    def _of(self, dataset: Dataset) -> Iterator[tuple[str, WrittenDataset]]:
        for part in _parts(dataset):
            for above in part.folder.and_above():
                yield from self.by_dataset.get(above, ())
            yield from self.inside.get(part.folder, ())


def _parts(dataset: Dataset) -> Iterator[Dataset]:
    """The dataset; of several topics, each."""
    if dataset.namespace.startswith("kafka://"):
        yield from (replace(dataset, name=name) for name in dataset.name.split(","))
    else:
        yield dataset


def _competing(writers: _Writers) -> Iterator[Diagnostic]:
    for dataset, found in writers.by_dataset.items():
        by_job = dict(found)
        if len(by_job) > 1 and not _are_compatible(list(by_job.values())):
            (_, first), *others = by_job.items()
            for name, write in others:
                yield Diagnostic(
                    "PEN2708", f"`{name}` and `{next(iter(by_job))}` both write `{shown(dataset)}`, and one would "
                    "replace the rows of the other", write.span,
                    "let both append or upsert, let each replace a part of its own (`replace_where`), or write to "
                    "another dataset", also=_spans(first.span),
                )  # fmt: skip


def _are_compatible(writes: Sequence[WrittenDataset]) -> bool:
    """Whether none replaces rows, or each a part that no other one names."""
    replacing = [write for write in writes if write.replaces]
    parts = [write.part for write in replacing]
    is_partial = all(part is not None for part in parts) and len(replacing) == len(writes)
    return not replacing or (is_partial and (len(set(parts)) == len(parts) or set(parts) == {"overwrite_partitions"}))


def _dependencies(
    name: str, job: ProjectJob, jobs: Mapping[str, ProjectJob], diagnostics: Diagnostics
) -> Iterator[Edge]:
    for dependency in job.depends_on:
        if dependency.name in jobs and dependency.name != name:
            yield Edge(dependency.name, name, span=dependency.span)
            continue
        message = f"`{name}` depends on `{dependency.name}`, which is no other job of the project"
        diagnostics.error("PEN2709", message, dependency.span, did_you_mean(dependency.name, jobs.keys() - {name}))


def _cycles(graph: JobGraph) -> Iterator[Diagnostic]:
    """One error for each group of jobs that need each other, at every edge of one of its cycles."""
    edges: dict[str, dict[str, Edge]] = {name: {} for name in graph.jobs}
    for edge in graph.edges:
        edges[edge.reader].setdefault(edge.writer, edge)
    done: set[str] = set()
    for start in graph.jobs:
        path: dict[str, None] = {}
        work: list[tuple[str, Iterator[str]]] = []
        if start not in done:
            path[start] = None
            work.append((start, iter(edges[start])))
        while work:
            name, parents = work[-1]
            parent = next(parents, None)
            if parent is None:
                work.pop()
                path.pop(name)
                done.add(name)
            elif parent in path:
                names = list(path)
                yield _cycle([*names[names.index(parent) :], parent], edges)
                done.update(path)
            elif parent not in done:
                path[parent] = None
                work.append((parent, iter(edges[parent])))


def _cycle(names: Sequence[str], edges: Mapping[str, Mapping[str, Edge]]) -> Diagnostic:
    """`names`: each job after the one that needs it, the first one again at the end."""
    used = [edges[reader][writer] for reader, writer in pairwise(names)]
    spans = [edge.span for edge in used if edge.span is not None]
    text = " -> ".join(f"`{name}`" for name in reversed(names))
    return Diagnostic(
        "PEN2706", f"these jobs form a cycle: {text}", spans[0] if spans else None, "change what one of them reads",
        also=tuple(spans[1:]),
    )  # fmt: skip


def jobs_in_order(graph: JobGraph, names: Iterable[str]) -> tuple[ProjectJob, ...]:
    """The named jobs, each after those that it needs."""
    return tuple(graph.jobs[name] for name in graph.selectable().in_order(names) if name in graph.jobs)
