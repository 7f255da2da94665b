"""Compiles all jobs of a project: those whose sources declare their columns at once, then the others in the order in
which their columns become known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics
from catalog.diagnostics.source import Span
from catalog.tables.table import Column
from engine.compile import Compiled, compile_loaded, strict
from engine.job.bounded import Surroundings, of_folder
from engine.job.find import find_jobs
from engine.job.load import load, read_file
from engine.job.model.job import Job
from engine.job.model.settings import Settings
from engine.plan.datasets import Dataset
from engine.project.contracts import contract_errors
from engine.project.job_graph import JobGraph, job_graph
from engine.project.left_schemas import left_schemas
from engine.project.project import Project
from engine.project.project_job import ProjectJob, project_job, waiting
from engine.project.publish_groups import PublishGroup, publish_groups
from engine.project.written_schemas import BlockDataset, Written, wanted_datasets, with_written_schemas
from engine.remembered.job_cache import Given, JobCache, has_secrets, recorded_settings
from engine.remembered.recorded_reads import Read, RecordedReads, recorded_reads
from engine.validation.job_workers import JobWorkers, Kept, Work


@dataclass(frozen=True, eq=False, slots=True)
class CompiledProject:
    """The jobs in the order of their files, their graph, and the columns of what they write.

    `diagnostics`: what is wrong between jobs; what is wrong in one is in `ProjectJob.diagnostics`. `groups`: the jobs
    that are published together.
    """

    project: Project
    jobs: tuple[ProjectJob, ...]
    graph: JobGraph
    written: Written
    diagnostics: tuple[Diagnostic, ...]
    groups: tuple[PublishGroup, ...] = ()

    def all_diagnostics(self) -> tuple[Diagnostic, ...]:
        return (*(item for job in self.jobs for item in job.diagnostics), *self.diagnostics)


_Recorded: TypeAlias = tuple[ProjectJob, frozenset[Read] | None]


def compile_project(
    project: Project, settings: Settings, processes: int | None = None,
    *, fingerprints: bool = True, cache: JobCache | None = None,
) -> CompiledProject:  # fmt: skip
    """Every job of the project, in the environment of `settings`. Errors are in the result; none is raised.
    `fingerprints`: whether those of the jobs are needed. `cache`: gives jobs that were compiled before, and gets the
    others."""
    paths = find_jobs(project.job_folders, Diagnostics())
    return compile_jobs_of(project, paths, settings, processes, fingerprints=fingerprints, cache=cache)


def compile_remembered(
    project: Project, settings: Settings, processes: int | None = None, *, fingerprints: bool
) -> CompiledProject:
    """The same, with what earlier commands have kept of jobs that have not changed: for a process of Penstock's own."""
    given = (project.source.text, project.job_folders)
    cache = JobCache.of(project.root, settings, given, kind="fingerprints" if fingerprints else "")
    compiled = compile_project(project, settings, processes, fingerprints=fingerprints, cache=cache)
    if cache is not None:
        cache.save()
    return compiled


def compile_jobs_of(
    project: Project, paths: Sequence[Path], settings: Settings, processes: int | None = None,
    *, fingerprints: bool = True, cache: JobCache | None = None,
) -> CompiledProject:  # fmt: skip
    """The same for these files as the jobs of the project."""
    found, written = Diagnostics(), dict[Dataset, tuple[Column, ...]]()
    with JobWorkers(settings, processes) as workers:
        work = partial(_step, fingerprints=fingerprints, is_recorded=cache is not None)
        steps = _Steps(project, workers, work, cache)
        jobs = steps.first(paths)
        steps.others(jobs, written)
    graph = job_graph(project, tuple(jobs.values()), found)
    found.extend(contract_errors(graph))
    jobs = {path: _with_writers(job, graph, settings) for path, job in jobs.items()}
    graph = replace(graph, jobs={name: jobs[job.path] for name, job in graph.jobs.items()})
    groups = publish_groups(graph, found)
    return CompiledProject(project, tuple(jobs.values()), graph, written, tuple(found), groups)


def compile_in_project(paths: Iterable[Path], settings: Settings, written: Written) -> tuple[Compiled, ...]:
    """The plans of jobs with the columns of what others write. Raises a `JobError` with the errors of all of them."""
    diagnostics = Diagnostics()
    compiled = [compile_with(path, settings, written, diagnostics) for path in paths]
    diagnostics.raise_errors()
    return tuple(job for job in compiled if job)


def compile_in_order(paths: Iterable[Path], settings: Settings, written: Written) -> tuple[Compiled, ...]:
    """The plans of jobs that run one after the other: each reads what those before it will have left. Raises a
    `JobError` with the errors of all of them."""
    diagnostics, compiled = Diagnostics(), list[Compiled]()
    left: Written = {}
    for path in paths:
        if (found := compile_with(path, settings, written, diagnostics, left)) is not None:
            compiled.append(found)
            left = left_schemas(found.built, left)
    diagnostics.raise_errors()
    return tuple(compiled)


