"""Transforms, found by name: the modules of this package and the entry points of the group `penstock.transforms`.

A module is a transform if it has an object called `transform`. The module's file bears the transform's name, in lower
case, words parted by `_`: `FieldMapper` is `field_mapper.py`; a trailing `_` keeps a file's name apart from that of
another module (`copy_.py`, `sql_.py`). A third party's entry point has the transform's name and leads to such an
object; the built-in ones win.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from catalog.diagnostics import Diagnostic, InternalError
from engine.transforms.base import QueryTransform, TableTransform, Transform

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "penstock.transforms"


def transform(name: str) -> Transform | None:
    """The transform of that name, ignoring case; None where there is none."""
    return _transform(_folded(name))


def names() -> tuple[str, ...]:
    """The names of all transforms, sorted; imports them all."""
    found = (_transform(folded) for folded in {*_modules(), *_entry_points()})
    return tuple(sorted(each.name for each in found if each))


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


@cache
def _transform(folded: str) -> Transform | None:
    if module := _modules().get(folded):
        found = getattr(import_module(f"{__name__}.{module}"), "transform", None)
        if isinstance(found, TableTransform | QueryTransform):
            return found
    if point := _entry_points().get(folded):
        return _load(point)
    return None


def _load(point: "EntryPoint") -> Transform:
    try:
        found = point.load()
    except Exception as cause:
        message = f"the transform `{point.name}` of `{point.value}` cannot be imported: {cause}"
        raise InternalError([Diagnostic("PEN9003", message)]) from cause
    if isinstance(found, TableTransform | QueryTransform):
        return found
    message = f"the entry point `{point.name}` leads to `{point.value}`, which is no transform"
    raise InternalError([Diagnostic("PEN9001", message)])


@cache
def _modules() -> dict[str, str]:
    return {_folded(module.name): module.name for module in iter_modules(__path__) if module.name != "base"}


@cache
def _entry_points() -> dict[str, "EntryPoint"]:
    from importlib.metadata import entry_points  # here, since it takes a tenth of what `validate` may take

    return {_folded(point.name): point for point in entry_points(group=ENTRY_POINT_GROUP)}
