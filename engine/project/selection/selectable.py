"""What selectors see of a project: jobs and external sources, and the edges between them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from catalog.options import Value


@dataclass(frozen=True, slots=True)
class Selectable:
    """A job, or a source that no job of the project writes.

    `fqn`: the project, the folders below the job folder, and the name. `file`: relative to the root. `source`: of an
    external source, its group and its name.
    """

    id: str
    fqn: tuple[str, ...]
    file: str = ""
    tags: tuple[str, ...] = ()
    config: Mapping[str, Value] = field(default_factory=dict)
    owner: str | None = None
    source: tuple[str, str] | None = None

    @property
    def package(self) -> str:
        return self.fqn[0]


@dataclass(frozen=True, slots=True)
class Changes:
    """The jobs that another state of the project lacks, and those that mean something else there."""

    new: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SelectableGraph:
    """`parents`: what each node reads from or depends on. `changes`, `results`: what `state:` and `result:` select
    by; None where there is nothing to compare with."""

    root: Path
    nodes: Mapping[str, Selectable]
    parents: Mapping[str, tuple[str, ...]]
    changes: Changes | None = None
    results: Mapping[str, str] | None = None

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {name: [] for name in self.nodes}
        for child, parents in self.parents.items():
            for parent in parents:
                found[parent].append(child)
        return {name: tuple(children) for name, children in found.items()}

    def ancestors(self, ids: Iterable[str], depth: int | None = None) -> frozenset[str]:
        """What the nodes depend on, at most `depth` edges away; the nodes themselves only where one needs the other."""
        return _reached(ids, self.parents, depth)

    def descendants(self, ids: Iterable[str], depth: int | None = None) -> frozenset[str]:
        """What depends on the nodes, at most `depth` edges away."""
        return _reached(ids, self.children, depth)

    def in_order(self, ids: Iterable[str]) -> Iterator[str]:
        """The ids, each after all that it depends on; otherwise in the order of `nodes`."""
        wanted, seen = set(ids), set[str]()
        work: list[tuple[str, bool]] = [(name, False) for name in reversed(tuple(self.nodes))]
        while work:
            name, is_ready = work.pop()
            if is_ready:
                if name in wanted:
                    yield name
            elif name not in seen:
                seen.add(name)
                work.append((name, True))
                work.extend((parent, False) for parent in reversed(self.parents.get(name, ())))


def _reached(ids: Iterable[str], edges: Mapping[str, tuple[str, ...]], depth: int | None) -> frozenset[str]:
    reached: set[str] = set()
    layer = set(ids)
    while layer and (depth is None or depth > 0):
        layer = {other for name in layer for other in edges.get(name, ())} - reached
        reached |= layer
        depth = None if depth is None else depth - 1
    return frozenset(reached)
