"""A connection to an FTP server, by the standard library's ftplib."""

import re
import time
from calendar import timegm
from collections.abc import Callable, Mapping
from contextlib import suppress
from ftplib import FTP, Error, error_perm, error_temp
from functools import wraps
from typing import IO, Concatenate, Final, ParamSpec, TypeVar

from connectors.storage.servers.server import FileServer, ServerEntry

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS: Final = 60
_STALE_SECONDS: Final = 20.0
_LINE: Final = re.compile(r"^([dl-])\S{9}\S*\s+\d+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+\S+\s+\S+\s(.+)$")
"""A line of LIST, as servers of Unix write it."""


def _os_errors(method: "Callable[Concatenate[FtpClient, P], T]") -> "Callable[Concatenate[FtpClient, P], T]":
    """The method, with the replies of an FTP server as OSErrors."""

    @wraps(method)
    def call(client: "FtpClient", /, *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return method(client, *arguments, **named)
        except error_perm as error:
            kind = PermissionError if str(error).startswith(("530", "532", "553")) else OSError
            raise kind(f"{client.server.root}: {error}") from error
        except (Error, EOFError) as error:
            client.is_broken = not isinstance(error, error_temp)
            raise ConnectionError(f"{client.server.root}: {error or 'the server ended the connection'}") from error

    return call


class FtpClient:
    """See `server.Client`."""

    def __init__(self, server: FileServer) -> None:
        self.server = server
        self.is_broken = False
        self.ftp = _connected(server)
        self.home = self.ftp.pwd().rstrip("/")
        self.ftp.voidcmd("TYPE I")  # SIZE counts bytes
        self.has_facts = self._has_facts()

    def _has_facts(self) -> bool:
        """Whether the server has MLSD; vsftpd has not."""
        try:
            return "MLST" in self.ftp.sendcmd("FEAT").upper()
        except error_perm:
            return False

    def is_open(self) -> bool:
        if self.is_broken or self.ftp.sock is None:
            return False
        try:
            self.ftp.voidcmd("NOOP")
        except (OSError, Error, EOFError):
            return False
        return True

    def close(self) -> None:
        self.ftp.close()

    @_os_errors
    def entry(self, path: str) -> ServerEntry | None:
        name = path.rpartition("/")[2]
        if self._opens(path or "/"):
            return ServerEntry(name, is_folder=True)
        try:
            size = self.ftp.size(path)
        except error_perm:
            return None
        return ServerEntry(name, False, size or 0, self._modified(path))

    def _opens(self, folder: str) -> bool:
        try:
            self.ftp.cwd(folder)
        except error_perm:
            return False
        return True

    def _modified(self, path: str) -> int:
        try:
            return _seconds(self.ftp.sendcmd(f"MDTM {path}").split()[1])
        except (error_perm, ValueError, IndexError):
            return 0

    @_os_errors
    def entries(self, folder: str) -> list[ServerEntry]:
        self.ftp.cwd(folder or "/")  # a path as an argument of LIST breaks at blanks
        if self.has_facts:
            listed = list(self.ftp.mlsd(facts=["type", "size", "modify"]))
            self.ftp.voidcmd("TYPE I")  # listings are text
            return [
                ServerEntry(
                    name, facts.get("type") == "dir", int(facts.get("size", 0)), _seconds(facts.get("modify", ""))
                )
                for name, facts in listed
                if facts.get("type") in ("dir", "file")
            ]
        lines: list[str] = []
        self.ftp.retrlines("LIST -a", lines.append)
        self.ftp.voidcmd("TYPE I")
        return [entry for line in lines if (entry := self._listed(folder, line)) is not None]

    def _listed(self, folder: str, line: str) -> ServerEntry | None:
        found = _LINE.match(line)
        if found is None or found[3] in (".", ".."):
            return None
        kind, size, name = found.groups()
        if kind == "l":
            return self.entry(f"{folder}/{name.partition(' -> ')[0]}")
        modified = 0 if kind == "d" else self._modified(f"{folder}/{name}")
        return ServerEntry(name, kind == "d", int(size), modified)

    @_os_errors
    def make_folder(self, path: str) -> None:
        self.ftp.mkd(path)

    @_os_errors
    def remove_file(self, path: str) -> None:
        self.ftp.delete(path)

    @_os_errors
    def remove_folder(self, path: str) -> None:
        self.ftp.cwd("/")  # some servers do not remove the directory that is open
        self.ftp.rmd(path)

    @_os_errors
    def move(self, source: str, target: str) -> None:
        self.ftp.rename(source, target)

    @_os_errors
    def replace(self, source: str, target: str) -> None:
        try:
            self.ftp.rename(source, target)
        except error_perm:  # where the server does not replace a file
            self.ftp.delete(target)
            self.ftp.rename(source, target)

    @_os_errors
    def move_new(self, source: str, target: str) -> bool:
        """FTP renames over an existing file. MKD is the command that fails if the name is taken, so a directory guards
        the look and the rename; one that a killed process left is removed after a while."""
        guard = f"{target}.guard"
        until = time.monotonic() + _STALE_SECONDS
        while True:
            try:
                self.ftp.mkd(guard)
                break
            except error_perm:
                if time.monotonic() > until:
                    with suppress(error_perm):
                        self.ftp.rmd(guard)
                    until = time.monotonic() + _STALE_SECONDS
                if self.entry(guard) is None:
                    if self.entry(guard.rpartition("/")[0]) is None:
                        raise
                    continue
                time.sleep(0.2)
        try:
            if self.entry(target) is not None:
                return False
            self.ftp.rename(source, target)
        finally:
            self.ftp.cwd("/")
            self.ftp.rmd(guard)
        return True

    @_os_errors
    def download(self, path: str, file: IO[bytes]) -> None:
        self.ftp.retrbinary(f"RETR {path}", file.write, blocksize=256 * 1024)

    @_os_errors
    def upload(self, file: IO[bytes], path: str) -> None:
        start = file.tell()
        self.ftp.storbinary(f"STOR {path}", file, blocksize=256 * 1024)
        if (found := self.ftp.size(path)) != (sent := file.tell() - start):
            raise OSError(f"{self.server.root}: {path} has {found} bytes of {sent}")


def _described(name: str, facts: Mapping[str, str]) -> ServerEntry:
    is_folder = facts.get("type") == "dir"
    return ServerEntry(name, is_folder, int(facts.get("size", 0)), _seconds(facts.get("modify", "")))


def _connected(server: FileServer) -> FTP:
    ftp = FTP(timeout=_SECONDS, encoding="utf-8")
    try:
        ftp.connect(server.host, server.port)
        ftp.login(server.user, server.password)
    except error_perm as error:
        ftp.close()
        raise PermissionError(f"{server.root} refused the login: {error}") from error
    except (Error, EOFError, OSError) as error:
        ftp.close()
        raise ConnectionError(f"{server.root} cannot be reached: {error}") from error
    ftp.set_pasv(server.is_passive)
    return ftp


def _seconds(text: str) -> int:
    """`20261124203000.123` as seconds since 1970; 0 for no time."""
    digits = text.partition(".")[0]
    return timegm(time.strptime(digits, "%Y%m%d%H%M%S")) if len(digits) == 14 else 0
