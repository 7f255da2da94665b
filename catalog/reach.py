"""What a job may read while it is only checked: the files of its project.

`validate` of somebody's job shows parts of files: the header of a CSV file, the lines around an error. So it opens
none outside the root, whether by an absolute path, `..` or a link, unless `--allow-outside` is given.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reach:
    """`roots`: the folders within which files are read, links resolved; None for everywhere.

    `data_roots`: the same for files of data and schemas, which a run reads wherever they are.
    """

    roots: tuple[str, ...] | None = None
    data_roots: tuple[str, ...] | None = None


class OutsideError(PermissionError):
    """A file outside of the project was to be read."""

    def __init__(self, path: str) -> None:
        super().__init__(13, "it is outside of the project", path)


_ANYWHERE: Final = Reach()
_REACH: Final[ContextVar[Reach]] = ContextVar("reach", default=_ANYWHERE)


@contextmanager
def within(reach: Reach) -> Iterator[None]:
    token = _REACH.set(reach)
    try:
        yield
    finally:
        _REACH.reset(token)


def is_outside(path: str | os.PathLike[str], *, is_data: bool = True) -> bool:
    """Whether a path of this machine leads out of what the job may read."""
    reach = _REACH.get()
    roots = reach.data_roots if is_data else reach.roots
    if roots is None:
        return False
    if "\x00" in os.fspath(path):
        return True  # no file has such a name
    real = os.path.realpath(path)
    return not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def refuse_outside(path: str | os.PathLike[str], *, is_data: bool = True) -> None:
    """Raises `OutsideError` for a path that leads out of what the job may read."""
    if is_outside(path, is_data=is_data):
        raise OutsideError(os.fspath(path))


def leads_out(path: str | os.PathLike[str], folder: str | os.PathLike[str] = os.curdir) -> bool:
    """Whether a path that is in the folder as it is written leads out of it by a link."""
    if "\x00" in os.fspath(path):
        return False
    written, root = os.path.abspath(path), os.path.abspath(folder)
    inside = root.rstrip(os.sep) + os.sep
    real_root = os.path.realpath(root).rstrip(os.sep) + os.sep
    return written.startswith(inside) and not os.path.realpath(path).startswith(real_root)
