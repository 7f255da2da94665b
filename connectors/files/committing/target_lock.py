"""The lock of a target: one run at a time writes to it, and ends the write of a run that was killed."""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from catalog.diagnostics.diagnostic import run_error
from connectors.commits import run_owner as owner
from connectors.commits.run_decision import has_dismissed, was_decided
from connectors.files.committing.file_staged import FileStaged, has_mark
from connectors.files.committing.upload_commit import abort_uploads
from connectors.interface.sink import WriteTask
from connectors.storage.filesystem import Files, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound=FileStaged)


def acquire(
    spark: "SparkSession",
    files: Files,
    prepared: F,
    task: WriteTask,
    end: Callable[["SparkSession", F], None],
) -> None:
    """Lock the target for this run, and end the write of a killed run."""
    _, root = files_at(spark, prepared.root)
    lock = f"{root}/lock"
    held = json.dumps({"run_id": task.run_id, "owner": dict(prepared.owner), "journal": task.journal})
    for _ in range(3):
        try:
            if files.write_new(lock, held):
                return
        except FileNotFoundError:  # a run that ends removed the directory between two of our steps
            continue
        holder = _read(files, lock)
        if holder is None:
            continue
        mark = holder.get("owner") or {}
        if holder.get("run_id") == task.run_id and (owner.is_this_process(mark) or not owner.is_alive(mark)):
            files.write(lock, held)
            return
        if not has_dismissed(spark, holder.get("journal") or "") and not owner.has_died(mark):
            help = (
                f"wait until {owner.describe(mark)} has ended; where that process is gone for certain, "
                f"`penstock runs --forget {holder.get('run_id')}` dismisses its run and changes no target"
            )
            message = f"run {holder.get('run_id')} is writing to `{task.options['path']}`"
            raise run_error("PEN5007", message, task.options.span("path"), help)
        _end_dead_run(spark, files, root, type(prepared), end=end)
    help = f"run the job again; where no run writes to `{task.options['path']}`, move `{root}` to another folder first"
    raise run_error("PEN5007", f"the lock `{lock}` cannot be acquired", task.options.span("path"), help)


def _end_dead_run(
    spark: "SparkSession", files: Files, root: str, kind: type[F], *, end: Callable[["SparkSession", F], None]
) -> None:
    """Finish a write whose run had decided to commit; remove any other."""
    for name in _stagings(files, root):
        record = _read(files, f"{root}/{name}/staged.json")
        staged = None if record is None else kind.from_json(record)
        if staged is not None and _was_decided(spark, files, staged):
            end(spark, staged)
        else:
            clear(files, f"{root}/{name}")
    files.delete(root)


def clear(files: Files, staging: str) -> None:
    """Remove a staging that is not committed; one that holds what was at the target, as that of a run that was
    dismissed in the middle of its commit, is moved to `.dismissed`."""
    if files.exists(f"{staging}/old"):
        root, _, name = staging.rpartition("/")
        files.rename(staging, f"{root}.dismissed/{name}-{time.time_ns()}")
    abort_uploads(files, staging)
    files.delete(staging)


def _was_decided(spark: "SparkSession", files: Files, staged: FileStaged) -> bool:
    return has_mark(files, staged, files_at(spark, staged.target)[1]) or was_decided(spark, staged.journal)


def release(files: Files, staged: FileStaged, staging: str) -> None:
    """Remove a write's staging, and the lock with the last one of its run."""
    files.delete(staging)
    root = staging.rpartition("/")[0]
    holder = _read(files, f"{root}/lock")
    if _stagings(files, root) or (holder is not None and holder.get("run_id") != staged.run_id):
        return
    for name in files.children(root) if holder is not None else ():  # the lock, and temporary files left by a kill
        files.delete(f"{root}/{name}")
    files.delete_empty(root)  # another run may have taken the lock by now
    for folder in staged.missing:  # they contain the target, unless nothing was committed
        files.delete_empty(folder)


def _stagings(files: Files, root: str) -> list[str]:
    """The staging directories of all writes to the target in progress."""
    return [name for name in files.children(root) if name != "lock" and not name.startswith(".lock.")]


def _read(files: Files, path: str) -> dict[str, Any] | None:
    try:
        found = json.loads(files.read(path)) if files.exists(path) else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
