"""The contents of a packaged application: Penstock's modules, what they need, the jobs and what they include."""

import os
import re
from collections.abc import Iterable, Iterator
from glob import escape, iglob
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

import connectors
from catalog.diagnostics.diagnostic import job_error
from catalog.distribution import DISTRIBUTION
from catalog.limits import limits, read_small
from engine import transforms
from engine.job.bounded import project_roots
from engine.job.find import PROJECT_FILE, SUFFIXES

PACKAGES: Final = ("engine", "catalog", "sql", "connectors")
NEEDED: Final = ("sqlglot", "jsonschema", "rich", "cryptography")
"""What Penstock itself imports; without the compiled sqlglot, which the pure Python one replaces."""

HOME: Final = Path(__file__).resolve().parents[2]
_INCLUDE: Final = re.compile(r"\binclude\s+(?:required\s*\(\s*)?(?:(?:file|classpath)\s*\(\s*)?\"([^\"\n]+)\"")
_FILE: Final = re.compile(rf"[\w./${{}}:*?-]+(?:{'|'.join(map(re.escape, SUFFIXES))})(?![\w.])")
"""The name of a file that may belong to a job."""
_VARIABLE: Final = re.compile(r"\$\{[^}]*\}")
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
    """The jobs' names in the archive, and their files: each job, the files of its folder that it names, and a lock.

    Included files must be in the job's folder or below it. A link that leads out of the project is left out.
    """
    names: list[str] = []
    entries: dict[str, Path] = {}
    for number, job in enumerate(jobs):
        if not job.is_file():
            raise job_error("PEN1001", f"no job file at `{job}`")
        if not _is_within(job, project_roots(job)):
            help = "a link leads out of the project: put the job into it"
            raise job_error("PEN1602", f"`{job}` is outside of the project, and is not packaged", None, help)
        root, folder = f"jobs/{number}", job.resolve().parent
        names.append(f"{root}/{job.name}")
        entries[names[-1]] = job
        for path in _named_files(folder / job.name, folder):
            entries[f"{root}/{path.relative_to(folder).as_posix()}"] = path
    return tuple(names), tuple(entries.items())


def _named_files(job: Path, folder: Path) -> Iterator[Path]:
    """The files of a folder that a job names, or one of these; also by a name with variables."""
    roots = project_roots(job)
    fixed = [folder / name for name in (PROJECT_FILE, "penstock.lock")]
    found, waiting = dict.fromkeys(path for path in fixed if path.is_file() and _is_within(path, roots)), [job]
    while waiting:
        file = waiting.pop()
        text = read_small(file).decode("utf-8-sig", errors="replace")
        for name in (*_INCLUDE.findall(text), *_FILE.findall(text)):
            pattern = _VARIABLE.sub("*", name)
            for path in [Path(match) for start in (file.parent, folder) for match in _matches(start, pattern)]:
                is_new = path not in found and path != job and path.is_file()
                if is_new and path.is_relative_to(folder) and _is_within(path, roots):
                    found[path] = None
                    waiting.append(path)
    yield from found


def _is_within(path: Path, roots: tuple[str, ...]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(root) for root in roots)


def _matches(folder: Path, pattern: str) -> Iterator[str]:
    found = iglob(os.path.join(escape(str(folder)), pattern), recursive=True)
    yield from map(os.path.normpath, islice(found, int(limits().paths)))


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
