"""The file operations of `filesystem.Files` on this machine's disk."""

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from catalog.limits import regular_file
from connectors.shared.store_primitives import ATOMIC
from connectors.shared.temporary_names import temporary_name

_NO_HARD_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LocalFiles:
    """This machine's disk, without Spark. What it makes in `private` and below, only its owner can read."""

    primitives: Final = ATOMIC

    def __init__(self, private: str | None = None) -> None:
        self._private = private

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def children(self, folder: str) -> list[str]:
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def files(self, folder: str) -> list[str]:
        return sorted(
            os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder) for name in names
        )

    def modification_times(self, folder: str) -> dict[str, int]:
        return {name: os.stat(os.path.join(folder, name)).st_mtime_ns // 1_000_000 for name in self.files(folder)}

    def make_folder(self, path: str) -> None:
        if self._private is not None and f"{path}/".startswith(f"{self._private}/"):
            os.makedirs(os.path.dirname(self._private), exist_ok=True)
            _make_folders(path)
        os.makedirs(path, exist_ok=True)

    def read(self, path: str) -> str:
        regular_file(path)
        return Path(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        self.make_folder(os.path.dirname(path))
        temporary = temporary_name(path)
        try:
            self._create(temporary, text)
            os.replace(temporary, path)
        except BaseException:
            self.delete(temporary)
            raise
        _sync_folder(os.path.dirname(path))

    def write_new(self, path: str, text: str) -> bool:
        self.make_folder(os.path.dirname(path))
        temporary = temporary_name(path)
        try:
            self._create(temporary, text)
            os.link(temporary, path)  # unlike a rename, it fails if the path exists
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if not self._create_or_refuse(path, text):
                return False
        finally:
            self.delete(temporary)
        _sync_folder(os.path.dirname(path))
        return True

    def _create_or_refuse(self, path: str, text: str) -> bool:
        """For a disk without hard links; a kill here leaves a truncated file."""
        try:
            self._create(path, text)
        except FileExistsError:
            return False
        return True

    def _create(self, path: str, text: str) -> None:
        with open(path, "x", encoding="utf-8", opener=None if self._private is None else _open_private) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def rename(self, source: str, target: str) -> None:
        self.make_folder(os.path.dirname(target))
        self.move(source, target)

    def move(self, source: str, target: str) -> None:
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(source, target)
        _sync_folder(os.path.dirname(target))

    def copy(self, source: str, target: str) -> None:
        self.make_folder(os.path.dirname(target))
        temporary = temporary_name(target)
        try:
            shutil.copyfile(source, temporary)
            os.replace(temporary, target)
        finally:
            self.delete(temporary)
        _sync_folder(os.path.dirname(target))

    def size(self, path: str) -> int:
        return os.path.getsize(path)

    def delete(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=False)
        elif os.path.lexists(path):
            os.unlink(path)

    def delete_empty(self, folder: str) -> None:
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _make_folders(path: str) -> None:
    """The directory and those above it that are missing, as `os.makedirs` makes only the last one with a mode."""
    if not os.path.isdir(path):
        _make_folders(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, _mode(os.path.dirname(path), 0o700, 0o770))


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, _mode(os.path.dirname(path), 0o600, 0o660))


def _mode(folder: str, alone: int, shared: int) -> int:
    """The mode of what is made in a directory: the group of one with the setgid bit shares it."""
    return shared if os.stat(folder).st_mode & stat.S_ISGID else alone


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
