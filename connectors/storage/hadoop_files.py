"""The file operations of `filesystem.Files` on any file system that Hadoop reaches."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from connectors.shared.java_names import java_named
from connectors.shared.store_primitives import Primitives, primitives_of
from connectors.shared.temporary_names import temporary_name
from connectors.storage.object_store import OBJECT_STORES

P = ParamSpec("P")
T = TypeVar("T")

_IF_ABSENT: Final = "fs.option.create.conditional.overwrite"


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
        self.primitives: Primitives = primitives_of(scheme)

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
        else:
            while not self.write_new(path, text):  # another process may write it at the same moment
                self.delete(path)

    @_os_errors
    def write_new(self, path: str, text: str) -> bool:
        if self.is_object_store:
            return self._create(path, text)
        folder = path.rpartition("/")[0]
        temporary = temporary_name(path)
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
        self.move(source, target)

    @_os_errors
    def move(self, source: str, target: str) -> None:
        if self.exists(target):
            raise FileExistsError(target)
        if not self.system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} could not be renamed to {target}")

    @_os_errors
    def copy(self, source: str, target: str) -> None:
        util, conf = java_named(self.jvm, "org.apache.hadoop.fs.FileUtil"), self.system.getConf()
        if not util.copy(self.system, self._path(source), self.system, self._path(target), False, True, conf):
            raise OSError(f"{source} could not be copied to {target}")

    @_os_errors
    def size(self, path: str) -> int:
        return int(self.system.getFileStatus(self._path(path)).getLen())

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
        # through streams: S3A's copyFromLocalFile has a client of its own, which fails where a server answers
        # "100 Continue" and leaves the store's settings of connections aside
        source, configuration = self._path(f"file://{local}"), self.system.getConf()
        file_util = self.jvm.org.apache.hadoop.fs.FileUtil
        here = source.getFileSystem(configuration)
        file_util.copy(here, source, self.system, self._path(path), False, True, configuration)

    def _path(self, path: str) -> Any:
        return java_named(self.jvm, "org.apache.hadoop.fs.Path")(path)
