"""Answers of the file system: equal ones mean that a job which asked for them is compiled to the same."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from time import time_ns
from typing import Final, TypeAlias

from engine.remembered.recorded_reads import FOLDER, LINK, Read, kind_of

Answer: TypeAlias = tuple[object, ...]

_HASHED: Final = 256 * 1024
"""Files of so many bytes at most are known by their content; larger ones by their inode, size and times."""
_MOST_ENTRIES: Final = 2000
_TOO_MANY: Final = ("too many",)
_SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a file that changes again has another time, on any file system."""
_SETTLED_FINE: Final = 100_000_000
"""The same where the file system keeps fractions of milliseconds."""


@dataclass(eq=False, slots=True)
class Answers:
    """What the file system answers; each question is asked once. `root`: the current folder. `began`: nanoseconds,
    before the first question."""

    root: str
    began: int = field(default_factory=time_ns)
    known: dict[Read, Answer] = field(default_factory=dict)
    settled: dict[str, bool] = field(default_factory=dict)
    contents: dict[str, str | int] = field(default_factory=dict)

    def of(self, read: Read) -> Answer:
        if read not in self.known:
            self.known[read] = self._asked(*read)
        return self.known[read]

    def is_settled(self, read: Read) -> bool:
        """Whether the answer was the same when the command began, and will be another one after a change: nothing on
        the way to the path has changed for a while."""
        is_above = self.root.startswith
        paths = (path for path in _and_above(read[1]) if path == self.root or not is_above(f"{path.rstrip(os.sep)}/"))
        return self.of(read) != _TOO_MANY and all(map(self._is_old, paths))

    def is_same_root(self) -> bool:
        """Whether the current folder is still there by its path: those above it may change as they like."""
        try:
            return os.path.samestat(os.stat(self.root), os.stat("."))
        except OSError:
            return False

    def _is_old(self, path: str) -> bool:
        if path not in self.settled:
            self.settled[path] = all(
                max(found.st_ctime_ns, found.st_mtime_ns) < self.began - _settled(found) for found in _states(path)
            )
        return self.settled[path]

    def _asked(self, question: str, path: str) -> Answer:
        try:
            if question == FOLDER:
                return self._listed(path)
            found = os.lstat(path) if question == LINK else os.stat(path)
            if stat.S_ISLNK(found.st_mode):
                return ("l", os.readlink(path))
            return self._file(path, found)
        except OSError as error:
            return ("error", error.errno)

    def _file(self, path: str, found: os.stat_result) -> Answer:
        kind = kind_of(found.st_mode)
        permissions = stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid
        if kind != "f":
            return (kind, *permissions)
        if found.st_size > _HASHED:
            return _times(found)
        if path not in self.contents:
            self.contents[path] = _content(path)
        return (kind, *permissions, self.contents[path])

    def _listed(self, path: str) -> Answer:
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        if len(listed) > _MOST_ENTRIES:
            return _TOO_MANY
        found: list[object] = []
        for entry in listed:
            inner = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(inner.st_mode):
                found.append((entry.name, os.readlink(entry.path), *self._asked("path", entry.path)))
            else:
                found.append((entry.name, *(("d",) if stat.S_ISDIR(inner.st_mode) else _times(inner))))
        return tuple(found)


def _settled(found: os.stat_result) -> int:
    return _SETTLED_FINE if found.st_ctime_ns % 1_000_000 else _SETTLED


def _states(path: str) -> Iterator[os.stat_result]:
    """What is at a path, the link and what it leads to; nothing if nothing is there."""
    try:
        yield os.lstat(path)
        yield os.stat(path)
    except OSError:
        return


def _and_above(path: str) -> Iterator[str]:
    """The path, and the folders in which it is."""
    yield path
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _content(path: str) -> str | int:
    """The hash of a file, or the number of the error that it cannot be read with."""
    try:
        with open(path, "rb") as file:
            return sha256(file.read(_HASHED + 1)).hexdigest()
    except OSError as error:
        return error.errno or -1


def _times(found: os.stat_result) -> Answer:
    return (found.st_mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
