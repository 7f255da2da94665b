"""Refuses variables of the command line that no job uses, or that are given twice: a misspelt name would be ignored
where the job has a default."""

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.limits import LimitError, read_small
from engine.job.find import PROJECT_FILE, find_jobs
from engine.job.root import root_of

_INCLUDE: Final = re.compile(r"\binclude\s+(?:required\s*\(\s*)?(?:file\s*\(\s*)?\"([^\"\n]+)\"")
_VARIABLE: Final = re.compile(r"\$\{\??\s*\"?([^\W\d][\w.\-]*)")


def check_variables(arguments: Namespace) -> None:
    """Raise a `JobError` for repeated (PEN1502) and unused (PEN1501) variables; jobs of SeaTunnel may have unused ones,
    as there."""
    diagnostics, names = Diagnostics(), [name for name, _ in arguments.variables]
    for name, count in Counter(names).items():
        if count > 1:
            diagnostics.error("PEN1502", f"the variable `{name}` is given {count} times", None, "give it once: `-i`")
    if names and not arguments.compat and (texts := _texts(arguments)) is not None:
        used = {match for text in texts for match in _VARIABLE.findall(text)}
        for name in dict.fromkeys(names):
            if name not in used:
                help = did_you_mean(name, sorted(used)) or "leave it out"
                diagnostics.error("PEN1501", f"no job uses the variable `{name}`", None, help)
    diagnostics.raise_errors()


def _texts(arguments: Namespace) -> Iterable[str] | None:
    """The texts of the jobs, of what they include, and of their project, whose jobs give them columns; None if not all
    of them are known."""
    paths = [str(path) for path in _paths(arguments)]
    if getattr(arguments, "project", None) is not None:
        paths = list(dict.fromkeys((*paths, *arguments.project.job_folders)))
    files = [*find_jobs(paths, Diagnostics(), with_tests=True), *_projects(paths)]
    texts: dict[Path, str] = {}
    while files:
        file = files.pop()
        if file in texts:
            continue
        try:
            texts[file] = read_small(file).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError, LimitError):
            return None
        for name in _INCLUDE.findall(texts[file]):
            places = [place for place in (file.parent / name, Path(name)) if place.is_file()]
            if not all(place.resolve().is_relative_to(root_of(file).resolve()) for place in places):
                return None  # outside of the project: its names are not shown
            if not places:
                return None  # its name has variables, or it is found by other means
            files += places
    return list(texts.values()) if texts else None


def _paths(arguments: Namespace) -> Iterator[Path]:
    for name in ("job", "jobs", "paths"):
        found = getattr(arguments, name, None) or []
        yield from [found] if isinstance(found, Path) else map(Path, found)


def _projects(paths: Iterable[str]) -> Iterator[Path]:
    for path in {Path(), *map(Path, paths)}:
        for folder in (path.absolute(), *path.absolute().parents):
            if (project := folder / PROJECT_FILE).is_file():
                yield project
                break
