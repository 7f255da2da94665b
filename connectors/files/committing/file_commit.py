"""Commits files: staged in a hidden directory next to the target, then moved into it.

    out/.orders.penstock/lock            which run may write to out/orders
    out/.orders.penstock/<id>/data       the staged rows; <id> is the run's and the write's
    out/.orders.penstock/<id>/next       the future target, made of hard links; after the swap, the old target
    out/orders/_penstock/<id>.json       the mark of a finished commit; Spark's readers ignore it

On a local disk the target is swapped for its successor atomically, in every mode: readers see either the old or the new
files. Hadoop file systems have no such operation: there `replace` is two renames, and the other modes move file by
file. On S3, where a rename is a copy, the commit completes uploads instead (`upload_commit`). All steps can be repeated
after a kill and lead to the same files.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import run_error
from catalog.tables.savemode import Action
from connectors.commits.commit_errors import rows_are_gone
from connectors.files.committing import target_lock
from connectors.files.committing.file_staged import APPEND, PARTITIONS, REPLACE, FileStaged, has_mark, missing_folders
from connectors.files.committing.local_commit import carry_over, commit_locally
from connectors.files.committing.rename_commit import commit_by_renames
from connectors.files.committing.target_lock import F
from connectors.files.committing.upload_commit import abort_uploads, commit_uploads, has_uploads, stage_uploads
from connectors.files.foreign_files import MARKS, foreign_files, refuse_foreign_files
from connectors.interface.sink import WriteTask
from connectors.storage.filesystem import Files, as_uri, files_at
from connectors.storage.local_files import LocalFiles
from connectors.storage.object_store import NO_SETTINGS, StoreSettings
from connectors.storage.paths import is_hidden, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Writer = Callable[["DataFrame", str, list[str]], None]
"""Writes rows into a directory (a URI), partitioned by columns."""


def prepare(
    spark: "SparkSession", task: WriteTask, actions: Sequence[Action], store: StoreSettings = NO_SETTINGS
) -> FileStaged:
    """Determine the locations of the write; changes nothing."""
    files, target = files_at(spark, task.options.string("path"))
    if target in ("/", os.path.expanduser("~")) or (os.getcwd() + "/").startswith(target.rstrip("/") + "/"):
        raise run_error(
            "PEN5005", f"`{target}` cannot be a target: all of its content would be replaced", task.options.span("path")
        )
    replaces = {Action.REPLACE_ROWS, Action.DROP_AND_CREATE} & set(actions)
    mode = REPLACE if replaces else PARTITIONS if Action.REPLACE_PARTITIONS in actions else APPEND
    folder, root = _staging_root(target)
    if folder == target and mode == REPLACE and not target.startswith("s3a:"):
        message = f"`{target}` is the root of its file system, which cannot be renamed: its rows cannot be replaced"
        raise run_error("PEN5005", message, task.options.span("path"), "name a directory, or append the rows")
    return FileStaged(
        target=as_uri(target),
        root=as_uri(root),
        missing=tuple(missing_folders(files, folder)),
        staging=as_uri(f"{root}/{task.identity}"),
        identity=task.identity,
        run_id=task.run_id,
        mode=mode,
        journal=task.journal,
        owner=dict(task.owner),
        store=store,
    )


def _staging_root(target: str) -> tuple[str, str]:
    """The target's folder and the directory of its stagings, next to it; in it, where it is the root of a store."""
    scheme, _, rest = target.partition("://")
    if rest and "/" not in rest.rstrip("/") and "://" in target:
        return target, f"{scheme}://{rest.rstrip('/')}/.root.penstock"
    folder, _, name = target.rpartition("/")
    return folder, f"{folder}/.{name}.penstock"


def stage(
    spark: "SparkSession",
    df: "DataFrame",
    task: WriteTask,
    prepared: F,
    *,
    by: list[str],
    write: Writer,
    end: Callable[["SparkSession", F], None],
) -> F:
    """Take the target's lock and write the rows into the staging directory; leaves nothing if it raises.

    `end` is the sink's own commit, for a killed run that had decided to commit to the same target.
    """
    files, staging = files_at(spark, prepared.staging)
    target_lock.acquire(spark, files, prepared, task, end)
    try:
        target_lock.clear(files, staging)
        files.make_folder(staging)
        write(df, as_uri(f"{staging}/data"), by)
        if not files.exists(f"{staging}/data"):
            raise run_error("PEN5005", f"Spark did not write the rows to `{staging}/data`", task.options.span("path"))
        names = files.files(f"{staging}/data")
        if by and not any(not is_hidden(name.rpartition("/")[2]) for name in names):
            # a partitioned write of no rows leaves no file: one without rows keeps the schema
            empty = spark.createDataFrame([], df.schema).coalesce(1)
            write(empty, as_uri(f"{staging}/data"), [])
        if prepared.mode == PARTITIONS:
            _refuse_foreign_partitions(files, prepared, task, names)
        mark = {"run_id": task.run_id, "at": time.time(), "files": files.files(f"{staging}/data")}
        files.write(f"{staging}/data/{MARKS}/{prepared.identity}.json", json.dumps(mark))
        stage_uploads(files, staging, files_at(spark, prepared.target)[1])
        files.write(f"{staging}/staged.json", json.dumps(prepared.to_json()))
    except BaseException:
        with suppress(OSError):  # the run's own abort tries again, and reports what is left
            abort(spark, prepared)
        raise
    return prepared


def _refuse_foreign_partitions(files: Files, prepared: FileStaged, task: WriteTask, staged: Sequence[str]) -> None:
    """As `refuse_foreign_files`, for the partitions that the staged files replace."""
    target = local_path(prepared.target) or prepared.target
    replaced = {folder for folder, _, name in (name.rpartition("/") for name in staged) if not is_hidden(name)}
    foreign = [name for name in foreign_files(files, target) if name.rpartition("/")[0] in replaced]
    refuse_foreign_files(files, target, task.options, foreign)


def commit(spark: "SparkSession | None", staged: FileStaged) -> None:
    """Move the staged files into the target; a second call finds the mark and only cleans up."""
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    _, target = files_at(spark, staged.target)
    if not has_mark(files, staged, target):
        if not files.exists(f"{staging}/data") and not files.exists(f"{staging}/next"):
            raise rows_are_gone(staged.run_id, target, staging)
        if isinstance(files, LocalFiles):
            commit_locally(files, staged.mode, staging, target)
        elif has_uploads(files, staging):
            mode = staged.mode
            commit_uploads(files, staging, target, replaces=mode == REPLACE, partitions=mode == PARTITIONS)
        else:
            commit_by_renames(files, staged.mode, staging, target)
    elif isinstance(files, LocalFiles) and staged.mode == APPEND:
        for before in ("next", "old"):  # the old target: its name depends on how it was swapped
            carry_over(f"{staging}/{before}", target)
    else:
        abort_uploads(files, staging)  # of rows that were staged again for a run that the target has
    target_lock.release(files, staged, staging)


def abort(spark: "SparkSession | None", staged: FileStaged) -> None:
    """Remove the staging directory and the lock."""
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    abort_uploads(files, staging)
    target_lock.release(files, staged, staging)


def is_committed(spark: "SparkSession | None", staged: FileStaged) -> bool:
    """Whether the target carries the mark of this run's write."""
    files, target = files_at(spark, staged.target)
    return has_mark(files, staged, target)
