"""Commits files on a file system that cannot exchange two directories: renames, in an order that can be resumed.

Each step that takes something from the target moves it into the staging: a process that was paused, and finds that
another one has renamed the staging, takes nothing.
"""

from connectors.files.committing.file_staged import PARTITIONS, REPLACE
from connectors.files.foreign_files import MARKS
from connectors.storage.filesystem import Files


def commit_by_renames(files: Files, mode: str, staging: str, target: str) -> None:
    data, old = f"{staging}/data", f"{staging}/old"
    if mode == REPLACE or (not files.exists(target) and not files.exists(f"{staging}/moving")):
        if files.exists(target) and not files.exists(old):
            files.move(target, old)
        files.rename(data, target)
        return
    files.write(f"{staging}/moving", "")
    names = files.files(data)
    marks = [name for name in names if name.startswith(f"{MARKS}/")]
    if mode == PARTITIONS:
        for part in sorted({name.rpartition("/")[0] for name in names if name not in marks} - {""}):
            _take(files, staging, target, part)
            files.rename(f"{data}/{part}", f"{target}/{part}")
        names = files.files(data)
    for name in sorted(set(names) - set(marks)) + marks:  # the mark comes last: it records that all is done
        _take(files, staging, target, name)
        files.rename(f"{data}/{name}", f"{target}/{name}")


def _take(files: Files, staging: str, target: str, name: str) -> None:
    """Move a file or directory of the target, where there is one of that name, into the staging."""
    place = f"{staging}/old,{name.replace('/', ',')}"
    if files.exists(f"{target}/{name}") and not files.exists(place):
        files.move(f"{target}/{name}", place)
