"""The address of a file server and a login to it, and the operations of its protocol.

sftp://etl@files.example.com:22/in/a.csv     an absolute path
sftp://etl@files.example.com:22/~/in/a.csv   a path below the directory that the server opens at login
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Final, Protocol
from urllib.parse import quote, unquote

from connectors.shared.split_location import split_location

SCHEMES: Final = ("sftp", "ftp")
SETTING: Final = "penstock.server."
"""Begins the settings of a session that hold what a login needs."""


@dataclass(frozen=True, slots=True)
class FileServer:
    """A server and a login. `host_key`: the fingerprint (`SHA256:…`) that an SFTP server must show, or
    `known_hosts`; `is_passive`: the
    client opens FTP's data connections."""

    scheme: str
    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    private_key_file: str = ""
    host_key: str = ""
    is_passive: bool = False

    @property
    def root(self) -> str:
        """The URI of its root, without a slash at the end."""
        return f"{self.scheme}://{quote(self.user, safe='')}@{self.host}:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """The login as settings of a session."""
        return {
            self._setting("password"): self.password,
            self._setting("private_key_file"): self.private_key_file,
            self._setting("host_key"): self.host_key,
            self._setting("is_passive"): str(self.is_passive).lower(),
        }

    def _setting(self, name: str) -> str:
        return f"{SETTING}{self.root}.{name}"

    @classmethod
    def of(cls, uri: str, setting: Callable[[str], str | None]) -> "FileServer":
        """The server of a URI, with the login as the settings have it."""
        parts = split_location(uri)
        default = 22 if parts.scheme == "sftp" else 21
        plain = cls(parts.scheme, parts.hostname or "", parts.port or default, unquote(parts.username or "anonymous"))
        return cls(
            plain.scheme,
            plain.host,
            plain.port,
            plain.user,
            setting(plain._setting("password")) or "",
            setting(plain._setting("private_key_file")) or "",
            setting(plain._setting("host_key")) or "",
            setting(plain._setting("is_passive")) == "true",
        )


def location(server: FileServer, path: str) -> str:
    """The URI of a path; one without a slash at its start is below the directory of the login."""
    return f"{server.root}{path}" if path.startswith("/") else f"{server.root}/~/{path}".rstrip("/")


def is_on_server(path: str) -> bool:
    return split_location(path).scheme in SCHEMES


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A file or directory; `modified` in seconds since 1970, where the server names it."""

    name: str
    is_folder: bool
    size: int = 0
    modified: int = 0


class Client(Protocol):
    """One connection to a server. Paths are absolute on the server. Errors are OSErrors."""

    home: str
    """The directory that the server opens at login."""

    def is_open(self) -> bool: ...

    def close(self) -> None: ...

    def entry(self, path: str) -> ServerEntry | None:
        """What is at a path; None if nothing is."""
        ...

    def entries(self, folder: str) -> list[ServerEntry]:
        """What a directory holds, hidden files too."""
        ...

    def make_folder(self, path: str) -> None:
        """Make one directory, whose parent exists."""
        ...

    def remove_file(self, path: str) -> None: ...

    def remove_folder(self, path: str) -> None:
        """Raises OSError if the directory is not empty."""
        ...

    def move(self, source: str, target: str) -> None:
        """Rename, where nothing is at the target."""
        ...

    def replace(self, source: str, target: str) -> None:
        """Rename a file over another, in one step where the server can."""
        ...

    def move_new(self, source: str, target: str) -> bool:
        """Rename a file; False, with nothing done, if the target exists: of two clients, one wins."""
        ...

    def download(self, path: str, file: IO[bytes]) -> None: ...

    def upload(self, file: IO[bytes], path: str) -> None: ...
