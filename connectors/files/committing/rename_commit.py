"""Commits files on a file system that cannot exchange two directories: renames, in an order that can be resumed."""

from connectors.files.committing.file_staged import PARTITIONS, REPLACE
from connectors.files.foreign_files import MARKS
from connectors.storage.filesystem import Files


def commit_by_renames(files: Files, mode: str, staging: str, target: str) -> None:
    data, old = f"{staging}/data", f"{staging}/old"
    if mode == REPLACE or (not files.exists(target) and not files.exists(f"{staging}/moving")):
        if files.exists(target) and not files.exists(old):
            files.rename(target, old)
        files.rename(data, target)
        return
    files.write(f"{staging}/moving", "")
    names = files.files(data)
    marks = [name for name in names if name.startswith(f"{MARKS}/")]
    if mode == PARTITIONS:
        for part in sorted({name.rpartition("/")[0] for name in names if name not in marks} - {""}):
            if files.exists(f"{target}/{part}") and not files.exists(f"{old}/{part}"):
                files.rename(f"{target}/{part}", f"{old}/{part}")
            files.rename(f"{data}/{part}", f"{target}/{part}")
        names = files.files(data)
    for name in sorted(set(names) - set(marks)) + marks:  # the mark comes last: it records that all is done
        files.delete(f"{target}/{name}")  # exists if a rename that copies, as on object stores, was interrupted
        files.rename(f"{data}/{name}", f"{target}/{name}")
