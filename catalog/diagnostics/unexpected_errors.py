"""Exceptions that nobody expected: those of the operating system are errors of users, the others bugs in Penstock."""

import errno
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostic, internal_error

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_FILES: Final = (errno.EMFILE, errno.ENFILE)
_REMEDIES: Final = {
    **dict.fromkeys(_FULL, "free space on the disk, or choose another directory"),
    **dict.fromkeys(_FILES, "let the process open more files: `ulimit -n 8192`"),
    errno.EROFS: "choose a directory of a disk that can be written to",
    errno.EACCES: "change the permissions, or choose another path",
    errno.EPERM: "change the permissions, or choose another path",
    errno.EIO: "check the disk, or the network that it is reached by",
    errno.ESTALE: "mount the file system again",
    errno.ENOMEM: "free memory of the machine",
    errno.EAGAIN: "let the user start more processes: `ulimit -u`",
}
_OF_CONNECTIONS: Final = "check that the server is running and can be reached from here"


def unexpected_error(error: Exception, *, where: str = "", verbose: bool = False) -> Diagnostic:
    """The diagnostic of any exception; `where`: the job in which it was met."""
    return os_error(error) if isinstance(error, OSError) else internal_error(error, where=where, verbose=verbose)


def os_error(error: OSError) -> Diagnostic:
    """PEN5031 of a full disk, PEN1006 of a file that it names, else PEN5461; never PEN9001."""
    said = error.strerror or str(error) or type(error).__name__
    is_connection = isinstance(error, ConnectionError | TimeoutError) or type(error).__name__ in ("gaierror", "herror")
    help = _OF_CONNECTIONS if is_connection else _REMEDIES.get(error.errno or 0)
    place = f" (`{error.filename}`)" if error.filename is not None else ""
    if error.errno in _FULL:
        return Diagnostic("PEN5031", f"no space is left on a disk{place}: {said}", help=help)
    if error.filename is not None:
        return Diagnostic("PEN1006", f"`{error.filename}` cannot be read or written: {said}", help=help)
    what = "a connection failed" if is_connection else "the operating system refused what the command needs"
    return Diagnostic("PEN5461", f"{what}: {said}", help=help)
