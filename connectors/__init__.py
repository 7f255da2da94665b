"""Connectors, found by name (`catalog.plugins`): modules with an object called `connector`, a `Source`, a `Sink` or
both, and the entry points of the group `penstock.connectors`."""

from functools import lru_cache
from typing import TYPE_CHECKING

from catalog.plugins import Plugins
from connectors.interface.sink import AnySink, Sink
from connectors.interface.source import Source

if TYPE_CHECKING:
    from typing_extensions import TypeIs


@lru_cache(maxsize=256)
def source(name: str) -> Source | None:
    """The source of that name, ignoring case; None if there is none."""
    found = plugins.get(name)
    return found if isinstance(found, Source) else None


@lru_cache(maxsize=256)
def sink(name: str) -> AnySink | None:
    """The sink of that name, ignoring case; None if there is none."""
    found = plugins.get(name)
    return found if isinstance(found, Sink) else None


def names() -> tuple[str, ...]:
    """The names of all connectors, sorted; imports them all."""
    return tuple(sorted(plugin.name for plugin in plugins.all()))


def source_names() -> tuple[str, ...]:
    return tuple(name for name in names() if source(name))


def sink_names() -> tuple[str, ...]:
    return tuple(name for name in names() if sink(name))


def forget() -> None:
    """Look again for what was found so far: other distributions may have been installed."""
    plugins.forget()
    source.cache_clear()
    sink.cache_clear()


def _is_connector(found: object) -> "TypeIs[Source | AnySink]":
    return isinstance(found, Source | Sink)


plugins: Plugins[Source | AnySink] = Plugins(
    "connector", __name__, __path__, "penstock.connectors", _is_connector, families=("http_services",)
)
