"""Connectors, found by name: the modules of this package and the entry points of the group `penstock.connectors`.

A module is a connector if it has an object called `connector`, a `Source`, a `Sink` or both. The module's file bears
the connector's name, in lower case, words parted by `_`: `LocalFile` is `local_file.py`; a trailing `_` is for names
that Python keeps (`assert_.py`). So a name leads to its file without a list, and only the module asked for is imported.
A third party's entry point has the connector's name and leads to such an object; the built-in ones win.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from catalog.diagnostics import Diagnostic, InternalError
from connectors.base import Sink, Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "penstock.connectors"


@cache
def source(name: str) -> Source | None:
    """The source of that name, ignoring case; None where there is none."""
    found = _connector(_folded(name))
    return found if isinstance(found, Source) else None


@cache
def sink(name: str) -> Sink | None:
    """The sink of that name, ignoring case; None where there is none."""
    found = _connector(_folded(name))
    return found if isinstance(found, Sink) else None


def names() -> tuple[str, ...]:
    """The names of all connectors, sorted; imports them all."""
    found = (_connector(folded) for folded in {*_modules(), *_entry_points()})
    return tuple(sorted(each.name for each in found if isinstance(each, Source | Sink)))


def source_names() -> tuple[str, ...]:
    return tuple(name for name in names() if source(name))


def sink_names() -> tuple[str, ...]:
    return tuple(name for name in names() if sink(name))


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _connector(folded: str) -> object:
    if module := _modules().get(folded):
        found = getattr(import_module(f"{__name__}.{module}"), "connector", None)
        if found is not None:
            return found
    if point := _entry_points().get(folded):
        return _load(point)
    return None


def _load(point: "EntryPoint") -> object:
    try:
        found = point.load()
    except Exception as cause:
        message = f"the connector `{point.name}` of `{point.value}` cannot be imported: {cause}"
        raise InternalError([Diagnostic("PEN9003", message)]) from cause
    if isinstance(found, Source | Sink):
        return found
    message = f"the entry point `{point.name}` leads to `{point.value}`, which is neither a source nor a sink"
    raise InternalError([Diagnostic("PEN9001", message)])


@cache
def _modules() -> dict[str, str]:
    return {_folded(module.name): module.name for module in iter_modules(__path__) if module.name != "base"}


@cache
def _entry_points() -> dict[str, "EntryPoint"]:
    from importlib.metadata import entry_points  # here, since it takes a tenth of what `validate` may take

    return {_folded(point.name): point for point in entry_points(group=ENTRY_POINT_GROUP)}
