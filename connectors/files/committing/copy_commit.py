"""Commits files on a store where a rename is a copy: file by file, what they replace after them, the mark last.

A copied directory would show its files in the order of their names, and the mark before the parts. Two processes may do
the steps at once, as when one was paused and the other ends its run: each step leads to the same files, and fails once
the staging is gone.
"""

import json

from connectors.files.committing.replaced_files import replaced_files
from connectors.storage.filesystem import Files


def commit_by_copies(files: Files, mode: str, staging: str, target: str, mark: str) -> None:
    text = files.read(f"{staging}/data/{mark}")
    names = [str(name) for name in json.loads(text)["files"]]
    replaced = replaced_files(files, mode, staging, target, names)
    for name in names:
        _move(files, f"{staging}/data/{name}", f"{target}/{name}", is_old=name in replaced.overwritten)
    for name in replaced.deleted:
        files.delete(f"{target}/{name}")
    files.write(f"{target}/{mark}", text)


def _move(files: Files, source: str, target: str, *, is_old: bool) -> None:
    """Move a file; done before if only the target is there. A kill may leave both, the target's being incomplete."""
    if not files.exists(source):
        if not files.exists(target):
            raise FileNotFoundError(source)
    elif is_old or (files.exists(target) and files.size(target) != files.size(source)):
        files.copy(source, target)
        files.delete(source)
    elif files.exists(target):
        files.delete(source)
    else:
        files.rename(source, target)
