"""The few file operations that a commit needs: on this machine's disk, any Hadoop file system, SFTP and FTP servers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from connectors.shared.java_names import java_named
from connectors.shared.store_primitives import Primitives
from connectors.storage.hadoop_files import HadoopFiles
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import local_path
from connectors.storage.servers.server import FileServer, is_on_server
from connectors.storage.servers.server_files import ServerFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Files(Protocol):
    """Operations on absolute paths of one file system. Directories are made with their parents. Errors are OSErrors.

    `primitives`: what the file system does in one step.
    """

    @property
    def primitives(self) -> Primitives: ...

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

    def move(self, source: str, target: str) -> None:
        """Rename into a directory that exists; raises OSError if it does not, or if the target exists."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy a file, also over another one."""
        ...

    def size(self, path: str) -> int:
        """Of a file, in bytes."""
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
    if is_on_server(path):
        served = ServerFiles(FileServer.of(path, lambda name: spark.conf.get(name, None)))
        return served, served.absolute(path)
    found = local_path(path)
    if found is not None and _is_local_by_default(spark):
        return LocalFiles(), os.path.realpath(found)
    jvm = _jvm(spark)
    hadoop = java_named(jvm, "org.apache.hadoop.fs.Path")(found if found is not None else path)
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


def _jvm(spark: "SparkSession") -> Any:
    return spark.sparkContext._jvm


def _is_local_by_default(spark: "SparkSession") -> bool:
    """Whether paths without a scheme are on this machine. Cheaper than Hadoop's own answer, which copies all settings:
    it is asked several times for each table."""
    context: Any = spark.sparkContext
    of_session = spark.conf.get("fs.defaultFS", "")
    return str(of_session or context._jsc.hadoopConfiguration().get("fs.defaultFS", "")).startswith("file:")


def _configuration(spark: "SparkSession") -> Any:
    return spark._jsparkSession.sessionState().newHadoopConf()
