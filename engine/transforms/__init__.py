"""Transforms, found by name (`catalog.plugins`): modules with an object called `transform`, and the entry points of the
group `penstock.transforms`."""

from typing import TYPE_CHECKING

from catalog.plugins import Plugins
from engine.transforms.base import (
    NativeTransform,
    QueryTransform,
    RouteTransform,
    SetTransform,
    TableTransform,
    Transform,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def transform(name: str) -> Transform | None:
    """The transform of that name, ignoring case; None if there is none."""
    return plugins.get(name)


def names() -> tuple[str, ...]:
    """The names of all transforms, sorted; imports them all."""
    return tuple(sorted(plugin.name for plugin in plugins.all()))


def _is_transform(found: object) -> "TypeIs[Transform]":
    return isinstance(found, TableTransform | QueryTransform | NativeTransform | SetTransform | RouteTransform)


plugins: Plugins[Transform] = Plugins(
    "transform", __name__, __path__, "penstock.transforms", _is_transform, families=("extraction", "native", "tables")
)
