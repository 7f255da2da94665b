"""Moves staged files into their target, in the way that its file system has."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from connectors.commits.claiming import taken_over
from connectors.commits.commit_errors import rows_are_gone
from connectors.commits.marks import refuse_other_work
from connectors.files.committing.copy_commit import commit_by_copies
from connectors.files.committing.file_staged import APPEND, FileStaged, found_mark, has_mark, mark_of
from connectors.files.committing.local_commit import carry_over, commit_locally
from connectors.files.committing.rename_commit import commit_by_renames
from connectors.files.committing.upload_commit import abort_uploads, commit_uploads, has_uploads
from connectors.storage.filesystem import Files, files_at
from connectors.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def finish(spark: "SparkSession | None", staged: FileStaged, done: Callable[[], None] | None = None) -> None:
    """Move the staged files into the target, for the holder of its lock. A second call finds the mark, and cleans up.
    `done` is called when all is moved, before the staging is removed.

    Raises PEN5401 if another process has taken the write over meanwhile.
    """
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    _, target = files_at(spark, staged.target)
    if not has_mark(files, staged, target):
        if not files.exists(f"{staging}/data") and not files.exists(f"{staging}/next"):
            raise rows_are_gone(staged.run_id, target, staging)
        _move(files, staged, staging, target)
        if not has_mark(files, staged, target):  # each step found that another process has renamed the staging
            raise taken_over(staged.run_id)
        if done is not None:
            done()
        files.delete(staging)
        return
    refuse_other_work(staged.run_id, target, found_mark(files, staged.identity, target).work, staged.work)
    if isinstance(files, LocalFiles) and staged.mode == APPEND:
        for before in ("next", "old"):  # the old target: its name depends on how it was swapped
            carry_over(f"{staging}/{before}", target)
    else:
        abort_uploads(files, staging)  # of rows that were staged again for a run that the target has
    if done is not None:
        done()
    files.delete(staging)


def _move(files: Files, staged: FileStaged, staging: str, target: str) -> None:
    if isinstance(files, LocalFiles):
        commit_locally(files, staged.mode, staging, target, by_file=staged.is_of_stream)
    elif has_uploads(files, staging):
        commit_uploads(files, staged.mode, staging, target)
    elif files.primitives.renames:
        commit_by_renames(files, staged.mode, staging, target)
    else:
        commit_by_copies(files, staged.mode, staging, target, mark_of(staged.identity))
