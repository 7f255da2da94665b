"""Commits files on a local disk: the target's successor is built of hard links, and the two are exchanged.

An append of one file is one rename, and one of a micro-batch moves its files one after the other: to link a whole
target for each of them would take longer with each micro-batch.
"""

import os
import shutil

from connectors.files.committing.atomic_exchange import exchange
from connectors.files.committing.file_staged import APPEND, PARTITIONS, REPLACE
from connectors.files.committing.rename_commit import commit_by_renames
from connectors.storage.local_files import LocalFiles
from connectors.storage.paths import is_hidden


def commit_locally(files: LocalFiles, mode: str, staging: str, target: str, *, by_file: bool = False) -> None:
    data, successor = f"{staging}/data", f"{staging}/next"
    if not files.exists(target) and files.exists(f"{staging}/old"):
        files.rename(successor if files.exists(successor) else data, target)  # killed between the two renames
        if mode == APPEND:
            carry_over(f"{staging}/old", target)
        return
    if mode == APPEND and files.exists(target) and (by_file or _is_one_file(data)):
        commit_by_renames(files, mode, staging, target)
        return
    if mode == REPLACE or not files.exists(target):
        successor = data
    else:
        files.delete(successor)
        if not _link_successor(mode, data, target, successor):
            commit_by_renames(files, mode, staging, target)  # the disk has no hard links
            return
    if not files.exists(target):
        files.rename(successor, target)
    elif exchange(successor, target):
        if mode == APPEND:
            carry_over(successor, target)
    else:
        files.move(target, f"{staging}/old")
        files.rename(successor, target)
        if mode == APPEND:
            carry_over(f"{staging}/old", target)


def _is_one_file(data: str) -> bool:
    """Whether at most one data file is staged, beside marks and others that no reader sees."""
    found = 0
    for _, folders, names in os.walk(data):
        folders[:] = [folder for folder in folders if not is_hidden(folder)]
        found += sum(not is_hidden(name) for name in names)
    return found <= 1


def _link_successor(mode: str, data: str, target: str, successor: str) -> bool:
    """Make `next`: the target's files that stay and the staged ones, as hard links; False if there are none."""
    replaced = _partitions(data) if mode == PARTITIONS else set()

    def leaves(folder: str, names: list[str]) -> set[str]:
        inner = os.path.relpath(folder, target)
        return {name for name in names if os.path.normpath(os.path.join(inner, name)) in replaced}

    os.mkdir(successor)  # not its parents: another process that ends the run has renamed the staging
    try:
        shutil.copytree(target, successor, symlinks=True, ignore=leaves, copy_function=os.link, dirs_exist_ok=True)
        shutil.copytree(data, successor, symlinks=True, copy_function=os.link, dirs_exist_ok=True)
    except (shutil.Error, PermissionError, NotImplementedError) as cause:
        shutil.rmtree(successor, ignore_errors=True)
        if isinstance(cause, shutil.Error) and any("No such file" in str(arg) for arg in cause.args[0]):
            raise OSError(f"{target} changed while it was being committed") from cause
        return False
    return True


def carry_over(old: str, target: str) -> None:
    """Preserve files that another program wrote to the target while its successor was built."""
    for root, _, names in os.walk(old):
        for name in names:
            source = os.path.join(root, name)
            place = os.path.join(target, os.path.relpath(source, old))
            if not os.path.lexists(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.rename(source, place)


def _partitions(data: str) -> set[str]:
    """The directories that hold the staged data files, by their path below `data`."""
    found = set()
    for root, folders, names in os.walk(data):
        folders[:] = [folder for folder in folders if not is_hidden(folder)]
        if any(not is_hidden(name) for name in names):
            found.add(os.path.relpath(root, data))
    return found - {"."}
