"""Selection + graph -> ids. What each method matches is dbt's meaning of it, held against dbt-core in
`tests/engine/project/test_dbt_selection.py`."""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Final

from catalog.diagnostics.diagnostic import did_you_mean, job_error
from catalog.exhaustive import assert_never
from catalog.options import Value
from engine.project.selection.parse_selection import AllOf, AnyOf, Criterion, Selection, Without
from engine.project.selection.selectable import Selectable, SelectableGraph

STATES: Final = ("new", "old", "modified", "unmodified")


def select(
    selection: Selection, graph: SelectableGraph, selectors: Mapping[str, Selection] | None = None
) -> frozenset[str]:
    """The ids of the selected jobs and sources; raises a `JobError` PEN2701 or PEN2702."""
    return _Selector(graph, selectors or {}, ()).select(selection)


def unmatched(
    selection: Selection, graph: SelectableGraph, selectors: Mapping[str, Selection] | None = None
) -> Iterator[Criterion]:
    """The criteria that match no job and no source, though they name one; raises as `select` does."""
    match selection:
        case Criterion(method="state" | "result"):
            return
        case Criterion():
            if not any(True for _ in _Selector(graph, selectors or {}, ()).matching(selection)):
                yield selection
        case AnyOf(parts) | AllOf(parts):
            for part in parts:
                yield from unmatched(part, graph, selectors)
        case Without(chosen, excluded):
            yield from unmatched(chosen, graph, selectors)
            yield from unmatched(excluded, graph, selectors)
        case _:
            assert_never(selection)


class _Selector:
    """Evaluates selections; `within` names the selectors that are being evaluated."""

    def __init__(self, graph: SelectableGraph, selectors: Mapping[str, Selection], within: tuple[str, ...]) -> None:
        self.graph = graph
        self.selectors = selectors
        self.within = within

    def select(self, selection: Selection) -> frozenset[str]:
        match selection:
            case Criterion():
                return self.with_relatives(selection, frozenset(self.matching(selection)))
            case AnyOf(parts):
                return frozenset().union(*map(self.select, parts))
            case AllOf(parts):
                return frozenset.intersection(*map(self.select, parts)) if parts else frozenset()
            case Without(chosen, excluded):
                return self.select(chosen) - self.select(excluded)
            case _:
                assert_never(selection)

    def with_relatives(self, criterion: Criterion, ids: frozenset[str]) -> frozenset[str]:
        graph, result = self.graph, ids
        if criterion.takes_childrens_parents:
            below = graph.descendants(ids) | ids
            result |= below | graph.ancestors(below)
        if criterion.takes_parents:
            result |= graph.ancestors(ids, criterion.parents_depth)
        if criterion.takes_children:
            result |= graph.descendants(ids, criterion.children_depth)
        return result

    def matching(self, criterion: Criterion) -> Iterator[str]:
        match criterion.method:
            case "selector":
                yield from self.named(criterion.value)
            case "path":
                yield from _in_paths(self.graph, criterion.value)
            case "state":
                yield from self.of_state(criterion.value)
            case "result":
                yield from self.of_result(criterion.value)
            case method:
                matches = _MATCHES[method]
                yield from (node.id for node in self.graph.nodes.values() if matches(node, criterion))

    def named(self, name: str) -> frozenset[str]:
        if name not in self.selectors:
            raise job_error("PEN2701", f"there is no selector `{name}`", None, did_you_mean(name, self.selectors))
        if name in self.within:
            cycle = " -> ".join(f"`{one}`" for one in (*self.within[self.within.index(name) :], name))
            raise job_error("PEN2701", f"the selector `{name}` refers to itself: {cycle}")
        return _Selector(self.graph, self.selectors, (*self.within, name)).select(self.selectors[name])

    def of_state(self, value: str) -> frozenset[str]:
        if value not in STATES:
            raise job_error("PEN2701", f"there is no state `{value}`", None, did_you_mean(value, STATES))
        changes = self.graph.changes
        if changes is None:
            help = "`--against REV` compares with a git revision, `--state DIR` with what a state directory last ran"
            raise job_error("PEN2702", f"`state:{value}` has nothing to compare with", None, help)
        every, differing = frozenset(self.graph.nodes), changes.new | changes.modified
        sets = {"new": changes.new, "old": every - changes.new, "modified": differing, "unmodified": every - differing}
        return sets[value]

    def of_result(self, value: str) -> Iterator[str]:
        if self.graph.results is None:
            help = "run the project first; `--state DIR` names another state directory"
            raise job_error("PEN2702", f"`result:{value}` has no earlier run to ask", None, help)
        return (name for name, result in self.graph.results.items() if result == value and name in self.graph.nodes)


