"""The project that a command works in: found upwards from its first job file, else from the current folder.

While the command runs, the root is the current folder, so that the paths in jobs mean the same from wherever the
command is called. The paths of the command line and of reported errors stay relative to where it was called.
"""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Final

from catalog.diagnostics.diagnostic import job_error
from engine.job.find import PROJECT_FILE
from engine.job.root import find_root
from engine.terminal.report import reported_from

if TYPE_CHECKING:
    from engine.project.project import Project

_JOBS: Final = ("paths", "jobs", "job")
_OTHER_PATHS: Final = ("output", "junit", "state", "state_dir")
ENVIRONMENT_VARIABLE: Final = "PENSTOCK_ENV"


@contextmanager
def in_root(arguments: Namespace) -> Iterator[None]:
    """Makes the root of the project the current folder, where there is one.

    Only commands that take `--env` work in a project. Raises a `JobError` PEN2704 for `--env` outside of one.
    """
    root = _root(arguments) if hasattr(arguments, "environment") else None
    if root is None:
        if getattr(arguments, "environment", None) is not None:
            message = f"there is no `{PROJECT_FILE}` for `--env {arguments.environment}`"
            raise job_error("PEN2704", message, None, "`penstock init` makes one")
        yield
        return
    _make_relative(arguments, root)
    called_from = Path.cwd()
    with at_root(root), reported_from(called_from):
        yield


@contextmanager
def at_root(root: Path) -> Iterator[None]:
    """Makes the root the current folder during the block."""
    before = Path.cwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)


def _root(arguments: Namespace) -> Path | None:
    """The one root of all paths; paths that lead nowhere may be the names of jobs."""
    paths = [Path(path) for path in _paths(arguments) if os.path.exists(path)]
    roots = [find_root(path if path.is_dir() else path.parent) for path in paths]
    for path, root in zip(paths, roots, strict=True):
        if root != roots[0]:
            message = f"`{paths[0]}` and `{path}` are not of one project"
            raise job_error("PEN2710", message, None, "give the jobs of each project to a command of its own")
    return roots[0] if roots else find_root(Path.cwd())


def _paths(arguments: Namespace) -> Iterator[str]:
    for name in _JOBS:
        value = getattr(arguments, name, None)
        if value is not None:
            yield from map(str, value if isinstance(value, list) else [value])


def _make_relative(arguments: Namespace, root: Path) -> None:
    """Paths that exist, and those of what is written, as seen from the root."""
    for name in (*_JOBS, *_OTHER_PATHS):
        value = getattr(arguments, name, None)
        if isinstance(value, list):
            setattr(arguments, name, [_relative(path, root) for path in value])
        elif isinstance(value, str | Path):
            setattr(arguments, name, _relative(value, root, is_output=name in _OTHER_PATHS))


def _relative(path: str | Path, root: Path, *, is_output: bool = False) -> str | Path:
    text = str(path)
    if "://" in text or os.path.isabs(text) or not (is_output or os.path.exists(text) or has_magic(text)):
        return path
    return type(path)(os.path.relpath(Path(text).absolute(), root))


def project_of(arguments: Namespace) -> "Project | None":
    """The project in whose root the command runs, in the environment of the command."""
    if not (hasattr(arguments, "environment") and find_root(Path()) == Path.cwd()):
        return None
    from engine.project.read_project import read_project  # imports all that reads job files

    variables = {name: value for file in getattr(arguments, "variable_files", ()) for name, value in file}
    variables |= dict(getattr(arguments, "variables", ()))
    environment = arguments.environment or os.environ.get(ENVIRONMENT_VARIABLE)
    is_free = getattr(arguments, "allow_outside", False)
    project = read_project(
        Path(), environment, variables, masks=arguments.masks, allows_outside=is_free, limits_process=True
    )
    _resolve_names(arguments, project)
    if getattr(arguments, "state_dir", "") is None and not list(_paths(arguments)):
        arguments.state_dir = project.state_dir
    return project


def _resolve_names(arguments: Namespace, project: "Project") -> None:
    """Replaces the names of jobs by their files."""

    def resolved(name: str | Path) -> str | Path:
        file = None if os.path.exists(name) else project.file_of(str(name))
        return name if file is None else type(name)(file)

    for attribute in _JOBS:
        value = getattr(arguments, attribute, None)
        if isinstance(value, list):
            setattr(arguments, attribute, [resolved(name) for name in value])
        elif isinstance(value, str | Path):
            setattr(arguments, attribute, resolved(value))


def job_paths(arguments: Namespace) -> list[str]:
    """The paths of the command; without any, those of the whole project."""
    if arguments.paths:
        return list(arguments.paths)
    return list(needs_project(arguments).job_folders)


def needs_project(arguments: Namespace) -> "Project":
    """The project of a command that works on one. Raises a `JobError` PEN2710 outside of one."""
    project: Project | None = arguments.project
    if project is not None:
        return project
    help = f"`penstock init` makes a `{PROJECT_FILE}`; it is searched for from the current folder upwards"
    raise job_error("PEN2710", f"there is no `{PROJECT_FILE}` here: this is no project", None, help)
