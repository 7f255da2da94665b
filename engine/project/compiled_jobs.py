"""The jobs of a command, compiled as their project sees them."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from engine.compile import Compiled
from engine.intervals.job_ledgers import CompileAgain
from engine.job.model.settings import Settings
from engine.project.compile_project import (
    compile_in_order,
    compile_in_project,
    compile_project,
    compile_remembered,
    load_job,
)
from engine.project.written_schemas import Written, wanted_datasets


def compiled_jobs(arguments: Namespace, paths: Sequence[Path], settings: Settings) -> tuple[Compiled, ...]:
    """The plans of the jobs; raises a `JobError` with the errors of all of them.

    In a project, sources have the columns that other jobs write; those are only compiled where a source needs them.
    """
    return compile_in_project(paths, settings, written_for(arguments, paths, settings))


def listed_jobs(arguments: Namespace, paths: Sequence[Path], settings: Settings) -> tuple[Compiled, ...]:
    """The plans of jobs that run one after the other; raises as `compiled_jobs`."""
    return compile_in_order(paths, settings, written_for(arguments, paths, settings))


def written_for(arguments: Namespace, paths: Sequence[Path], settings: Settings) -> Written:
    """The columns of the datasets of the project, if one of the jobs needs them."""
    if arguments.project is None or not any(_wants(path, settings) for path in paths):
        return {}
    compiler = compile_remembered if arguments.command in _READERS else compile_project
    return compiler(arguments.project, of_all_jobs(settings), fingerprints=False).written


_READERS: Final = ("explain", "lineage", "state")
"""They read jobs in a process of their own, in which what is read can be watched."""


def recompiler(arguments: Namespace) -> CompileAgain:
    """Compiles jobs again, as their sources are then; the project, which they may need columns of, is compiled once."""
    known: list[Written] = []

    def compile_again(job: Compiled) -> Compiled:
        if not known and _wants(job.path, job.settings):
            known.append(written_for(arguments, [job.path], job.settings))
        return compile_in_project([job.path], job.settings, known[0] if known else {})[0]

    return compile_again


def of_all_jobs(settings: Settings) -> Settings:
    """The settings for compiling what a command does not run: without secrets, and with all tables."""
    return replace(settings, reads_secrets=False, only=(), but=())


def _wants(path: Path, settings: Settings) -> bool:
    job = load_job(path, settings, Diagnostics())
    return job is not None and bool(wanted_datasets(job))
