"""The few file operations that a commit needs, on this machine's disk and on any Hadoop file system."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from connectors.file_schema import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Files(Protocol):
    """Paths are absolute, of one file system; a directory is made with all above it."""

    def exists(self, path: str) -> bool: ...

    def is_file(self, path: str) -> bool: ...

    def children(self, folder: str) -> list[str]:
        """Names of what a directory holds, sorted; none where it is not there."""
        ...

    def files(self, folder: str) -> list[str]:
        """All files below a directory, by their path in it, sorted, hidden ones too."""
        ...

    def make_folder(self, path: str) -> None: ...

    def read(self, path: str) -> str: ...

    def write(self, path: str, text: str) -> None:
        """A small file, there wholly or not at all, also after a power cut."""
        ...

    def write_new(self, path: str, text: str) -> bool:
        """As `write`; False, with nothing done, where the path is taken: of two writers, one wins."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Raises OSError where the target is there."""
        ...

    def delete(self, path: str) -> None:
        """With all that it holds; nothing where it is not there."""
        ...


def files_at(spark: "SparkSession | None", path: str) -> tuple[Files, str]:
    """The file system that holds a path, and the absolute path in it; without a scheme as Spark takes it."""
    if path.startswith("file:") or spark is None:
        found = local_path(path)
        if found is None:
            raise ValueError(f"{path} cannot be reached without Spark")
        return LocalFiles(), os.path.realpath(found)
    found = local_path(path)
    jvm = _jvm(spark)
    hadoop = jvm.org.apache.hadoop.fs.Path(found if found is not None else path)
    system = hadoop.getFileSystem(_configuration(spark))
    if system.getUri().getScheme() == "file":
        return LocalFiles(), os.path.realpath(found or hadoop.toUri().getPath())
    return HadoopFiles(jvm, system), str(system.makeQualified(hadoop).toString())


def as_uri(path: str) -> str:
    """An absolute path as Spark reads it whatever its default file system is: Hadoop's paths know no `%20`."""
    return f"file://{path}" if path.startswith("/") else path


class LocalFiles:
    """This machine's disk, without Spark."""

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

    def make_folder(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def read(self, path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        temporary = self._written(path, text)
        os.replace(temporary, path)
        _sync_folder(os.path.dirname(path))

    def write_new(self, path: str, text: str) -> bool:
        temporary = self._written(path, text)
        try:
            os.link(temporary, path)  # unlike a rename, it fails where the path is taken
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary)
        _sync_folder(os.path.dirname(path))
        return True

    def _written(self, path: str, text: str) -> str:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return temporary

    def rename(self, source: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(source, target)
        _sync_folder(os.path.dirname(target))

    def delete(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=False)
        elif os.path.lexists(path):
            os.unlink(path)


class HadoopFiles:
    """A Hadoop file system, through the session's JVM."""

    def __init__(self, jvm: Any, system: Any) -> None:
        self.jvm = jvm
        self.system = system

    def exists(self, path: str) -> bool:
        return bool(self.system.exists(self._path(path)))

    def is_file(self, path: str) -> bool:
        return self.exists(path) and bool(self.system.getFileStatus(self._path(path)).isFile())

    def children(self, folder: str) -> list[str]:
        if not self.exists(folder):
            return []
        return sorted(str(each.getPath().getName()) for each in self.system.listStatus(self._path(folder)))

    def files(self, folder: str) -> list[str]:
        return sorted(self._files(folder)) if self.exists(folder) else []

    def _files(self, folder: str) -> Iterator[str]:
        start = len(str(self._path(folder).toUri().getPath()).rstrip("/")) + 1
        listed = self.system.listFiles(self._path(folder), True)
        while listed.hasNext():
            yield str(listed.next().getPath().toUri().getPath())[start:]

    def make_folder(self, path: str) -> None:
        self.system.mkdirs(self._path(path))

    def read(self, path: str) -> str:
        stream = self.system.open(self._path(path))
        try:
            return str(self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        if not self.write_new(path, text):
            self.delete(path)
            self.write_new(path, text)

    def write_new(self, path: str, text: str) -> bool:
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{os.getpid()}.tmp"
        self.make_folder(folder)
        stream = self.system.create(self._path(temporary), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self.exists(path) or not self.system.rename(self._path(temporary), self._path(path)):
            self.delete(temporary)
            return False
        return True

    def rename(self, source: str, target: str) -> None:
        self.make_folder(target.rpartition("/")[0])
        if self.exists(target):  # a rename onto a directory would move the source into it
            raise FileExistsError(target)
        if not self.exists(source):  # of which file systems tell in one way or another
            raise FileNotFoundError(source)
        if not self.system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} could not be renamed to {target}")

    def delete(self, path: str) -> None:
        self.system.delete(self._path(path), True)

    def _path(self, path: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(path)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _jvm(spark: "SparkSession") -> Any:
    return spark.sparkContext._jvm


def _configuration(spark: "SparkSession") -> Any:
    return spark._jsparkSession.sessionState().newHadoopConf()
