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

import glob
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from catalog.diagnostics import Diagnostics, run_error
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState
from catalog.table import CatalogTable
from connectors.support import run_owner as owner
from connectors.support.commit_errors import rows_are_gone
from connectors.support.files.atomic_exchange import exchange
from connectors.support.files.file_schema import is_hidden, local_path
from connectors.support.files.filesystem import Files, LocalFiles, as_uri, files_at
from connectors.support.files.foreign_files import MARKS, foreign_files, refuse_foreign_files
from connectors.support.files.object_store import NO_SETTINGS, OBJECT_STORES, StoreSettings
from connectors.support.files.run_decision import has_dismissed, was_decided
from connectors.support.files.upload_commit import abort_uploads, commit_uploads, has_uploads, stage_uploads
from connectors.support.option import Options
from connectors.support.sink import WriteTask
from connectors.support.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REPLACE: Final = "replace"
APPEND: Final = "append"
PARTITIONS: Final = "partitions"


@dataclass(frozen=True, slots=True)
class FileStaged(Staged):
    """The locations of a write, as URIs. `missing`: the target's parents that did not exist, innermost first; `store`:
    Hadoop's settings for the target."""

    target: str
    root: str
    missing: tuple[str, ...]
    staging: str
    identity: str
    run_id: str
    mode: str
    journal: str
    owner: Mapping[str, Any]
    store: StoreSettings = NO_SETTINGS


F = TypeVar("F", bound=FileStaged)

Writer = Callable[["DataFrame", str, list[str]], None]
"""Writes rows into a directory (a URI), partitioned by columns."""


def inspect(
    spark: "SparkSession",
    task: WriteTask,
    schema: Callable[[str], CatalogTable | None],
    has_rows: Callable[[str], bool],
) -> TargetState:
    """Inspect the target; `schema` and `has_rows` read it in its format (their argument is a URI or local path)."""
    files, target = files_at(spark, task.options.string("path"))
    if not files.exists(target):
        return TargetState(exists=False)
    if files.is_file(target):
        help = "give the path of a directory: one file is written by each task"
        raise run_error("PEN5005", f"`{target}` is a file", task.options.span("path"), help)
    if task.data_save_mode is DataSaveMode.DROP_DATA or task.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA:
        refuse_foreign_files(files, target, task.options)
    data = [file for file in files.files(target) if not any(is_hidden(part) for part in file.split("/"))]
    if not data:
        return TargetState(exists=True)
    return TargetState(True, has_rows(as_uri(target)) if task.asks_for_rows else True, schema(as_uri(target)))


def check_path(options: Options, diagnostics: Diagnostics) -> None:
    """Refuse a glob pattern: readers accept one, but a writer would create a directory of that name. Refuse a file of
    this machine where the directory or one above it would be."""
    path = options.string("path")
    if not path.strip():
        diagnostics.error("PEN2004", "`path` is empty", options.span("path"), "name the directory to write")
    elif glob.has_magic(path):
        diagnostics.error("PEN2004", f"`{path}` is a pattern", options.span("path"), "name the one directory to write")
    elif (local := local_path(path)) is not None and (file := _file_in_the_way(local)):
        message = f"the target `{path}` cannot be a directory: `{file}` is a file"
        help = "give the path of a directory: one file is written by each task"
        diagnostics.error("PEN5005", message, options.span("path"), help)


def _file_in_the_way(path: str) -> str | None:
    """The file that a path is, or that is one of its parents."""
    part = os.path.abspath(path)
    while not os.path.isdir(part):  # the parents of a directory are directories
        if os.path.isfile(part):
            return part
        part = os.path.dirname(part)
    return None


def caveats(actions: Sequence[Action], path: str = "") -> tuple[str, ...]:
    """How a commit is visible half done on a file system that cannot swap two directories."""
    ends = "a run that is killed there is finished by `penstock run --resume`, or by the next run"
    if path.startswith("s3a:"):
        then = "" if {Action.CREATE, Action.ADD_ROWS} & set(actions) else ", then the old ones are deleted"
        return (f"not atomic on S3: the staged files appear one by one, one request each{then}; {ends}",)
    if path.startswith(OBJECT_STORES):
        return (f"not atomic on this store: files are renamed into the target one by one, each by a copy; {ends}",)
    if Action.CREATE in actions:
        return ()
    if {Action.REPLACE_ROWS, Action.DROP_AND_CREATE} & set(actions):
        return (f"not atomic on this file system: between two renames there is no target; {ends}",)
    return (f"not atomic on this file system: files are renamed into the target one by one; {ends}",)


def statements(task: WriteTask, actions: Sequence[Action]) -> tuple[str, ...]:
    """What a commit does to the directory, for people."""
    target = task.options.string("path")
    if target.startswith("s3a:"):
        replaces = not {Action.CREATE, Action.ADD_ROWS} & set(actions)
        return (f"complete the uploads of the staged files to {target}", *(("delete the old files",) * replaces))
    if Action.CREATE in actions:
        return (f"rename the staged directory to {target}",)
    if {Action.REPLACE_ROWS, Action.DROP_AND_CREATE} & set(actions):
        return (f"exchange {target} for the staged directory, delete the old files",)
    if Action.REPLACE_PARTITIONS in actions:
        return (f"replace in {target} the directories of the staged partitions",)
    return (f"move the staged files into {target}",)


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
    folder, _, name = target.rpartition("/")
    root = f"{folder}/.{name}.penstock"
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


