"""The jobs that a command works on: those that `--select` chooses, else those named, else all of the project."""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace

from catalog.diagnostics.diagnostic import Diagnostic, Severity, did_you_mean
from engine.job.model.settings import Settings
from engine.project.compile_project import CompiledProject, compile_remembered
from engine.project.compiled_jobs import of_all_jobs
from engine.project.enter import needs_project
from engine.project.job_graph import JobGraph, jobs_in_order
from engine.project.project_job import ProjectJob
from engine.project.recorded_state import RecordedState, read_state
from engine.project.revision import state_at
from engine.project.selection.parse_selection import (
    Criterion,
    Selection,
    Without,
    parse_arguments,
    parse_selection,
)
from engine.project.selection.select_jobs import select, unmatched
from engine.project.selection.selectable import SelectableGraph
from engine.state.layout import StateLayout, layout_at
from engine.terminal.report import report


def selected_jobs(arguments: Namespace, settings: Settings) -> tuple[JobGraph, tuple[ProjectJob, ...]]:
    """The graph of the project and the selected jobs, each after those that it needs."""
    compiled = compile_remembered(needs_project(arguments), of_all_jobs(settings), fingerprints=True)
    return compiled.graph, chosen_jobs(arguments, compiled, of_all_jobs(settings))


def chosen_jobs(arguments: Namespace, compiled: CompiledProject, settings: Settings) -> tuple[ProjectJob, ...]:
    selection = parse_arguments(_flat(arguments.select), _flat(arguments.exclude) or ())
    if arguments.selector is not None:
        named = Criterion("selector", (), arguments.selector)
        selection = replace(selection, chosen=named) if isinstance(selection, Without) else named
    graph = compiled.graph
    state = _state(arguments, compiled, settings) if _asks(arguments, compiled, "state") else None
    last = read_state(_layout(arguments, compiled)) if _asks(arguments, compiled, "result") else None
    changes = None if state is None else state.changes(graph.jobs.values())
    results = None if last is None else last.results
    selectable, selectors = graph.selectable(changes, results), compiled.project.selectors
    report(_unmatched(arguments, selectable, selectors), arguments.masks, getattr(arguments, "format", "text"))
    return jobs_in_order(graph, select(selection, selectable, selectors))


def _unmatched(
    arguments: Namespace, graph: SelectableGraph, selectors: Mapping[str, Selection]
) -> tuple[Diagnostic, ...]:
    """Warnings (PEN5425) of what the command line selects in vain."""
    texts = [*(_flat(arguments.select) or ()), *(_flat(arguments.exclude) or ())]
    found = unmatched(parse_selection(texts), graph, selectors) if texts else ()
    return tuple(
        Diagnostic("PEN5425", f"`{_text(each)}` matches no job", None, _meant(each, graph), Severity.WARNING)
        for each in found
    )


def _text(criterion: Criterion) -> str:
    method = ".".join((criterion.method, *criterion.arguments))
    return criterion.value if method == "fqn" else f"{method}:{criterion.value}"


def _meant(criterion: Criterion, graph: SelectableGraph) -> str | None:
    """What a criterion that matches nothing may have meant."""
    if criterion.method == "fqn" and "*" in criterion.value:
        in_folders = replace(criterion, value=f"*.{criterion.value}")
        return None if any(unmatched(in_folders, graph)) else f"`{in_folders.value}` matches jobs in folders, too"
    tags = sorted({tag for node in graph.nodes.values() for tag in node.tags})
    known = {"fqn": [node.fqn[-1] for node in graph.nodes.values()], "tag": tags}
    return did_you_mean(criterion.value, known.get(criterion.method, ()))


def _asks(arguments: Namespace, compiled: CompiledProject, method: str) -> bool:
    """Whether a selection mentions the method; named selectors may."""
    texts = [*(_flat(arguments.select) or ()), *(_flat(arguments.exclude) or ())]
    return bool(compiled.project.selectors) or any(f"{method}:" in text for text in texts)


def _layout(arguments: Namespace, compiled: CompiledProject) -> StateLayout:
    return layout_at(None, arguments.state or getattr(arguments, "state_dir", None) or compiled.project.state_dir)


def _state(arguments: Namespace, compiled: CompiledProject, settings: Settings) -> RecordedState | None:
    """What `state:` compares with: a git revision, else what the state directory last ran."""
    if arguments.against is not None:
        return state_at(compiled.project, arguments.against, settings)
    return read_state(_layout(arguments, compiled))


def _flat(texts: list[list[str]] | None) -> list[str] | None:
    return None if not texts else [text for listed in texts for text in listed]
