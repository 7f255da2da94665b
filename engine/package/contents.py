"""The contents of a packaged application: Penstock's modules, what they need, the jobs and what they include."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path, PurePosixPath
from typing import Final

import connectors
from catalog.diagnostics.diagnostic import job_error
from catalog.distribution import DISTRIBUTION
from engine import transforms
from engine.job.find import SUFFIXES

PACKAGES: Final = ("engine", "catalog", "sql", "connectors")
NEEDED: Final = ("sqlglot", "jsonschema", "rich", "cryptography")
"""What Penstock itself imports; without the compiled sqlglot, which the pure Python one replaces."""

HOME: Final = Path(__file__).resolve().parents[2]
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")

Entry = tuple[str, Path]
"""A name in the archive, and the file that it holds."""


def module_files() -> Iterator[Entry]:
    """Penstock's own modules and data files."""
    for package in PACKAGES:
        for path in sorted((HOME / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(HOME).as_posix(), path


def dependency_files() -> Iterator[Entry]:
    """Files of what Penstock needs and of the distributions that bring plugins, with all that these need."""
    roots = [
        *NEEDED,
        *(distribution.metadata["Name"] for distribution in distributions() if _brings_plugins(distribution)),
    ]
    for needed in _closure(roots):
        for file in needed.files or ():
            path = Path(str(needed.locate_file(file)))
            if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
                yield PurePosixPath(file).as_posix(), path


def job_files(jobs: Iterable[Path]) -> tuple[tuple[str, ...], tuple[Entry, ...]]:
    """The jobs' names in the archive, and their files: each job's folder as far as it holds job files and a lock.

    Included files must be in the job's folder or below it.
    """
    names: list[str] = []
    entries: dict[str, Path] = {}
    for number, job in enumerate(jobs):
        if not job.is_file():
            raise job_error("PEN1001", f"no job file at `{job}`")
        root = f"jobs/{number}"
        names.append(f"{root}/{job.name}")
        entries[names[-1]] = job
        for path in sorted(job.resolve().parent.rglob("*")):
            if path.is_file() and (path.name.endswith(SUFFIXES) or path.name == "penstock.lock"):
                entries[f"{root}/{path.relative_to(job.resolve().parent).as_posix()}"] = path
    return tuple(names), tuple(entries.items())


def _brings_plugins(distribution: Distribution) -> bool:
    groups = (connectors.plugins.group, transforms.plugins.group)
    mine = (distribution.metadata["Name"] or "").lower() == DISTRIBUTION
    return not mine and any(point.group in groups for point in distribution.entry_points)


def _closure(names: Iterable[str]) -> Iterator[Distribution]:
    """The distributions and what they require; a requirement that is not installed is one that does not apply here."""
    seen: set[str] = {DISTRIBUTION, "pyspark", "py4j", "sqlglotc"}
    waiting = list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        yield found
        for requirement in found.requires or ():
            if "extra ==" not in requirement and (match := _NAME.match(requirement)):
                waiting.append(match.group())
