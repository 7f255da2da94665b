"""Commits files: staged in a hidden directory next to the target, then moved into it.

    out/.orders.penstock/claims          which run may write to out/orders (`target_lock`)
    out/.orders.penstock/<id>/data       the staged rows; <id> is the run's and the write's
    out/.orders.penstock/<id>/next       the future target, made of hard links; after the swap, the old target
    out/orders/_penstock/<id>.json       the mark of a finished commit; Spark's readers ignore it

On a local disk the target is swapped for its successor atomically, in every mode: readers see either the old or the new
files. Hadoop file systems have no such operation: there `replace` is two renames, and the other modes move file by
file. On S3, where a rename is a copy, the commit completes uploads instead (`upload_commit`); other stores where a
rename is a copy move file by file in every mode (`copy_commit`). All steps can be repeated after a kill and lead to the
same files.
"""

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from catalog.diagnostics.diagnostic import PenstockError, RunError, run_error
from catalog.tables.savemode import Action
from connectors.commits.steps import step_text
from connectors.files.committing import target_lock
from connectors.files.committing.empty_partition import Writer, stage_empty_partition
from connectors.files.committing.file_staged import (
    APPEND,
    PARTITIONS,
    REPLACE,
    FileStaged,
    has_mark,
    mark_of,
    missing_folders,
)
from connectors.files.committing.finish_commit import finish
from connectors.files.committing.folded_marks import fold_marks
from connectors.files.committing.upload_commit import stage_uploads
from connectors.files.foreign_files import foreign_files, refuse_foreign_files
from connectors.interface.run_context import RunContext
from connectors.interface.sink import WriteTask
from connectors.storage.filesystem import Files, as_uri, files_at
from connectors.storage.object_store import NO_SETTINGS, StoreSettings
from connectors.storage.paths import file_name, is_hidden, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

F = TypeVar("F", bound=FileStaged)


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
        staging=as_uri(f"{root}/{file_name(task.attempt)}"),
        identity=task.identity,
        run_id=task.run_id,
        mode=mode,
        journal=task.journal,
        owner=dict(task.owner),
        store=store,
        epoch=task.epoch,
        work=task.work,
        batch=task.batch_id,
        is_of_stream=task.is_of_stream,
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
) -> F:
    """Take the target's lock and write the rows into the staging directory; leaves nothing if it raises."""
    files, staging = files_at(spark, prepared.staging)
    root = staging.rpartition("/")[0]
    target_lock.acquire(spark, files, prepared, task.run)
    try:
        target_lock.clear(files, staging)
        files.make_folder(staging)
        write(df, as_uri(f"{staging}/data"), by)
        if not files.exists(f"{staging}/data"):
            raise run_error("PEN5005", f"Spark did not write the rows to `{staging}/data`", task.options.span("path"))
        names = files.files(f"{staging}/data")
        if by and not _data_files(names):
            keeps = bool(task.options.get("is_partition_field_write_in_file"))
            stage_empty_partition(spark, df, files, prepared, by=by, keeps_columns=keeps, write=write)
            names = files.files(f"{staging}/data")
        if prepared.mode == PARTITIONS:
            _refuse_foreign_partitions(files, prepared, task, names)
        mark = {"run_id": task.run_id, "at": time.time(), "work": task.work, "files": files.files(f"{staging}/data")}
        files.write(f"{staging}/data/{mark_of(prepared.identity)}", json.dumps(mark))
        stage_uploads(files, staging, files_at(spark, prepared.target)[1])
        files.write(f"{staging}/staged.json", step_text(prepared.to_json()))
        target_lock.check(files, root, task.run)
    except BaseException:
        with suppress(OSError, PenstockError):  # the run's own abort tries again, and reports what is left
            abort(spark, prepared, task.run)
        raise
    return prepared


def _data_files(names: Sequence[str]) -> list[str]:
    return [name for name in names if not is_hidden(name.rpartition("/")[2])]


def _refuse_foreign_partitions(files: Files, prepared: FileStaged, task: WriteTask, staged: Sequence[str]) -> None:
    """As `refuse_foreign_files`, for the partitions that the staged files replace."""
    target = local_path(prepared.target) or prepared.target
    replaced = {folder for folder, _, name in (name.rpartition("/") for name in staged) if not is_hidden(name)}
    foreign = [name for name in foreign_files(files, target) if name.rpartition("/")[0] in replaced]
    refuse_foreign_files(files, target, task.options, foreign)


def commit(spark: "SparkSession | None", staged: F, run: RunContext) -> None:
    """Move the staged files into the target; a second call finds the mark and only cleans up.

    Raises PEN5401 if another process has taken the write over meanwhile.
    """
    staged.store.apply(spark)
    files, root = files_at(spark, staged.root)
    target_lock.acquire(spark, files, staged, run)
    try:
        finish(spark, staged.at(as_uri(target_lock.fenced(files, root, staged, run))))
        if (batch := staged.micro_batch) is not None:
            fold_marks(files, files_at(spark, staged.target)[1], batch)
    except RunError:
        if target_lock.located(files, root, target_lock.base_name(staged)) is None:  # nothing is left to finish
            target_lock.release(files, root, staged, run)
        raise
    target_lock.release(files, root, staged, run)


def abort(spark: "SparkSession | None", staged: F, run: RunContext) -> None:
    """Remove the staging directory and the lock."""
    staged.store.apply(spark)
    files, root = files_at(spark, staged.root)
    if not files.exists(root):
        return
    with suppress(RunError):  # of another run, which has the lock: it removes what it finds here
        target_lock.acquire(spark, files, staged, run)
    for name in target_lock.named(files, root, target_lock.base_name(staged)):
        target_lock.clear(files, f"{root}/{name}")
    target_lock.release(files, root, staged, run)


def kept(spark: "SparkSession | None", staged: F, task: WriteTask) -> F | None:
    """Take over what an earlier attempt of the write has staged, with the lock of the target; None where files are
    missing."""
    staged.store.apply(spark)
    files, root = files_at(spark, staged.root)
    name = target_lock.base_name(staged)
    adopted = replace(staged, journal=task.journal, owner=dict(task.owner), epoch=task.epoch)
    target_lock.acquire(spark, files, adopted, task.run, keeps=name)
    data = f"{root}/{name}/data"
    mark = f"{data}/{mark_of(staged.identity)}"
    if not (files.exists(f"{root}/{name}/staged.json") and files.exists(mark)):
        return None
    if not set(json.loads(files.read(mark))["files"]) <= set(files.files(data)):
        return None
    files.write(f"{root}/{name}/staged.json", step_text(adopted.to_json()))
    return adopted


def is_committed(spark: "SparkSession | None", staged: FileStaged) -> bool:
    """Whether the target carries the mark of this run's write."""
    files, target = files_at(spark, staged.target)
    return has_mark(files, staged, target)
