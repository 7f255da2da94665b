"""A connection to an SFTP server, by paramiko."""

import base64
import hashlib
import os
import stat
from collections.abc import Callable
from functools import wraps
from typing import IO, TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

from catalog.diagnostics.diagnostic import run_error
from catalog.distribution import pip_install
from connectors.storage.servers.server import FileServer, ServerEntry

if TYPE_CHECKING:
    import paramiko

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS: Final = 30


def _os_errors(method: "Callable[Concatenate[SftpClient, P], T]") -> "Callable[Concatenate[SftpClient, P], T]":
    """The method, with the errors of SSH as OSErrors."""

    @wraps(method)
    def call(client: "SftpClient", /, *arguments: P.args, **named: P.kwargs) -> T:
        import paramiko

        try:
            return method(client, *arguments, **named)
        except (paramiko.SSHException, EOFError) as error:
            raise ConnectionError(f"{client.server.root}: {error or 'the server ended the connection'}") from error

    return call


class SftpClient:
    """See `server.Client`."""

    def __init__(self, server: FileServer) -> None:
        self.server = server
        self.ssh = _connected(server)
        sftp = self.ssh.open_sftp()
        if (channel := sftp.get_channel()) is not None:
            channel.settimeout(_SECONDS * 4)
        self.sftp = sftp
        self.home = sftp.normalize(".").rstrip("/")

    def is_open(self) -> bool:
        transport = self.ssh.get_transport()
        return transport is not None and transport.is_active()

    def close(self) -> None:
        self.ssh.close()

    @_os_errors
    def entry(self, path: str) -> ServerEntry | None:
        try:
            return _entry(path.rpartition("/")[2], self.sftp.stat(path))
        except FileNotFoundError:
            return None

    @_os_errors
    def entries(self, folder: str) -> list[ServerEntry]:
        found = []
        for attributes in self.sftp.listdir_attr(folder):
            if stat.S_ISLNK(attributes.st_mode or 0):
                linked = self.entry(f"{folder}/{attributes.filename}")
                found += [] if linked is None else [linked]
            else:
                found.append(_entry(attributes.filename, attributes))
        return found

    @_os_errors
    def make_folder(self, path: str) -> None:
        self.sftp.mkdir(path)

    @_os_errors
    def remove_file(self, path: str) -> None:
        self.sftp.remove(path)

    @_os_errors
    def remove_folder(self, path: str) -> None:
        self.sftp.rmdir(path)

    @_os_errors
    def move(self, source: str, target: str) -> None:
        self.sftp.rename(source, target)

    @_os_errors
    def replace(self, source: str, target: str) -> None:
        try:
            self.sftp.posix_rename(source, target)
        except FileNotFoundError:
            raise
        except OSError:  # the extension is OpenSSH's
            if self.entry(target) is not None:
                self.sftp.remove(target)
            self.sftp.rename(source, target)

    @_os_errors
    def move_new(self, source: str, target: str) -> bool:
        if self.entry(target) is not None:
            return False
        try:
            self.sftp.rename(source, target)  # by the protocol it fails if the target exists
        except OSError:
            if self.entry(target) is None:
                raise
            return False
        return True

    @_os_errors
    def download(self, path: str, file: IO[bytes]) -> None:
        self.sftp.getfo(path, file, max_concurrent_prefetch_requests=64)

    @_os_errors
    def upload(self, file: IO[bytes], path: str) -> None:
        self.sftp.putfo(file, path, confirm=True)


def _entry(name: str, attributes: Any) -> ServerEntry:
    is_folder = stat.S_ISDIR(attributes.st_mode or 0)
    return ServerEntry(name, is_folder, int(attributes.st_size or 0), int(attributes.st_mtime or 0))


def _connected(server: FileServer) -> "paramiko.SSHClient":
    """A login. A server of `~/.ssh/known_hosts` must show the key that is recorded there."""
    try:
        import paramiko
    except ModuleNotFoundError as cause:
        raise run_error("PEN9003", "files of an SFTP server need paramiko", None, pip_install("sftp")) from cause
    ssh = paramiko.SSHClient()
    ssh.load_system_host_keys()
    ssh.set_missing_host_key_policy(_policy(server.host_key))
    key = server.private_key_file
    try:
        ssh.connect(
            server.host,
            server.port,
            server.user,
            server.password or None,
            key_filename=os.path.expanduser(key) if key else None,
            passphrase=server.password if key else None,
            allow_agent=not server.password,
            look_for_keys=not server.password and not key,
            timeout=_SECONDS,
            banner_timeout=_SECONDS,
            auth_timeout=_SECONDS,
        )
    except paramiko.AuthenticationException as error:
        ssh.close()
        raise PermissionError(f"{server.root} refused the login: {error}") from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        ssh.close()
        raise ConnectionError(f"{server.root} cannot be reached: {error}") from error
    return ssh


def _policy(host_key: str) -> "paramiko.MissingHostKeyPolicy":
    """Of a server that is not in `known_hosts`: it is accepted, unless `host_key` says otherwise."""
    import paramiko

    class Pinned(paramiko.MissingHostKeyPolicy):
        """Asked before the login, so that no password reaches another server."""

        def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
            if (shown := _fingerprint(key)) != host_key:
                raise paramiko.SSHException(f"the server shows the key {shown}, not `host_key`")

    if not host_key:
        return paramiko.AutoAddPolicy()
    return paramiko.RejectPolicy() if host_key == "known_hosts" else Pinned()


def _fingerprint(key: "paramiko.PKey") -> str:
    """As `ssh-keygen -l` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
