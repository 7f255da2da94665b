"""The file operations of `filesystem.Files` on an SFTP or FTP server, over one connection of this process."""

import io
import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from threading import RLock
from typing import TypeVar

from connectors.shared.store_primitives import Primitives, primitives_of
from connectors.shared.temporary_names import temporary_name
from connectors.storage.servers.server import Client, FileServer, ServerEntry

T = TypeVar("T")


def connect(server: FileServer) -> Client:
    if server.scheme == "sftp":
        from connectors.storage.servers.paramiko_client import SftpClient

        return SftpClient(server)
    from connectors.storage.servers.ftplib_client import FtpClient  # imported here: no command without files on servers

    return FtpClient(server)


class ServerConnection:
    """A connection that is opened on first use and after it was lost; one operation at a time."""

    def __init__(self, server: FileServer) -> None:
        self.server = server
        self.lock = RLock()
        self.client: Client | None = None

    def do(self, operation: Callable[[Client], T]) -> T:
        with self.lock:
            if self.client is None or not self.client.is_open():
                if self.client is not None:
                    self.client.close()
                self.client = connect(self.server)
            return operation(self.client)


@lru_cache(maxsize=16)
def connection(server: FileServer) -> ServerConnection:
    """The connection of this process to a server: a login costs more than most operations."""
    return ServerConnection(server)


class ServerFiles:
    """Files of a server; a path is a URI below its root."""

    def __init__(self, server: FileServer) -> None:
        self.server = server
        self._connection = connection(server)
        self.primitives: Primitives = primitives_of(server.scheme)

    def absolute(self, uri: str) -> str:
        """The URI with the directory of the login spelled out, without `..` and double slashes."""
        path = uri.removeprefix(self.server.root)
        if path == "/~" or path.startswith("/~/"):
            path = self._do(lambda client: client.home) + path[2:]
        return self.server.root + posixpath.normpath("/" + path.lstrip("/")).rstrip("/")

    def exists(self, path: str) -> bool:
        return self._entry(path) is not None

    def is_file(self, path: str) -> bool:
        entry = self._entry(path)
        return entry is not None and not entry.is_folder

    def children(self, folder: str) -> list[str]:
        entry = self._entry(folder)
        return sorted(child.name for child in self._entries(folder)) if entry is not None and entry.is_folder else []

    def files(self, folder: str) -> list[str]:
        return sorted(name for name, _ in self.entries_below(folder))

    def modification_times(self, folder: str) -> dict[str, int]:
        return {name: entry.modified * 1000 for name, entry in self.entries_below(folder)}

    def entries_below(self, folder: str) -> Iterator[tuple[str, ServerEntry]]:
        """All files below a directory, by their path in it."""
        entry = self._entry(folder)
        return self._below(folder, "") if entry is not None and entry.is_folder else iter(())

    def _below(self, folder: str, prefix: str) -> Iterator[tuple[str, ServerEntry]]:
        for entry in self._entries(folder):
            if entry.is_folder:
                yield from self._below(f"{folder}/{entry.name}", f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, entry

    def make_folder(self, path: str) -> None:
        if self.exists(path):
            return
        self.make_folder(path.rpartition("/")[0])
        try:
            self._do(lambda client: client.make_folder(self.path(path)))
        except OSError:
            if not self.exists(path):  # else another task made it
                raise

    def read(self, path: str) -> str:
        content = io.BytesIO()
        if not self.exists(path):
            raise FileNotFoundError(path)
        self._do(lambda client: client.download(self.path(path), content))
        return content.getvalue().decode()

    def write(self, path: str, text: str) -> None:
        temporary = self._uploaded(path, text)
        self._do(lambda client: client.replace(self.path(temporary), self.path(path)))

    def write_new(self, path: str, text: str) -> bool:
        temporary = self._uploaded(path, text)
        is_new = False
        try:
            is_new = self._do(lambda client: client.move_new(self.path(temporary), self.path(path)))
        finally:
            if not is_new:
                self.delete(temporary)
        return is_new

    def _uploaded(self, path: str, text: str) -> str:
        self.make_folder(path.rpartition("/")[0])
        temporary = temporary_name(path)
        self._do(lambda client: client.upload(io.BytesIO(text.encode()), self.path(temporary)))
        return temporary

    def rename(self, source: str, target: str) -> None:
        self.make_folder(target.rpartition("/")[0])
        self.move(source, target)

    def move(self, source: str, target: str) -> None:
        if self.exists(target):
            raise FileExistsError(target)
        if not self.exists(source):
            raise FileNotFoundError(source)
        self._do(lambda client: client.move(self.path(source), self.path(target)))

    def copy(self, source: str, target: str) -> None:
        content = io.BytesIO()
        self._do(lambda client: client.download(self.path(source), content))
        content.seek(0)
        self.make_folder(target.rpartition("/")[0])
        temporary = temporary_name(target)
        self._do(lambda client: client.upload(content, self.path(temporary)))
        self._do(lambda client: client.replace(self.path(temporary), self.path(target)))

    def size(self, path: str) -> int:
        entry = self._entry(path)
        if entry is None:
            raise FileNotFoundError(path)
        return entry.size

    def delete(self, path: str) -> None:
        entry = self._entry(path)
        if entry is None:
            return
        if not entry.is_folder:
            self._do(lambda client: client.remove_file(self.path(path)))
            return
        for name in self.children(path):
            self.delete(f"{path}/{name}")
        self._do(lambda client: client.remove_folder(self.path(path)))

    def delete_empty(self, folder: str) -> None:
        if self.exists(folder):
            with suppress(OSError):  # it is not empty
                self._do(lambda client: client.remove_folder(self.path(folder)))

    def _entry(self, path: str) -> ServerEntry | None:
        return self._do(lambda client: client.entry(self.path(path)))

    def _entries(self, folder: str) -> list[ServerEntry]:
        return self._do(lambda client: client.entries(self.path(folder)))

    def path(self, uri: str) -> str:
        """The path on the server."""
        return uri.removeprefix(self.server.root) or "/"

    def _do(self, operation: Callable[[Client], T]) -> T:
        return self._connection.do(operation)