def missing_folders(files: Files, folder: str) -> Iterator[str]:
    """The folder and its parents that do not exist, innermost first."""
    least = 3 if "://" in folder else 1  # slashes, below a file system's root
    while folder.count("/") >= least and not files.exists(folder):
        yield folder
        folder = folder.rpartition("/")[0]


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
    _lock(spark, files, prepared, task, end)
    try:
        _clear(files, staging)
        files.make_folder(staging)
        write(df, as_uri(f"{staging}/data"), by)
        if not files.exists(f"{staging}/data"):
            raise run_error("PEN5005", f"Spark did not write the rows to `{staging}/data`", task.options.span("path"))
        names = files.files(f"{staging}/data")
        if by and not any(not is_hidden(name.rpartition("/")[2]) for name in names):
            # a partitioned write of no rows leaves no file: one without rows keeps the schema
            empty = spark.createDataFrame([], df.schema).coalesce(1)
            write(empty, as_uri(f"{staging}/data"), [])
        for name in ("_SUCCESS", "._SUCCESS.crc"):
            files.delete(f"{staging}/data/{name}")
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


def staged_data(spark: "SparkSession", staged: FileStaged) -> str:
    """The location of the staged files, as Spark reads it."""
    return as_uri(f"{files_at(spark, staged.staging)[1]}/data")


def commit(spark: "SparkSession | None", staged: FileStaged) -> None:
    """Move the staged files into the target; a second call finds the mark and only cleans up."""
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    _, target = files_at(spark, staged.target)
    if not _is_committed(files, staged, target):
        if not files.exists(f"{staging}/data") and not files.exists(f"{staging}/next"):
            raise rows_are_gone(staged.run_id, target, staging)
        if isinstance(files, LocalFiles):
            _commit_locally(files, staged.mode, staging, target)
        elif has_uploads(files, staging):
            mode = staged.mode
            commit_uploads(files, staging, target, replaces=mode == REPLACE, partitions=mode == PARTITIONS)
        else:
            _commit_by_renames(files, staged.mode, staging, target)
    elif isinstance(files, LocalFiles) and staged.mode == APPEND:
        for before in ("next", "old"):  # the old target: its name depends on how it was swapped
            _carry_over(f"{staging}/{before}", target)
    else:
        abort_uploads(files, staging)  # of rows that were staged again for a run that the target has
    _release(files, staged, staging)


def abort(spark: "SparkSession | None", staged: FileStaged) -> None:
    """Remove the staging directory and the lock."""
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    abort_uploads(files, staging)
    _release(files, staged, staging)


def is_committed(spark: "SparkSession | None", staged: FileStaged) -> bool:
    """Whether the target carries the mark of this run's write."""
    files, target = files_at(spark, staged.target)
    return _is_committed(files, staged, target)


def _is_committed(files: Files, staged: FileStaged, target: str) -> bool:
    return files.exists(f"{target}/{MARKS}/{staged.identity}.json")


# --- local disk: build the successor, swap it in ---


def _commit_locally(files: LocalFiles, mode: str, staging: str, target: str) -> None:
    data, successor = f"{staging}/data", f"{staging}/next"
    if not files.exists(target) and files.exists(f"{staging}/old"):
        files.rename(successor if files.exists(successor) else data, target)  # killed between the two renames
        if mode == APPEND:
            _carry_over(f"{staging}/old", target)
        return
    if mode == REPLACE or not files.exists(target):
        successor = data
    else:
        files.delete(successor)
        if not _link_successor(mode, data, target, successor):
            _commit_by_renames(files, mode, staging, target)  # the disk has no hard links
            return
    if not files.exists(target):
        files.rename(successor, target)
    elif exchange(successor, target):
        if mode == APPEND:
            _carry_over(successor, target)
    else:
        files.rename(target, f"{staging}/old")
        files.rename(successor, target)
        if mode == APPEND:
            _carry_over(f"{staging}/old", target)


def _link_successor(mode: str, data: str, target: str, successor: str) -> bool:
    """Make `next`: the target's files that stay and the staged ones, as hard links; False if there are none."""
    replaced = _partitions(data) if mode == PARTITIONS else set()

    def leaves(folder: str, names: list[str]) -> set[str]:
        inner = os.path.relpath(folder, target)
        return {name for name in names if os.path.normpath(os.path.join(inner, name)) in replaced}

    try:
        shutil.copytree(target, successor, symlinks=True, ignore=leaves, copy_function=os.link)
        shutil.copytree(data, successor, symlinks=True, copy_function=os.link, dirs_exist_ok=True)
    except (shutil.Error, PermissionError, NotImplementedError) as cause:
        shutil.rmtree(successor, ignore_errors=True)
        if isinstance(cause, shutil.Error) and any("No such file" in str(arg) for arg in cause.args[0]):
            raise OSError(f"{target} changed while it was being committed") from cause
        return False
    return True


def _carry_over(old: str, target: str) -> None:
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


# --- other file systems: renames, in an order that can be resumed ---


def _commit_by_renames(files: Files, mode: str, staging: str, target: str) -> None:
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


# --- the lock ---


def _lock(
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
        if staged is not None and _was_decided(spark, staged):
            end(spark, staged)
        else:
            _clear(files, f"{root}/{name}")
    files.delete(root)


def _clear(files: Files, staging: str) -> None:
    """Remove a staging that is not committed; one that holds what was at the target, as that of a run that was
    dismissed in the middle of its commit, is put aside."""
    if files.exists(f"{staging}/old"):
        root, _, name = staging.rpartition("/")
        files.rename(staging, f"{root}.dismissed/{name}-{time.time_ns()}")
    abort_uploads(files, staging)
    files.delete(staging)


def _was_decided(spark: "SparkSession", staged: FileStaged) -> bool:
    return is_committed(spark, staged) or was_decided(spark, staged.journal)


def _release(files: Files, staged: FileStaged, staging: str) -> None:
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
