"""The few file operations that a commit needs, on this machine's disk and on any Hadoop file system."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from connectors.support.files.file_schema import local_path
from connectors.support.files.object_store import OBJECT_STORES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P = ParamSpec("P")
T = TypeVar("T")

_IF_ABSENT: Final = "fs.option.create.conditional.overwrite"
_NO_HARD_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class Files(Protocol):
    """Operations on absolute paths of one file system. Directories are made with their parents. Errors are OSErrors."""

    def exists(self, path: str) -> bool: ...

    def is_file(self, path: str) -> bool: ...

    def children(self, folder: str) -> list[str]:
        """Names in a directory, sorted; none if it does not exist."""
        ...

    def files(self, folder: str) -> list[str]:
        """All files below a directory, by their path in it, sorted, hidden ones too."""
        ...

    def modification_times(self, folder: str) -> dict[str, int]:
        """Of all files below a directory, by their path in it, in milliseconds since 1970."""
        ...

    def make_folder(self, path: str) -> None: ...

    def read(self, path: str) -> str: ...

    def write(self, path: str, text: str) -> None:
        """Write a small file atomically, also across a power failure."""
        ...

    def write_new(self, path: str, text: str) -> bool:
        """As `write`; False, with nothing done, if the path exists: of two writers, one wins."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Raises OSError if the target exists."""
        ...

    def delete(self, path: str) -> None:
        """Delete recursively; does nothing if the path does not exist."""
        ...

    def delete_empty(self, folder: str) -> None:
        """Delete a directory only if it is empty, also if another process adds a file at the same moment."""
        ...


def files_at(spark: "SparkSession | None", path: str) -> tuple[Files, str]:
    """The file system of a path, and the absolute path in it. Paths without a scheme are resolved as in Spark."""
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


@contextmanager
def committing(spark: "SparkSession", place: str) -> Iterator[bool]:
    """Yield whether the rows of a staging directory must still be written; after the block they count as written.

    A mark (`done`) is written before they are removed: otherwise a kill half-way would leave some of them, which the
    next commit would take for all.
    """
    files, staging = files_at(spark, place)
    is_due = files.exists(f"{staging}/data") and not files.exists(f"{staging}/done")
    yield is_due
    if is_due:
        files.write(f"{staging}/done", "")
    files.delete(f"{staging}/data")


