"""Job files by path, folder or glob."""

import os
import re
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.limits import limits

PROJECT_FILE: Final = "penstock.conf"
"""The file at the root of a project."""
SUFFIXES = (".conf", ".hocon", ".json", ".sql")
_SINK: Final = re.compile(r"^\s*\"?sink\"?\s*[{:=\[]", re.MULTILINE)
_OUTER_SINK: Final = re.compile(r"^\"?sink\"?\s*[{:=\[]", re.MULTILINE)
TEST_SUFFIXES = (".test.conf", ".test.sql")


def find_jobs(paths: Iterable[str], diagnostics: Diagnostics, *, with_tests: bool = False) -> tuple[Path, ...]:
    """Every job file that the paths lead to, once, in their order; a path that leads to none is an error.

    A file is taken as it is named; in a folder, and below it, those with a job file's suffix, leaving out the tests of
    jobs (unless `with_tests`), what a job only includes (`_name.conf`), hidden folders and what is no job by its
    content.
    """
    jobs: dict[Path, None] = {}
    for path in paths:
        files = [file for match in _matches(path) for file in _files(match, with_tests=with_tests)]
        if not files:
            diagnostics.error("PEN1001", f"no job file at `{path}`", help=f"job files end in {', '.join(SUFFIXES)}")
        jobs.update(dict.fromkeys(files))
    return tuple(jobs)


def _matches(path: str) -> list[Path]:
    """The path itself if it exists, also one with `[` or `*` in its name; otherwise what it matches as a glob."""
    if os.path.exists(path) or not has_magic(path):
        return [Path(path)]
    return [Path(match) for match in sorted(glob(path, recursive=True))]


def _files(path: Path, *, with_tests: bool) -> Iterator[Path]:
    if not path.is_dir():
        if path.exists():
            yield path
        return
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        is_test = with_tests and file.name.lower().endswith(TEST_SUFFIXES)
        if not hidden and file.is_file() and (is_test or is_job(file)):
            yield file


def is_job(path: Path) -> bool:
    """Whether a file in a folder looks like a job by its suffix, and JSON and SQL, which may be anything, by words."""
    name = path.name.lower()
    if name == PROJECT_FILE:
        return not is_project_file(path)
    if name.endswith(TEST_SUFFIXES) or not name.endswith(SUFFIXES):
        return False
    return name.endswith((".conf", ".hocon")) or has_words_of_job(name, _start(path))


def has_words_of_job(name: str, text: bytes) -> bool:
    """Whether a JSON or SQL file is a job."""
    words = text.lower()
    return b'"sink"' in words if name.endswith(".json") else b"insert" in words or b"connector" in words


def is_project_file(path: Path) -> bool:
    """Whether a `penstock.conf` is there that describes a project: one with a `sink` of its own is a job."""
    return path.is_file() and _OUTER_SINK.search(_start(path).decode(errors="replace")) is None


def has_sections(path: Path) -> bool:
    """Whether a file contains the sections of a job; an `nginx.conf` does not."""
    if not path.name.lower().endswith((".conf", ".hocon")):
        return is_job(path)
    return _SINK.search(_start(path).decode(errors="replace")) is not None


def _start(path: Path) -> bytes:
    """As much of a file as a job may have: what is larger is data."""
    with path.open("rb") as file:
        return file.read(int(limits().text) + 1)
