"""The file operations of `filesystem.Files` on this machine's disk."""

import errno
import os
import shutil
from pathlib import Path
from typing import Final

from connectors.shared.store_primitives import ATOMIC
from connectors.shared.temporary_names import temporary_name

_NO_HARD_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LocalFiles:
    """This machine's disk, without Spark."""

    primitives: Final = ATOMIC

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
        os.makedirs(path, exist_ok=True)

    def read(self, path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = temporary_name(path)
        try:
            self._create(temporary, text)
            os.replace(temporary, path)
        except BaseException:
            self.delete(temporary)
            raise
        _sync_folder(os.path.dirname(path))

    def write_new(self, path: str, text: str) -> bool:
        os.makedirs(os.path.dirname(path), exist_ok=True)
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
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def rename(self, source: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        self.move(source, target)

    def move(self, source: str, target: str) -> None:
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(source, target)
        _sync_folder(os.path.dirname(target))

    def copy(self, source: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
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


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
