"""Keeps other users of the machine out of a directory."""

import os
import stat
from collections.abc import Collection


def make_private(folder: str, names: Collection[str]) -> bool:
    """Take from a directory that is there what others may do in it; False if that can only be done by another user.

    Where the directory holds more than `names`, it is one that has other files of the user, and only what it holds
    under these names is changed. A directory with the setgid bit is shared by its group, which keeps its rights.
    """
    if os.name != "posix" or not os.path.isdir(folder):
        return True
    there = os.listdir(folder)
    others = [name for name in there if name not in names and not name.endswith(".tmp")]
    found = [os.path.join(folder, name) for name in there if name in names] if others else [folder]
    tightened = [_tightened(path) for path in found]
    return all(tightened)


def mode_of(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def _tightened(path: str) -> bool:
    found = os.lstat(path)
    kept = stat.S_IRWXU | (stat.S_ISGID | stat.S_IRWXG if found.st_mode & stat.S_ISGID else 0)
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode) or mode & stat.S_ISVTX or mode == mode & kept:  # a sticky one is for all users
        return True
    try:
        os.chmod(path, mode & kept)
    except OSError:
        return False
    return True
