"""The groups of `penstock.conf` whose jobs are published together, and what keeps them from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from catalog.diagnostics.diagnostic import Diagnostic, Diagnostics, JobError
from catalog.diagnostics.source import Span
from engine.project.job_graph import JobGraph, jobs_in_order
from engine.project.selection.select_jobs import select


@dataclass(frozen=True, slots=True)
class PublishGroup:
    """`jobs`: by their names, each after those that it needs."""

    name: str
    jobs: tuple[str, ...]
    span: Span


def publish_groups(graph: JobGraph, diagnostics: Diagnostics) -> tuple[PublishGroup, ...]:
    """The groups of the project. A selection that cannot be made, a job in two groups, and a name that a job has
    (PEN1664), and jobs that come between those of a group (PEN1665) go to `diagnostics`."""
    groups: list[PublishGroup] = []
    for name, declared in graph.project.groups.items():
        try:
            chosen = select(declared.selection, graph.selectable(), graph.project.selectors)
        except JobError as error:
            diagnostics.extend(replace(item, span=item.span or declared.span) for item in error.diagnostics)
            continue
        jobs = tuple(job.name for job in jobs_in_order(graph, chosen))
        if name in graph.jobs:
            message = f"the group `{name}` has the name of a job"
            diagnostics.error("PEN1664", message, declared.span, "rename the group: its runs are recorded by its name")
        groups.append(PublishGroup(name, jobs, declared.span))
    diagnostics.extend(_in_two(groups))
    diagnostics.extend(_between(graph, groups))
    return tuple(groups)


def units_of(
    names: Sequence[str], groups: Iterable[PublishGroup], parents: Mapping[str, frozenset[str]]
) -> dict[str, tuple[str, ...]]:
    """What runs as one: a group by its name, if several of the named jobs are in it, else a job; each after those that
    it needs. `parents`: all jobs that each one needs."""
    wanted = set(names)
    of_job = {name: name for name in names}
    for group in groups:
        members = [job for job in group.jobs if job in wanted]
        of_job.update(dict.fromkeys(members, group.name) if len(members) > 1 else {})
    units: dict[str, list[str]] = {}
    for name in names:
        units.setdefault(of_job[name], []).append(name)
    if len(units) == len(names):
        return {name: (name,) for name in names}
    needed = {
        unit: {of_job[parent] for job in jobs for parent in parents[job] if parent in wanted} - {unit}
        for unit, jobs in units.items()
    }
    return {unit: tuple(units[unit]) for unit in _in_order(needed)}


def _in_order(needed: Mapping[str, set[str]]) -> Iterator[str]:
    done: set[str] = set()
    while len(done) < len(needed):
        ready = [unit for unit, before in needed.items() if unit not in done and before <= done]
        assert ready, "the groups were checked"
        done.update(ready)
        yield from ready


def _in_two(groups: Iterable[PublishGroup]) -> Iterator[Diagnostic]:
    first: dict[str, PublishGroup] = {}
    for group in groups:
        for job in group.jobs:
            other = first.setdefault(job, group)
            if other is not group:
                message = f"the job `{job}` is in the groups `{other.name}` and `{group.name}`: it can commit with one"
                yield Diagnostic("PEN1664", message, group.span, "select it in one of them", also=(other.span,))


def _between(graph: JobGraph, groups: Sequence[PublishGroup]) -> Iterator[Diagnostic]:
    """Report what a group needs, and what needs it: it would have to run before the group and after it."""
    of_job = {job: group.name for group in groups for job in group.jobs}
    needed: dict[str, set[str]] = {}
    for edge in graph.edges:
        reader, writer = of_job.get(edge.reader, edge.reader), of_job.get(edge.writer, edge.writer)
        if reader != writer:
            needed.setdefault(reader, set()).add(writer)
    for group in groups:
        before = _reached(group.name, needed)
        if group.name not in before:
            continue
        between = sorted(unit for unit in before - {group.name} if group.name in _reached(unit, needed))
        listed = ", ".join(f"`{unit}`" for unit in between)
        message = f"outside of the group `{group.name}`, {listed} must run between its jobs"
        spans = tuple(span for unit in between if unit in graph.jobs and (span := _span(graph, unit)) is not None)
        yield Diagnostic("PEN1665", message, group.span, "select all of them for the group", also=spans)


def _span(graph: JobGraph, name: str) -> Span | None:
    return next((edge.span for edge in graph.edges_of.get(name, ()) if edge.span is not None), None)


def _reached(unit: str, needed: Mapping[str, set[str]]) -> set[str]:
    """All that a unit needs; itself only in a cycle."""
    found: set[str] = set()
    work = [unit]
    while work:
        new = needed.get(work.pop(), set()) - found
        found |= new
        work.extend(new)
    return found
