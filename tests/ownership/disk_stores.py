"""Stores of other kinds on this machine's disk, for processes that meet there: what an operation does in several steps,
they do in several steps, and a process can be stopped or killed between them."""

import os
from collections.abc import Callable
from typing import Any

from connectors.shared.store_primitives import ATOMIC, CONDITIONAL_WRITES, NONE, Primitives
from connectors.storage.local_files import LocalFiles

Step = Callable[[Callable[[], Any]], Any]
"""Does a change; the process may be stopped before it."""


def at_once(change: Callable[[], Any]) -> Any:
    return change()


class CopyingDisk:
    """A store where a rename copies each file, then deletes each one, in the order of their names."""

    primitives: Primitives = CONDITIONAL_WRITES

    def __init__(self, step: Step = at_once) -> None:
        self.step, self.disk = step, LocalFiles()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.disk, name)  # what only looks, and folders, which such a store does not have

    def write(self, path: str, text: str) -> None:
        self.step(lambda: self.disk.write(path, text))

    def write_new(self, path: str, text: str) -> bool:
        return bool(self.step(lambda: self.disk.write_new(path, text)))

    def rename(self, source: str, target: str) -> None:
        if self.disk.exists(target):
            raise FileExistsError(target)
        names = [""] if self.disk.is_file(source) else [f"/{name}" for name in self.disk.files(source)]
        if not names or not self.disk.exists(source):
            raise FileNotFoundError(source)
        for name in names:
            self.step(lambda name=name: self.disk.copy(source + name, target + name))
        for name in names:
            self.step(lambda name=name: self.disk.delete(source + name))
        self._forget_empty(source)

    move = rename

    def copy(self, source: str, target: str) -> None:
        self.step(lambda: self.disk.copy(source, target))

    def delete(self, path: str) -> None:
        """File by file: such a store has no directories."""
        names = self.disk.files(path) if os.path.isdir(path) else []
        for name in names:
            self.step(lambda name=name: self.disk.delete(f"{path}/{name}"))
        if not names:
            self.step(lambda: self.disk.delete(path))
        self._forget_empty(path)

    def _forget_empty(self, folder: str) -> None:
        for root, _, _ in os.walk(folder, topdown=False):
            try:
                os.rmdir(root)
            except OSError:  # another process has written a file
                continue


class PlainDisk(CopyingDisk):
    """A store that also has no way to create a file only where there is none.

    A driver that is paused between the look and the write may decide to commit while another process rolls its run
    back: `explain` says so. Here, no process is paused just there.
    """

    primitives = NONE

    def write_new(self, path: str, text: str) -> bool:
        def create() -> bool:
            if self.disk.exists(path):
                return False
            self.disk.write(path, text)
            return True

        return bool(self.step(create))


class Disk(CopyingDisk):
    """A store that renames in one step, as HDFS does, without what this machine's disk can do in addition."""

    primitives = ATOMIC

    def rename(self, source: str, target: str) -> None:
        self.step(lambda: self.disk.rename(source, target))

    def move(self, source: str, target: str) -> None:
        self.step(lambda: self.disk.move(source, target))


STORES: dict[str, type[CopyingDisk] | None] = {
    "disk": None,
    "renaming": Disk,
    "copying": CopyingDisk,
    "plain": PlainDisk,
}
"""By name; None: this machine's disk, as Penstock uses it."""
