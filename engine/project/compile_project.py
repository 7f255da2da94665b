"""Compiles all jobs of a project: those whose sources declare their columns at once, then the others in the order in
which their columns become known.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics
from catalog.diagnostics.source import Span
from catalog.tables.table import Column
from engine.compile import Compiled, compile_loaded, strict
from engine.job.bounded import of_folder
from engine.job.find import find_jobs
from engine.job.load import load, read_file
from engine.job.model.job import Job
from engine.job.model.settings import Settings
from engine.plan.datasets import Dataset
from engine.project.contracts import contract_errors
from engine.project.job_graph import JobGraph, job_graph
from engine.project.left_schemas import left_schemas
from engine.project.project import Project
from engine.project.project_job import ProjectJob, project_job
from engine.project.publish_groups import PublishGroup, publish_groups
from engine.project.written_schemas import Written, wanted_datasets, with_written_schemas
from engine.remembered.job_cache import JobCache, has_secrets, recorded_settings
from engine.remembered.recorded_reads import Read, recorded_reads
from engine.validation.check_jobs import each_job


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


def compile_jobs_of(
    project: Project, paths: Sequence[Path], settings: Settings, processes: int | None = None,
    *, fingerprints: bool = True, cache: JobCache | None = None,
) -> CompiledProject:  # fmt: skip
    """The same for these files as the jobs of the project."""
    found = Diagnostics()
    work = partial(_first, fingerprints=fingerprints)
    first = (
        each_job(paths, settings, work, processes)
        if cache is None
        else _first_of_cache(paths, settings, processes, cache)
    )
    jobs = {job.path: _of_folder(project, job) for job in first}
    written: dict[Dataset, tuple[Column, ...]] = {}
    _add_written(written, jobs.values())
    failed = {target.dataset for job in jobs.values() if job.has_errors for target in job.targets}
    for path in _in_order(jobs):
        if failed.isdisjoint(place.dataset.folder for place in jobs[path].wanted):
            if cache is None:
                job = _second(path, settings, written, fingerprints=fingerprints)
            else:
                job = _second_of_cache(jobs[path], settings, written, cache)
            jobs[path] = _of_folder(project, job)
            _add_written(written, [jobs[path]])
        if not jobs[path].is_compiled:  # it has errors, or needs the columns of one that has
            failed.update(target.dataset for target in jobs[path].targets)
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


def _first(path: Path, settings: Settings, *, fingerprints: bool) -> ProjectJob:
    """The job, compiled if its sources declare their columns."""
    found = Diagnostics()
    with of_folder(path):
        job = load_job(path, settings, found)
        wanted = wanted_datasets(job) if job else ()
        compiled = compile_loaded(job, settings, found) if job and not wanted else None
    return project_job(path, job, compiled, tuple(found), fingerprints=fingerprints)


def _first_of_cache(
    paths: Sequence[Path], settings: Settings, processes: int | None, cache: JobCache
) -> tuple[ProjectJob, ...]:
    """The jobs as `_first` compiles them, of those that have changed."""
    known = {path: job for path in paths if isinstance(job := cache.first(path), ProjectJob)}
    others = [path for path in paths if path not in known]
    for job, reads in each_job(others, settings, _first_recorded, processes):
        known[job.path] = job
        if reads is not None:
            cache.remember_first(job.path, job, reads)
    return tuple(known[path] for path in paths)


def _second_of_cache(first: ProjectJob, settings: Settings, written: Written, cache: JobCache) -> ProjectJob:
    given = {place.dataset.folder: written.get(place.dataset.folder) for place in first.wanted}
    if isinstance(known := cache.second(first.path, given), ProjectJob):
        return known
    job, reads = _recorded(settings, lambda own: _second(first.path, own, written, fingerprints=False))
    if reads is not None:
        cache.remember_second(job.path, job, reads, given)
    return job


def _first_recorded(path: Path, settings: Settings) -> _Recorded:
    return _recorded(settings, lambda own: _first(path, own, fingerprints=False))


def _recorded(settings: Settings, compiled: Callable[[Settings], ProjectJob]) -> _Recorded:
    """The job, and what was read for it; None where that is not all, and of a job with errors or secrets."""
    own = recorded_settings(settings)
    with recorded_reads() as reads:
        job = compiled(own)
    settings.masks.merge(own.masks)
    is_known = reads.is_whole and not job.has_errors and not has_secrets(own, settings)
    return job, frozenset(reads.reads) if is_known else None


def _second(path: Path, settings: Settings, written: Written, *, fingerprints: bool) -> ProjectJob:
    found = Diagnostics()
    with of_folder(path):
        job = load_job(path, settings, found)
        assert job is not None, "it was loaded before"
        compiled = compile_loaded(with_written_schemas(job, written), settings, found)
    return project_job(path, job, compiled, tuple(found), fingerprints=fingerprints)


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


def _in_order(jobs: Mapping[Path, ProjectJob]) -> Sequence[Path]:
    """The jobs that wait for columns, each after those that write them; in a cycle, as they come."""
    writers: dict[Dataset, list[Path]] = {}
    for job in jobs.values():
        for target in job.targets:
            writers.setdefault(target.dataset, []).append(job.path)
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
            wanted = (place.dataset.folder for place in jobs[path].wanted)
            before = (writer for dataset in wanted for writer in writers.get(dataset, ()))
            work.extend((writer, False) for writer in before)
    return tuple(order)