def compile_with(
    path: Path, settings: Settings, written: Written, diagnostics: Diagnostics, left: Written | None = None
) -> Compiled | None:
    """The plan of a job with the columns of what others write, and of what jobs before it leave; None if it has an
    error."""
    job = load_job(path, settings, diagnostics)
    return compile_loaded(with_written_schemas(job, written, left), settings, diagnostics) if job else None


def load_job(path: Path, settings: Settings, diagnostics: Diagnostics) -> Job | None:
    """The job of a file; None if its text cannot be read at all."""
    source = read_file(path, diagnostics, settings.read, allows_outside=settings.allows_outside)
    return load(source, diagnostics, settings) if source else None


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A job that waits for columns: what was found while it was read, with which settings, and what it rests on."""

    job: Job
    found: tuple[Diagnostic, ...]
    settings: Settings
    reads: RecordedReads
    wanted: tuple[BlockDataset, ...]
    around: Surroundings


def _step(
    path: Path, given: Given | None, settings: Settings, kept: Kept, *, fingerprints: bool, is_recorded: bool
) -> _Recorded:
    """The job, read once: first, `given` is None, and it is compiled if its sources declare their columns; else with
    columns that others write. `is_recorded`: with what was read for it; None where that is not all, and of a job with
    errors or secrets."""
    loaded: _Loaded | None = kept.pop(path, None)
    own = loaded.settings if loaded else recorded_settings(settings) if is_recorded else settings
    found, before = Diagnostics(), loaded.around if loaded else None
    with recorded_reads() if is_recorded else nullcontext(RecordedReads()) as reads, of_folder(path, before) as around:
        job = loaded.job if loaded else load_job(path, own, found)
        wanted = loaded.wanted if loaded else wanted_datasets(job) if job else ()
        if loaded:
            found.extend(loaded.found)
            reads.add_all(loaded.reads)
        if given is None and job and wanted:
            kept[path] = _Loaded(job, tuple(found), own, reads, wanted, around)
            compiled = None
        else:
            columns = {dataset: known for dataset, known in (given or {}).items() if known is not None}
            completed = with_written_schemas(job, columns) if job and columns else job
            compiled = compile_loaded(completed, own, found) if completed else None
        result = project_job(path, job, compiled, tuple(found), wanted, fingerprints=fingerprints)
    if not is_recorded:
        return result, None
    settings.masks.merge(own.masks)
    is_known = reads.is_whole and not result.has_errors and not has_secrets(own, settings)
    return result, frozenset(reads.reads) if is_known else None


@dataclass(frozen=True, slots=True)
class _Steps:
    """Compiles the jobs of a project that have changed, each in the process that has read it."""

    project: Project
    workers: JobWorkers
    work: Work[_Recorded]
    cache: JobCache | None
    outlined: set[Path] = field(default_factory=set)

    def first(self, paths: Sequence[Path]) -> dict[Path, ProjectJob]:
        """The jobs in the order of their files; compiled, if their sources declare their columns. Of those that are
        remembered with columns of others, an outline: most of them are not needed without."""
        known = dict[Path, ProjectJob]()
        if self.cache is not None:
            for path in paths:
                if isinstance(job := self.cache.given_before(path), ProjectJob):
                    known[path] = waiting(job)
                    self.outlined.add(path)
        known |= self.whole([path for path in paths if path not in known])
        return {path: known[path] for path in paths}

    def whole(self, paths: Sequence[Path]) -> dict[Path, ProjectJob]:
        """These jobs, as they are without columns of others."""
        cache, known = self.cache, dict[Path, ProjectJob]()
        if cache is not None:
            known = {path: job for path in paths if isinstance(job := cache.first(path), ProjectJob)}
        for job, reads in self.workers.each(self.work, [(path, None) for path in paths if path not in known]):
            known[job.path] = job
            if cache is not None and reads is not None:
                cache.remember_first(job.path, job, reads)
        return {path: _of_folder(self.project, job) for path, job in known.items()}

    def others(self, jobs: dict[Path, ProjectJob], written: dict[Dataset, tuple[Column, ...]]) -> None:
        """Compiles those that wait for columns, once these are known. Fills `written`."""
        _add_written(written, jobs.values())
        failed = {target.dataset for job in jobs.values() if job.has_errors for target in job.targets}
        for wave in _waves(jobs):
            able = [path for path in wave if failed.isdisjoint(place.dataset.folder for place in jobs[path].wanted)]
            jobs |= self.second([jobs[path] for path in able], written)
            unable = self.outlined.difference(able)
            jobs |= self.whole([path for path in wave if path in unable])
            _add_written(written, (jobs[path] for path in able))
            for path in wave:
                if not jobs[path].is_compiled:  # it has errors, or needs the columns of one that has
                    failed.update(target.dataset for target in jobs[path].targets)

    def second(self, jobs: Sequence[ProjectJob], written: Written) -> dict[Path, ProjectJob]:
        """The jobs with columns of others, of which none writes what another one reads."""
        known, items = dict[Path, ProjectJob](), list[tuple[Path, Given]]()
        for first in jobs:
            given: Given = {place.dataset.folder: written.get(place.dataset.folder) for place in first.wanted}
            found = self.cache.second(first.path, given) if self.cache is not None else None
            if isinstance(found, ProjectJob):
                known[first.path] = found
            else:
                items.append((first.path, given))
        for (path, given), (job, reads) in zip(items, self.workers.each(self.work, items), strict=True):
            known[path] = job
            if self.cache is not None and reads is not None:
                self.cache.remember_second(path, job, reads, given)
        return {path: _of_folder(self.project, job) for path, job in known.items()}


def _with_writers(job: ProjectJob, graph: JobGraph, settings: Settings) -> ProjectJob:
    """The job with its diagnostics as the project sees them: files that another job writes need not be there yet, and a
    column that a source lacks is missing where it is written, too."""
    read = {read.path_span for read in graph.reads_of(job.name)}
    written = {
        f"`{place.name}`": spans for place in job.wanted if (spans := tuple(graph.write_spans(place.dataset.folder)))
    }
    kept = (item for item in job.diagnostics if not (item.code in ("PEN4002", "PEN4030") and item.span in read))
    found = tuple(_with_also(item, written) if item.code == "PEN3004" else item for item in kept)
    found = tuple(strict(item, settings) for item in found)
    return job if found == job.diagnostics else replace(job, diagnostics=found)


def _with_also(item: Diagnostic, written: Mapping[str, tuple[Span, ...]]) -> Diagnostic:
    spans = [span for name, spans in written.items() if name in item.message for span in spans]
    return replace(item, also=(*item.also, *spans)) if spans else item


def _of_folder(project: Project, job: ProjectJob) -> ProjectJob:
    """The job with what the folders above it have."""
    folder = project.settings_of(job.path.as_posix())
    return replace(job, tags=tuple(dict.fromkeys((*folder.tags, *job.tags))), owner=job.owner or folder.owner)


def _add_written(written: dict[Dataset, tuple[Column, ...]], jobs: Iterable[ProjectJob]) -> None:
    """Of several writers of one dataset, the first counts: others that fit have equal columns."""
    for job in jobs:
        for write in job.writes:
            if write.columns:
                written.setdefault(write.dataset, write.columns)


def _waves(jobs: Mapping[Path, ProjectJob]) -> Sequence[Sequence[Path]]:
    """The jobs that wait for columns: those of a wave read only what jobs of earlier ones write, unless in a cycle."""
    writers = _writers(jobs)
    waves: list[list[Path]] = []
    numbers: dict[Path, int] = {}
    for path in _in_order(jobs, writers):
        if jobs[path].wanted:
            number = max((numbers.get(writer, -1) + 1 for writer in _before(jobs[path], writers)), default=0)
            numbers[path] = number
            waves.extend([] for _ in range(len(waves), number + 1))
            waves[number].append(path)
    return waves


_Writers: TypeAlias = Mapping[Dataset | None, Sequence[Path]]
"""The jobs by what they write; under None, those that only know it once they are compiled."""


def _writers(jobs: Mapping[Path, ProjectJob]) -> _Writers:
    writers: dict[Dataset | None, list[Path]] = {}
    for job in jobs.values():
        if job.has_open_targets:
            writers.setdefault(None, []).append(job.path)
        for target in job.targets:
            writers.setdefault(target.dataset, []).append(job.path)
    return writers


def _before(job: ProjectJob, writers: _Writers) -> Iterator[Path]:
    """The jobs that write what it waits for, or may."""
    for place in job.wanted:
        yield from writers.get(place.dataset.folder) or writers.get(None, ())


def _in_order(jobs: Mapping[Path, ProjectJob], writers: _Writers) -> Sequence[Path]:
    """The jobs that wait for columns, each after those that write them; in a cycle, as they come."""
    order: dict[Path, None] = {}
    seen: set[Path] = set()
    work = [(path, False) for path in reversed([job.path for job in jobs.values() if job.wanted])]
    while work:
        path, is_ready = work.pop()
        if is_ready:
            order[path] = None
        elif path not in seen:
            seen.add(path)
            work.append((path, True))
            work.extend((writer, False) for writer in _before(jobs[path], writers))
    return tuple(order)
