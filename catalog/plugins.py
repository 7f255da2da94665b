"""Plugins found by name: modules of a package, and entry points of other distributions.

A module is a plugin if it has an object named after the kind of plugin (`connector`, `transform`). Its file has the
plugin's name in snake case: `LocalFile` is in `local_file.py`. A larger plugin is a package of that name, whose
entry is a module named after the kind: `Delta` is in `delta/connector.py`. A trailing `_` avoids a name that Python
or another module uses (`filter_.py`, `copy_.py`). The name alone leads to the file, so only the
requested module is imported. An entry point of a third party has the plugin's name and refers to such an
object; the package's own plugins take precedence.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from catalog.diagnostics.diagnostic import Diagnostic, InternalError
from catalog.limits import LimitError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from typing_extensions import TypeIs

T = TypeVar("T")


_INCOMPLETE: Final = "docs/extending.md shows what such a class must have"


class IncompletePluginError(TypeError):
    """A plugin's class lacks methods or attributes that it must have, or has methods that cannot be called.

    `misfits`: how a method is written, by how it is called.
    """

    def __init__(self, kind: type, missing: Iterable[str], misfits: Mapping[str, str]) -> None:
        lacking = ", ".join(f"`{name}`" for name in missing)
        problems = [f"lacks {lacking}"] if lacking else []
        problems += [f"has `{written}`, which is called as `{called}`" for called, written in misfits.items()]
        super().__init__(f"the class `{kind.__name__}` {'; it '.join(problems)}")


class Plugins(Generic[T]):
    """The plugins of one kind, those of `package` (its modules are at `path`) and of an entry-point group.

    `families`: the sub-packages whose modules are plugins, too.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        path: Iterable[str],
        group: str,
        accepts: "Callable[[object], TypeIs[T]]",
        *,
        families: Collection[str] = (),
    ) -> None:
        self.kind = kind
        self.package = package
        self.path = path
        self.group = group
        self.accepts = accepts
        self.families = families
        self.found: dict[str, T] = {}

    def get(self, name: str) -> T | None:
        """The plugin of that name, ignoring case and `_`; None if there is none.

        Raises `InternalError`: PEN9003 if a plugin cannot be imported, PEN9001 if it is incomplete or an entry
        point leads elsewhere.
        """
        folded = _folded(name)
        if folded not in self.found:
            found = self._own(folded) or self._foreign(folded)
            if found is None:  # a name of a user's: remembered, such names would pile up
                return None
            self.found[folded] = found
        return self.found[folded]

    def all(self) -> tuple[T, ...]:
        """Every plugin; imports them all."""
        found = (self.get(folded) for folded in {*self._modules, *self._entry_points})
        return tuple(plugin for plugin in found if plugin is not None)

    def forget(self) -> None:
        """Forget cached look-ups: other distributions may have been installed."""
        self.found.clear()
        self.__dict__.pop("_entry_points", None)

    def _own(self, folded: str) -> T | None:
        module = self._modules.get(folded)
        if module is None:
            return None
        place = f"{self.package}.{module}"
        found = getattr(self._imported(module, place, partial(import_module, place)), self.kind, None)
        if found is None or self.accepts(found):
            return found
        raise self._not_one(f"`{place}.{self.kind}` is not a {self.kind}", f"{place}.{self.kind}", found)

    def _foreign(self, folded: str) -> T | None:
        point = self._entry_points.get(folded)
        if point is None:
            return None
        found = self._imported(point.name, point.value, point.load)
        if self.accepts(found):
            return found
        message = f"the entry point `{point.name}` leads to `{point.value}`, which is not a {self.kind}"
        raise self._not_one(message, point.value, found)

    @staticmethod
    def _not_one(message: str, place: str, found: object) -> InternalError:
        help = f"make it an object of the class `{place}`, not the class" if isinstance(found, type) else _INCOMPLETE
        return InternalError([Diagnostic("PEN9001", message, None, help)])

    def _imported(self, name: str, place: str, load: Callable[[], Any]) -> Any:
        try:
            return load()
        except LimitError:  # of the job that was read when the plugin was asked for
            raise
        except IncompletePluginError as cause:
            message = f"the {self.kind} `{name}` of `{place}` is incomplete: {cause}"
            raise InternalError([Diagnostic("PEN9001", message, None, _INCOMPLETE)]) from cause
        except Exception as cause:
            message = f"the {self.kind} `{name}` of `{place}` cannot be imported: {cause}"
            raise InternalError([Diagnostic("PEN9003", message)]) from cause

    @cached_property
    def _modules(self) -> dict[str, str]:
        """By folded name: modules of the package and of its families, and entries of sub-packages."""
        found: dict[str, str] = {}
        for module in iter_modules(self.path):
            inner = [f"{folder}/{module.name}" for folder in self.path] if module.ispkg else []
            inside = {inner_module.name for inner_module in iter_modules(inner)}
            if not module.ispkg:
                found[_folded(module.name)] = module.name
            elif module.name in self.families:
                found |= {_folded(name): f"{module.name}.{name}" for name in inside}
            elif self.kind in inside:
                found[_folded(module.name)] = f"{module.name}.{self.kind}"
        return found

    @cached_property
    def _entry_points(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import (
            entry_points,
        )  # imported here: the import takes a tenth of the time that `validate` may take

        return {_folded(point.name): point for point in entry_points(group=self.group)}


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
