"""What `validate` finds in a project: the errors of the jobs that it was asked about, and those between jobs."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from catalog.diagnostics.diagnostic import Diagnostic, JobError
from catalog.diagnostics.source import Span
from engine.job.model.settings import Settings
from engine.project.compile_project import CompiledProject, compile_in_project, compile_project, compile_remembered
from engine.project.enter import ENVIRONMENT_VARIABLE, at_root
from engine.project.project import Project
from engine.project.read_project import read_project
from engine.terminal.report import seen_from
from engine.validation.check_jobs import CheckedJob, check_jobs


def check_in_project(
    project: Project, paths: Sequence[Path], settings: Settings, processes: int | None = None,
    *, is_cached: bool = False,
) -> tuple[CheckedJob, ...]:  # fmt: skip
    """The outcomes of the jobs, and one of the project: what is wrong between one of them and another job. Files that
    are in none of the job folders are checked on their own. `is_cached`: jobs are only compiled where something that
    they rest on has changed; for a process of Penstock's own."""
    compiler = compile_remembered if is_cached else compile_project
    compiled = compiler(project, settings, processes, fingerprints=False)
    jobs = {job.path: job for job in compiled.jobs}
    chosen = [path for path in paths if path in jobs]
    others = check_jobs([path for path in paths if path not in jobs], settings, processes)
    own = [CheckedJob(jobs[path].diagnostics, jobs[path].typed, jobs[path].columns) for path in chosen]
    files = {str(path) for path in chosen}
    return (*own, *others, CheckedJob((*_between(compiled, files), *_of_groups(compiled, files, settings))))


def check_nested(
    root: Path, paths: Sequence[Path], settings: Settings, processes: int | None = None
) -> tuple[CheckedJob, ...]:
    """The same for a project in a folder below the current one; files are named as seen from here."""
    called_from = Path.cwd()
    own = [Path(os.path.relpath(path.absolute(), root)) for path in paths]
    with at_root(root):
        project = read_project(
            Path(), os.environ.get(ENVIRONMENT_VARIABLE), settings.variables, masks=settings.masks,
            allows_outside=settings.allows_outside, limits_process=settings.limits_process,
        )  # fmt: skip
        found = check_in_project(project, own, replace(settings, project=project.defaults), processes)
        seen = (seen_from(job.diagnostics, settings.masks, called_from)[0] for job in found)
        return tuple(replace(job, diagnostics=diagnostics) for job, diagnostics in zip(found, seen, strict=True))


def _between(compiled: CompiledProject, files: set[str]) -> Iterator[Diagnostic]:
    for item in compiled.diagnostics:
        is_of_project = any(span.file == compiled.project.source.path for span in places_of(item))
        if is_of_project or any(span.file in files for span in places_of(item)):
            yield item


def _of_groups(compiled: CompiledProject, files: set[str], settings: Settings) -> Iterator[Diagnostic]:
    """What keeps the groups of the checked jobs from being committed as one."""
    if not compiled.groups:
        return
    from engine.together.group import group_of  # imported here: few projects have groups

    for group in compiled.groups:
        jobs = [compiled.graph.jobs[name] for name in group.jobs]
        if len(jobs) < 2 or any(job.has_errors for job in jobs) or files.isdisjoint(str(job.path) for job in jobs):
            continue
        try:
            group_of(compile_in_project([job.path for job in jobs], settings, compiled.written))
        except JobError as error:
            yield from error.diagnostics


def places_of(item: Diagnostic) -> tuple[Span, ...]:
    """All locations of a diagnostic."""
    return (*(() if item.span is None else (item.span,)), *item.also)
