"""A layered drawing of a DAG: boxes in columns from left to right, edges bent around the boxes between.

Sugiyama's steps: layers by the longest path, a dummy box for an edge that passes a layer, order by the mean position of
the neighbours, then heights without overlap.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

GAP_X, GAP_Y, PASSAGE, MARGIN, SWEEPS = 90, 28, 14, 24, 12


@dataclass(frozen=True, slots=True)
class Box:
    """The upper left corner and the size of a box, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawing(Generic[T]):
    """Boxes by node, and for each edge the points that it goes through."""

    boxes: Mapping[T, Box]
    edges: Mapping[tuple[T, T], tuple[tuple[float, float], ...]]
    width: float
    height: float


@dataclass(eq=False)
class _Item:
    """A box, or the dummy of an edge that passes a layer."""

    layer: int
    width: float
    height: float
    y: float = 0.0
    left: "list[_Item]" = field(default_factory=list)
    right: "list[_Item]" = field(default_factory=list)

    @property
    def centre(self) -> float:
        return self.y + self.height / 2


def layout(sizes: Mapping[T, tuple[float, float]], edges: Sequence[tuple[T, T]], gap: float = GAP_X) -> Drawing[T]:
    """Lay out nodes of these sizes; edges lead from left to right, and `sizes` lists nodes before their readers.

    `gap`: pixels between two layers.
    """
    layers_of = _layers(sizes, edges)
    items = {node: _Item(layers_of[node], *size) for node, size in sizes.items()}
    layers: list[list[_Item]] = [[] for _ in range(max(layers_of.values(), default=-1) + 1)]
    for item in items.values():
        layers[item.layer].append(item)
    paths = {edge: _path(items[edge[0]], items[edge[1]], layers) for edge in edges}
    _order(layers)
    _place(layers)
    widths = [max((item.width for item in layer), default=0.0) for layer in layers]
    lefts = [MARGIN + sum(widths[:index]) + gap * index for index in range(len(layers))]
    boxes = {node: Box(lefts[item.layer], item.y, item.width, item.height) for node, item in items.items()}
    points = {edge: tuple(_points(path, lefts, widths)) for edge, path in paths.items()}
    width = (lefts[-1] + widths[-1] if layers else 0) + MARGIN
    height = max((item.y + item.height for layer in layers for item in layer), default=0) + MARGIN
    return Drawing(boxes, points, width, height)


def _layers(sizes: Mapping[T, tuple[float, float]], edges: Sequence[tuple[T, T]]) -> dict[T, int]:
    """The longest way to each node; a source then moves right, next to its first reader."""
    before: dict[T, list[T]] = {node: [] for node in sizes}
    after: dict[T, list[T]] = {node: [] for node in sizes}
    for start, end in edges:
        before[end].append(start)
        after[start].append(end)
    layers: dict[T, int] = {}
    for node in sizes:
        layers[node] = max((layers[input] + 1 for input in before[node]), default=0)
    for node in sizes:
        if not before[node] and after[node]:
            layers[node] = min(layers[reader] for reader in after[node]) - 1
    return layers


def _path(start: _Item, end: _Item, layers: list[list[_Item]]) -> list[_Item]:
    path = [start]
    for layer in range(start.layer + 1, end.layer):
        item = _Item(layer, 0.0, PASSAGE)
        layers[layer].append(item)
        path.append(item)
    path.append(end)
    for here, there in pairwise(path):
        here.right.append(there)
        there.left.append(here)
    return path


def _order(layers: list[list[_Item]]) -> None:
    for layer in layers:
        _stack(layer)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for layer in layers if forward else reversed(layers):
            wanted = {id(item): _mean(item.left if forward else item.right, item) for item in layer}
            layer.sort(key=lambda item: wanted[id(item)])
            _stack(layer)


def _stack(layer: list[_Item]) -> None:
    total = sum(item.height + GAP_Y for item in layer)
    y = -total / 2
    for item in layer:
        item.y = y
        y += item.height + GAP_Y


def _place(layers: list[list[_Item]]) -> None:
    """Move each box as near to the mean of its neighbours as the order of its layer allows."""
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            for item in layer:
                neighbours = [*item.left, *item.right]
                item.y = _mean(neighbours, item) - item.height / 2
            _part(layer)
    top = min((item.y for layer in layers for item in layer), default=0.0)
    for layer in layers:
        for item in layer:
            item.y += MARGIN - top


def _part(layer: list[_Item]) -> None:
    """Push boxes apart that overlap, half of the way each."""
    wanted = [item.y for item in layer]
    for index in range(1, len(layer)):
        above = layer[index - 1]
        layer[index].y = max(layer[index].y, above.y + above.height + GAP_Y)
    shift = sum(item.y - want for item, want in zip(layer, wanted, strict=True)) / max(1, len(layer))
    for item in layer:
        item.y -= shift


def _mean(neighbours: list[_Item], item: _Item) -> float:
    return sum(neighbour.centre for neighbour in neighbours) / len(neighbours) if neighbours else item.centre


def _points(path: list[_Item], lefts: list[float], widths: list[float]) -> list[tuple[float, float]]:
    start, *between, end = path
    points = [(lefts[start.layer] + start.width, start.centre)]
    for item in between:
        points += [(lefts[item.layer], item.centre), (lefts[item.layer] + widths[item.layer], item.centre)]
    return [*points, (lefts[end.layer], end.centre)]
