"""Files that a job file includes: found next to the including file, never fetched from the network.

    include required("stores/_${store:parquet}.conf")

A variable in the name is one of the command line or the environment: the file's own values are not known yet.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from glob import iglob
from importlib.machinery import PathFinder
from itertools import islice

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import SourceFile
from catalog.limits import check, limits
from catalog.reach import OutsideError, is_outside, refuse_outside
from engine.job.hocon.substitution import undefined_help
from engine.job.model.settings import ReadText, read_text
from engine.job.model.tree import Place

MAX_DEPTH = 50
_SUFFIXES = (".conf", ".hocon", ".json")
"""Of what is read from installed packages."""
_VARIABLE = re.compile(r"\$\{\s*([\w.\-]+)\s*(?::([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Includes:
    """Where the includes of a file are searched, what gives their text, and the files that are being read."""

    path: str
    open_files: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    read: ReadText = read_text
    read_files: list[str] = field(default_factory=list)
    characters: list[int] = field(default_factory=lambda: [0])

    def within(self, path: str) -> "Includes":
        return replace(self, path=path, open_files=(*self.open_files, os.path.realpath(self.path)))

    def find(
        self, name: str, kind: str, required: bool, place: Place, diagnostics: Diagnostics
    ) -> tuple[SourceFile, ...]:
        """The included files: one, or all that match a pattern; a missing one is an error only where `required`."""
        if "\x00" in name or re.search(r"[\ud800-\udfff]", name):
            diagnostics.error("PEN1004", "the name of the included file has a NUL or half a character", place.span)
            return ()
        filled = self._filled(name, place, diagnostics)
        path = None if filled is None else self._resolve(filled, kind, place, diagnostics)
        if path is None:
            return ()
        if "*" in path or "?" in path:
            folder = os.path.dirname(re.split(r"[*?\[]", path)[0]) or "."
            if is_outside(folder, is_data=False):  # not even the names of what is there
                diagnostics.error("PEN1602", f"`{name}` leads out of the project, and is not read", place.span)
                return ()
            paths = sorted(islice(iglob(path, recursive=True), int(limits().includes) + 1))
        else:
            paths = [path]
        found = [self._read(path, required, place, diagnostics) for path in paths]
        return tuple(text for text in found if text is not None)

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
            refuse_outside(path, is_data=False)
            self.read_files.append(path)
            check("includes", len(self.read_files), place.span)
            text = self.read(path)
            self.characters[0] += len(text)
            check("text", self.characters[0], place.span, "the included files together")
            return SourceFile(path, text)
        except OutsideError:
            help = "keep what is included in the project; `--allow-outside` reads it all the same"
            message = f"the included file `{path}` is outside of the project, and is not read"
            diagnostics.error("PEN1602", message, place.span, help)
            return None
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
    for folder in _package_folders(package) if path.endswith(_SUFFIXES) else ():
        found = os.path.realpath(os.path.join(folder, path))
        if found.startswith(folder + os.sep) and os.path.exists(found):
            return found
    diagnostics.error("PEN1004", f"no file `{name}` in an installed package", place.span, "write `package:path/in/it`")
    return None


def _package_folders(package: str) -> Iterator[str]:
    """The folders of an installed package, found without importing it or a package around it."""
    searched: list[str] | None = None
    for part in package.split("."):
        if not part.isidentifier() or part in sys.builtin_module_names:
            return
        spec = PathFinder.find_spec(part, searched)
        if spec is None or spec.submodule_search_locations is None:
            return
        searched = list(spec.submodule_search_locations)
    yield from map(os.path.realpath, searched or ())
