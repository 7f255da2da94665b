"""What is at the target of a write of files, whether it can be one, and what a commit does to it."""

import glob
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from catalog.diagnostics.source import Span
from catalog.options import Options
from catalog.reach import is_outside
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState
from catalog.tables.table import CatalogTable
from connectors.files.committing.other_layout import other_layout
from connectors.files.foreign_files import refuse_foreign_files
from connectors.interface.sink import WriteTask
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.local_files import LocalFiles
from connectors.storage.object_store import OBJECT_STORES
from connectors.storage.paths import data_files, is_hidden, local_path
from connectors.storage.table_directories import other_table, refuse_other_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def inspect(
    spark: "SparkSession",
    task: WriteTask,
    schema: Callable[[str], CatalogTable | None],
    has_rows: Callable[[str], bool],
) -> TargetState:
    """Inspect the target; `schema` and `has_rows` read it in its format (their argument is a URI or local path)."""
    files, target = files_at(spark, task.options.string("path"))
    refuse_other_table(files, target, None, task.options.span("path"))
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
    if error := other_layout(data, task.options):
        raise RunError([error])
    return TargetState(True, has_rows(as_uri(target)) if task.asks_for_rows else True, schema(as_uri(target)))


def check_path(options: Options, diagnostics: Diagnostics, own: str | None = None) -> None:
    """Refuse a glob pattern: readers accept one, but a writer would create a directory of that name. Refuse a file of
    this machine where the directory or one above it would be, and a table of another format than the sink's `own`."""
    path = options.string("path")
    if not path.strip():
        diagnostics.error("PEN2004", "`path` is empty", options.span("path"), "name the directory to write")
    elif glob.has_magic(path):
        diagnostics.error("PEN2004", f"`{path}` is a pattern", options.span("path"), "name the one directory to write")
    else:
        check_directory(path, options.span("path"), diagnostics)
        here = local_path(path)
        if here is not None and (error := other_table(LocalFiles(), os.path.abspath(here), own, options.span("path"))):
            diagnostics.extend([error])
        elif here is not None and own is None and not is_outside(here) and os.path.isdir(here):
            names = (os.path.relpath(file, here).replace(os.sep, "/") for file in data_files(glob.escape(here)))
            if error := other_layout(names, options):
                diagnostics.extend([error])


def check_directory(path: str, span: Span | None, diagnostics: Diagnostics) -> None:
    """Refuse a file of this machine where a directory, or one above it, would be."""
    if (local := local_path(path)) is not None and (file := _file_in_the_way(local)):
        message = f"the target `{path}` cannot be a directory: `{file}` is a file"
        diagnostics.error("PEN5005", message, span, "give the path of a directory: one file is written by each task")


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
    """What a commit does to the directory, shown by `explain`."""
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
