"""Checks many jobs, on several cores if it pays off."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, PenstockError
from catalog.diagnostics.unexpected_errors import unexpected_error
from engine.compile import compile_job, typed_columns
from engine.job.model.settings import Settings
from engine.validation.job_workers import JobWorkers, Kept, Work


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """What was found in one job; of its columns, how many have a proved type and how many there are."""

    diagnostics: tuple[Diagnostic, ...]
    typed: int = 0
    columns: int = 0


def check_jobs(paths: Sequence[Path], settings: Settings, processes: int | None = None) -> tuple[CheckedJob, ...]:
    """The outcomes in the order of `paths`; `processes`: None for as many as the jobs and the machine call for."""
    work: Work[CheckedJob] = _check
    with JobWorkers(settings, processes) as workers:
        return workers.each(work, [(path, None) for path in paths])


def _check(path: Path, _: None, settings: Settings, _kept: Kept) -> CheckedJob:
    diagnostics = Diagnostics()
    try:
        compiled = compile_job(path, settings, diagnostics)
        typed, columns = typed_columns(compiled.built) if compiled else (0, 0)
    except PenstockError as error:  # of this job: the others are reported all the same
        return CheckedJob((*diagnostics, *error.diagnostics))
    except Exception as error:  # noqa: BLE001 (a bug in Penstock, met in this job)
        return CheckedJob((*diagnostics, unexpected_error(error, where=path.as_posix())))
    return CheckedJob(tuple(diagnostics), typed, columns)
