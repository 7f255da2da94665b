"""The jobs that a command works on: those that `--select` chooses, else those named, else all of the project."""

from argparse import Namespace
from dataclasses import replace

from engine.job.model.settings import Settings
from engine.project.compile_project import CompiledProject, compile_project
from engine.project.compiled_jobs import of_all_jobs
from engine.project.enter import needs_project
from engine.project.job_graph import JobGraph, jobs_in_order
from engine.project.project_job import ProjectJob
from engine.project.selection.parse_selection import Criterion, Without, parse_arguments
from engine.project.selection.select_jobs import select


def selected_jobs(arguments: Namespace, settings: Settings) -> tuple[JobGraph, tuple[ProjectJob, ...]]:
    """The graph of the project and the selected jobs, each after those that it needs."""
    compiled = compile_project(needs_project(arguments), of_all_jobs(settings))
    return compiled.graph, chosen_jobs(arguments, compiled)


def chosen_jobs(arguments: Namespace, compiled: CompiledProject) -> tuple[ProjectJob, ...]:
    selection = parse_arguments(_flat(arguments.select), _flat(arguments.exclude) or ())
    if arguments.selector is not None:
        named = Criterion("selector", (), arguments.selector)
        selection = replace(selection, chosen=named) if isinstance(selection, Without) else named
    graph = compiled.graph
    return jobs_in_order(graph, select(selection, graph.selectable(), compiled.project.selectors))


def _flat(texts: list[list[str]] | None) -> list[str] | None:
    return None if not texts else [text for listed in texts for text in listed]
