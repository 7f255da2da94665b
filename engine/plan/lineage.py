"""Which source columns each column of a plan comes from, through every node between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from catalog.exhaustive import assert_never
from engine.plan.nodes import AnyNode, Expect, Native, Plan, Query, Rejects, Scan, Shuffle, Union, Watermark, Write
from sql.analyze import Dependency

DIRECT = (Dependency.IDENTITY, Dependency.TRANSFORMATION, Dependency.AGGREGATION)
_RANK = {dependency: rank for rank, dependency in enumerate(Dependency)}


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A source column that an output column depends on, and how: the step that is furthest from identity."""

    scan: str
    column: str
    dependency: Dependency

    @property
    def is_direct(self) -> bool:
        return self.dependency in DIRECT


SourceColumns = Mapping[str, tuple[SourceColumn, ...]]
"""Column (lower case) -> its source columns."""


def lineage(plan: Plan) -> Mapping[AnyNode, SourceColumns]:
    """The origins of every column of every node of the plan, in one walk."""
    by_node: dict[AnyNode, SourceColumns] = {}
    for node in plan.nodes():
        by_node[node] = {name: _distinct(origin) for name, origin in _origins(node, by_node).items()}
    return by_node


def _distinct(origins: list[SourceColumn]) -> tuple[SourceColumn, ...]:
    """Every source column once as a direct origin and once as an indirect one, in the nearest way."""
    first: dict[tuple[str, str, bool], SourceColumn] = {}
    for nearest in sorted(origins, key=lambda origin: _RANK[origin.dependency]):
        first.setdefault((nearest.scan, nearest.column.lower(), nearest.is_direct), nearest)
    return tuple(first.values())


def _origins(node: AnyNode, by_node: Mapping[AnyNode, SourceColumns]) -> dict[str, list[SourceColumn]]:
    match node:
        case Scan():
            return {
                c.name.lower(): [SourceColumn(node.written_name, c.name, Dependency.IDENTITY)]
                for c in node.table.columns
            }
        case Query():
            return _of_query(node, by_node)
        case Union():
            merged: dict[str, list[SourceColumn]] = {}
            for input in node.inputs:
                for name, origins in by_node[input].items():
                    merged.setdefault(name, []).extend(origins)
            return merged
        case Native():
            below = {name: list(origins) for name, origins in by_node[node.input].items()}
            everything = [
                replace(origin, dependency=max(origin.dependency, Dependency.TRANSFORMATION, key=_RANK.__getitem__))
                for origins in below.values()
                for origin in origins
            ]
            return {name.lower(): below.get(name.lower(), everything) for name in node.table.schema.names}
        case Expect() | Rejects() | Watermark() | Shuffle() | Write():
            return {name: list(origins) for name, origins in by_node[node.input].items()}
        case _:
            assert_never(node)


def _of_query(node: Query, by_node: Mapping[AnyNode, SourceColumns]) -> dict[str, list[SourceColumn]]:
    inputs = {input.name.lower(): by_node[input.node] for input in node.inputs}
    result: dict[str, list[SourceColumn]] = {column.name.lower(): [] for column in node.table.columns}
    for step in node.analysis.lineage:
        below = inputs.get(step.input.lower(), {}).get(step.column.lower(), ())
        for origin in below:
            further = max(origin.dependency, step.dependency, key=_RANK.__getitem__)
            for name in result if step.output is None else (step.output.lower(),):
                result.setdefault(name, []).append(SourceColumn(origin.scan, origin.column, further))
    return result


def readers(plan: Plan, scan: Scan, column: str) -> Iterator[tuple[Write, str, Dependency]]:
    """The columns of the writes that depend on a column of a scan."""
    by_node = lineage(plan)
    for write in plan.writes:
        for name in write.table.schema.names:
            for origin in by_node[write].get(name.lower(), ()):
                if origin.scan == scan.written_name and origin.column.lower() == column.lower():
                    yield write, name, origin.dependency
