"""Files that a job file includes: found next to the including file, never fetched from the network.

    include required("stores/_${store:parquet}.conf")

A variable in the name is one of the command line or the environment: the file's own values are not known yet.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from glob import glob
from importlib.util import find_spec

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from engine.job.hocon.substitution import undefined_help
from engine.job.model.settings import ReadText, read_text
from engine.job.model.tree import Place

MAX_DEPTH = 50
_VARIABLE = re.compile(r"\$\{\s*([\w.\-]+)\s*(?::([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Includes:
    """Where the includes of a file are searched, what gives their text, and the files that are being read."""

    path: str
    open_files: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    read: ReadText = read_text

    def within(self, path: str) -> "Includes":
        return replace(self, path=path, open_files=(*self.open_files, os.path.realpath(self.path)))

    def find(
        self, name: str, kind: str, required: bool, place: Place, diagnostics: Diagnostics
    ) -> tuple[SourceFile, ...]:
        """The included files: one, or all that match a pattern; a missing one is an error only where `required`."""
        filled = self._filled(name, place, diagnostics)
        path = None if filled is None else self._resolve(filled, kind, place, diagnostics)
        if path is None:
            return ()
        paths = sorted(glob(path, recursive=True)) if "*" in path or "?" in path else [path]
        return tuple(
            text for candidate in paths if (text := self._read(candidate, required, place, diagnostics)) is not None
        )

    def _filled(self, name: str, place: Place, diagnostics: Diagnostics) -> str | None:
        """The name with its variables filled in; None where one is not defined."""
        known = {match[1]: self.variables.get(match[1], match[2]) for match in _VARIABLE.finditer(name)}
        for variable in (variable for variable, value in known.items() if value is None):
            help = undefined_help(variable, self.variables)
            diagnostics.error("PEN1004", f"the variable `{variable}` in `{name}` is not defined", place.span, help)
            return None
        return _VARIABLE.sub(lambda match: known[match[1]] or "", name)

    def _resolve(self, name: str, kind: str, place: Place, diagnostics: Diagnostics) -> str | None:
        if name.startswith("file://") and kind in ("", "url"):
            return name[len("file://") :]
        if kind == "url" or (not kind and name.startswith(("http://", "https://"))):
            diagnostics.error("PEN1004", f"`{name}`: job files are not read from the network", place.span,
                        "keep a copy beside the job and include that")  # fmt: skip
            return None
        if kind == "package":
            return _in_package(name, place, diagnostics)
        return os.path.join(os.path.dirname(self.path), name)

    def _read(self, path: str, required: bool, place: Place, diagnostics: Diagnostics) -> SourceFile | None:
        real = os.path.realpath(path)
        if real in self.open_files or real == os.path.realpath(self.path) or len(self.open_files) >= MAX_DEPTH:
            diagnostics.error("PEN1004", f"`{path}` includes itself", place.span)
            return None
        try:
            return SourceFile(path, self.read(path))
        except FileNotFoundError:
            if required:
                diagnostics.error("PEN1004", f"the included file `{path}` does not exist", place.span)
            else:
                diagnostics.warning("PEN1004", f"the included file `{path}` does not exist", place.span,
                              'nothing is included; `include required("…")` makes this an error')  # fmt: skip
        except (OSError, UnicodeDecodeError) as error:
            diagnostics.error("PEN1004", f"the included file `{path}` cannot be read: {error}", place.span)
        return None


def _in_package(name: str, place: Place, diagnostics: Diagnostics) -> str | None:
    package, _, path = name.partition(":")
    try:
        spec = find_spec(package) if package and path else None
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if os.path.exists(os.path.join(folder, path)):
            return os.path.join(folder, path)
    diagnostics.error("PEN1004", f"no file `{name}` in an installed package", place.span, "write `package:path/in/it`")
    return None
