"""Paths of another file system that is a directory of this machine, for the suite of sinks."""

import os
from pathlib import Path


class RemotePath(str):
    """A path that knows its directory on this machine, with those calls of `Path` that the suite makes."""

    here: Path

    @classmethod
    def of(cls, path: str, here: Path) -> "RemotePath":
        made = cls(path)
        made.here = here
        return made

    def __truediv__(self, name):
        return RemotePath.of(f"{self}/{name}", self.here / name)

    def exists(self):
        return self.here.exists()

    def glob(self, pattern):
        return self.here.glob(pattern)

    def children(self):
        return os.listdir(self.here)
