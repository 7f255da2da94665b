"""Plugins found by name: modules of a package, and entry points of other distributions.

A module is a plugin if it has an object called as the kind of plugin is (`connector`, `transform`). The module's file
bears the plugin's name, in lower case, words parted by `_`: `LocalFile` is `local_file.py`; a trailing `_` keeps a
file's name apart from one that Python or another module has (`assert_.py`, `copy_.py`). So a name leads to its file
without a list, and only the module asked for is imported. A third party's entry point has the plugin's name and leads
to such an object; the package's own ones win.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Generic, TypeVar

from catalog.diagnostics import Diagnostic, InternalError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from typing_extensions import TypeIs

T = TypeVar("T")


class Plugins(Generic[T]):
    """The plugins of one kind, those of `package` (its modules are at `path`) and of an entry-point group."""

    def __init__(
        self, kind: str, package: str, path: Iterable[str], group: str, accepts: "Callable[[object], TypeIs[T]]"
    ) -> None:
        self.kind = kind
        self.package = package
        self.path = path
        self.group = group
        self.accepts = accepts
        self.found: dict[str, T | None] = {}

    def get(self, name: str) -> T | None:
        """The plugin of that name, ignoring case and `_`; None where there is none.

        Raises `InternalError`: PEN9003 where an entry point cannot be imported, PEN9001 where it leads elsewhere.
        """
        folded = _folded(name)
        if folded not in self.found:
            self.found[folded] = self._own(folded) or self._foreign(folded)
        return self.found[folded]

    def all(self) -> tuple[T, ...]:
        """Every plugin; imports them all."""
        found = (self.get(folded) for folded in {*self._modules, *self._entry_points})
        return tuple(plugin for plugin in found if plugin is not None)

    def forget(self) -> None:
        """Look anew for what was found so far: other distributions may have been installed."""
        self.found.clear()
        self.__dict__.pop("_entry_points", None)

    def _own(self, folded: str) -> T | None:
        module = self._modules.get(folded)
        found = getattr(import_module(f"{self.package}.{module}"), self.kind, None) if module else None
        return found if self.accepts(found) else None

    def _foreign(self, folded: str) -> T | None:
        point = self._entry_points.get(folded)
        if point is None:
            return None
        try:
            found = point.load()
        except Exception as cause:
            message = f"the {self.kind} `{point.name}` of `{point.value}` cannot be imported: {cause}"
            raise InternalError([Diagnostic("PEN9003", message)]) from cause
        if self.accepts(found):
            return found
        message = f"the entry point `{point.name}` leads to `{point.value}`, which is no {self.kind}"
        raise InternalError([Diagnostic("PEN9001", message)])

    @cached_property
    def _modules(self) -> dict[str, str]:
        return {_folded(module.name): module.name for module in iter_modules(self.path) if not module.ispkg}

    @cached_property
    def _entry_points(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # here, since it takes a tenth of what `validate` may take

        return {_folded(point.name): point for point in entry_points(group=self.group)}


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