def _has_name(node: Selectable, criterion: Criterion) -> bool:
    if node.source is not None:
        return False
    return _fits(node.fqn, criterion.value) or _fits(node.fqn[1:], criterion.value)


def _fits(fqn: tuple[str, ...], value: str) -> bool:
    """Whether the value is the name, or the beginning of the qualified name; after a wildcard, a pattern of all of the
    rest."""
    if fqn and fqn[-1] == value:
        return True
    flat, parts = ".".join(fqn).split("."), value.split(".")
    if len(flat) < len(parts):
        return False
    for index, (name, part) in enumerate(zip(flat, parts, strict=False)):
        if any(wildcard in part for wildcard in "*?[]"):
            return fnmatch(".".join(flat[index:]), ".".join(parts[index:]))
        if name != part:
            return False
    return True


def _has_source(node: Selectable, criterion: Criterion) -> bool:
    parts = criterion.value.split(".")
    if len(parts) > 3:
        help = "`GROUP`, `GROUP.SOURCE` or `PROJECT.GROUP.SOURCE`"
        raise job_error("PEN2701", f"`source:{criterion.value}` has more than three parts", None, help)
    package, group, table = ("*", *parts, "*") if len(parts) == 1 else ("*", *parts) if len(parts) == 2 else parts
    if node.source is None:
        return False
    return fnmatch(node.package, package) and fnmatch(node.source[0], group) and fnmatch(node.source[1], table)


def _has_file(node: Selectable, criterion: Criterion) -> bool:
    path = PurePath(node.file)
    return fnmatch(path.name, criterion.value) or fnmatch(path.stem, criterion.value)


def _has_tag(node: Selectable, criterion: Criterion) -> bool:
    return any(fnmatch(tag, criterion.value) for tag in node.tags)


def _has_owner(node: Selectable, criterion: Criterion) -> bool:
    return node.owner is not None and fnmatch(node.owner, criterion.value)


def _has_package(node: Selectable, criterion: Criterion) -> bool:
    return criterion.value == "this" or fnmatch(node.package, criterion.value)


def _has_config(node: Selectable, criterion: Criterion) -> bool:
    value: Value = node.config
    for name in criterion.arguments:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    listed = list(value) if isinstance(value, list | tuple) else [value]
    return any(_equals(item, criterion.value) for item in listed)


def _equals(value: Value, text: str) -> bool:
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    return value == text or (isinstance(value, int | float) and str(value) == text)


_MATCHES: Final[Mapping[str, Callable[[Selectable, Criterion], bool]]] = {
    "fqn": _has_name,
    "source": _has_source,
    "file": _has_file,
    "tag": _has_tag,
    "owner": _has_owner,
    "package": _has_package,
    "config": _has_config,
}


def _in_paths(graph: SelectableGraph, value: str) -> Iterator[str]:
    """The nodes whose file, or a folder above it, the path or glob names; relative to the root."""
    pattern = value.removeprefix("./")
    if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        raise job_error("PEN2701", f"`path:{value}` is not below the project's root", None, "such as `path:jobs/marts`")
    paths = {path.relative_to(graph.root) for path in graph.root.glob(pattern)}
    for node in graph.nodes.values():
        file = Path(node.file)
        if node.file and (file in paths or any(parent in paths for parent in file.parents)):
            yield node.id