def as_uri(path: str) -> str:
    """An absolute path as a URI that ignores Spark's default file system; Hadoop's paths do not decode `%20`."""
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

    def modification_times(self, folder: str) -> dict[str, int]:
        return {name: os.stat(os.path.join(folder, name)).st_mtime_ns // 1_000_000 for name in self.files(folder)}

    def make_folder(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def read(self, path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = _temporary(path)
        try:
            self._create(temporary, text)
            os.replace(temporary, path)
        except BaseException:
            self.delete(temporary)
            raise
        _sync_folder(os.path.dirname(path))

    def write_new(self, path: str, text: str) -> bool:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = _temporary(path)
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
        if os.path.lexists(target):
            raise FileExistsError(target)
        os.rename(source, target)
        _sync_folder(os.path.dirname(target))

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


def _os_errors(method: "Callable[Concatenate[HadoopFiles, P], T]") -> "Callable[Concatenate[HadoopFiles, P], T]":
    """The method, with Java's `IOException`s as Python's `OSError`s."""

    @wraps(method)
    def call(files: "HadoopFiles", /, *arguments: P.args, **named: P.kwargs) -> T:
        from py4j.protocol import Py4JJavaError

        try:
            return method(files, *arguments, **named)
        except Py4JJavaError as error:
            found = _os_error(error.java_exception)
            if found is None:
                raise
            raise found from error

    return call


def _os_error(thrown: Any) -> OSError | None:
    """The Python error for a Java exception; None if it is not an I/O error."""
    kinds, kind = [], thrown.getClass()
    while kind is not None:
        kinds.append(str(kind.getName()))
        kind = kind.getSuperclass()
    if "java.io.IOException" not in kinds:
        return None
    message = str(thrown.getMessage() or kinds[0])
    return next((error(message) for name, error in _JAVA_ERRORS if any(cls.endswith(name) for cls in kinds)), None)


_JAVA_ERRORS: Final = (
    (".FileNotFoundException", FileNotFoundError),
    (".AccessControlException", PermissionError),
    (".FileAlreadyExistsException", FileExistsError),
    ("java.io.IOException", OSError),
)


class HadoopFiles:
    """A Hadoop file system, through the session's JVM.

    `is_object_store`: a file appears at once when it is closed, and a rename is a copy.
    """

    def __init__(self, jvm: Any, system: Any) -> None:
        self.jvm = jvm
        self.system = system
        scheme = str(system.getUri().getScheme())
        self.is_s3 = scheme == "s3a"
        self.is_object_store = f"{scheme}:" in OBJECT_STORES

    @_os_errors
    def exists(self, path: str) -> bool:
        return bool(self.system.exists(self._path(path)))

    @_os_errors
    def is_file(self, path: str) -> bool:
        return self.exists(path) and bool(self.system.getFileStatus(self._path(path)).isFile())

    @_os_errors
    def children(self, folder: str) -> list[str]:
        if not self.exists(folder):
            return []
        return sorted(str(status.getPath().getName()) for status in self.system.listStatus(self._path(folder)))

    @_os_errors
    def files(self, folder: str) -> list[str]:
        return sorted(self._files(folder)) if self.exists(folder) else []

    @_os_errors
    def modification_times(self, folder: str) -> dict[str, int]:
        if not self.exists(folder):
            return {}
        return {name: int(status.getModificationTime()) for name, status in self._statuses(folder)}

    def _files(self, folder: str) -> Iterator[str]:
        return (name for name, _ in self._statuses(folder))

    def _statuses(self, folder: str) -> Iterator[tuple[str, Any]]:
        start = len(str(self._path(folder).toUri().getPath()).rstrip("/")) + 1
        listed = self.system.listFiles(self._path(folder), True)
        while listed.hasNext():
            status = listed.next()
            yield str(status.getPath().toUri().getPath())[start:], status

    @_os_errors
    def make_folder(self, path: str) -> None:
        self.system.mkdirs(self._path(path))

    @_os_errors
    def read(self, path: str) -> str:
        stream = self.system.open(self._path(path))
        try:
            return str(self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    @_os_errors
    def sizes(self, folder: str) -> dict[str, int]:
        """Of all files below a directory, by their path in it, in bytes."""
        return {name: int(status.getLen()) for name, status in self._statuses(folder)} if self.exists(folder) else {}

    @_os_errors
    def write(self, path: str, text: str) -> None:
        if self.is_object_store:
            self._fill(self.system.create(self._path(path), True), text)
        elif not self.write_new(path, text):
            self.delete(path)
            self.write_new(path, text)

    @_os_errors
    def write_new(self, path: str, text: str) -> bool:
        if self.is_object_store:
            return self._create(path, text)
        folder = path.rpartition("/")[0]
        temporary = _temporary(path)
        self.make_folder(folder)
        self._fill(self.system.create(self._path(temporary), True), text)
        if self.exists(path) or not self.system.rename(self._path(temporary), self._path(path)):
            self.delete(temporary)
            return False
        return True

    def _create(self, path: str, text: str) -> bool:
        """The store refuses the second of two writers; S3A asks for that by an option."""
        from py4j.protocol import Py4JJavaError

        if self.exists(path):
            return False
        builder = self.system.createFile(self._path(path)).overwrite(self.is_s3)
        try:
            self._fill((builder.must(_IF_ABSENT, True) if self.is_s3 else builder).build(), text)
        except Py4JJavaError:
            if self.exists(path):
                return False
            raise
        return True

    def _fill(self, stream: Any, text: str) -> None:
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    @_os_errors
    def rename(self, source: str, target: str) -> None:
        self.make_folder(target.rpartition("/")[0])
        if self.exists(target):  # a rename onto a directory would move the source into it
            raise FileExistsError(target)
        if not self.exists(source):  # file systems report this in different ways
            raise FileNotFoundError(source)
        if not self.system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} could not be renamed to {target}")

    @_os_errors
    def delete(self, path: str) -> None:
        self.system.delete(self._path(path), True)

    def delete_empty(self, folder: str) -> None:
        if self.exists(folder) and not self.children(folder):
            with suppress(OSError):  # another process added a file in the meantime
                self._delete_folder(folder)

    @_os_errors
    def _delete_folder(self, folder: str) -> None:
        self.system.delete(self._path(folder), False)

    @_os_errors
    def copy_to_local(self, path: str, local: str) -> None:
        self.system.copyToLocalFile(False, self._path(path), self._path(f"file://{local}"), True)

    @_os_errors
    def copy_from_local(self, local: str, path: str) -> None:
        self.system.copyFromLocalFile(False, True, self._path(f"file://{local}"), self._path(path))

    def _path(self, path: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(path)


def _temporary(path: str) -> str:
    """A hidden name next to the path that no other process or thread uses."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{os.urandom(16).hex()}.tmp"


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
