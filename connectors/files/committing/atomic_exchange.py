"""Swap two directories in one step, where the operating system can."""

import errno
import os
import sys
from typing import Final

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_RENAME_SWAP: Final = 2
_UNABLE: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: str, other: str) -> bool:
    """Make each path name what the other named, atomically; False, with nothing done, where this system cannot.

    Linux: `renameat2(RENAME_EXCHANGE)`; macOS: `renamex_np(RENAME_SWAP)`. Raises OSError for other failures.
    """
    import ctypes  # here, since importing it is slow and only commits need it

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(first, second, _RENAME_SWAP)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNABLE:
        return False
    raise OSError(number, os.strerror(number), one, None, other)
