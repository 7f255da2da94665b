"""Finds and removes what a write to a Delta table has staged."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from connectors.commits.commit_errors import rows_are_gone
from connectors.delta.delta_staged import DeltaStaged
from connectors.delta.transaction import DeltaTable
from connectors.storage.filesystem import Files, files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PREFIX: Final = "penstock-"


def abort(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Remove the staged files, and the table's directory where it was made for them."""
    staged.store.apply(spark)
    files, target = files_at(spark, staged.target)
    remove_files(spark, staged)
    if staged.is_new and files.exists(target) and not DeltaTable(spark, staged.target).exists():
        _remove_empty(files, target)
    for folder in staged.missing:
        files.delete_empty(folder)
    files, staging = files_at(spark, staged.staging)
    files.delete(staging)


def remove_files(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Remove the staged data files: the recorded ones, else all whose name begins with the write's prefix."""
    files, target = files_at(spark, staged.target)
    noted = staged_actions(spark, staged, missing_ok=True)
    names = staged_paths(noted) if noted else files.files(target) if files.exists(target) else []
    for name in names:
        folder, _, file = f"{target}/{name}".rpartition("/")
        if file.lstrip(".").startswith(staged.prefix):
            files.delete(f"{folder}/{file}")
            files.delete(f"{folder}/.{file}.crc")
            if folder != target:
                files.delete_empty(folder)


def foreign_files(files: Files, folder: str) -> list[str]:
    """The files of a directory without a table, except those that runs stage there."""
    names = [name for name in files.files(folder) if not name.startswith("_delta_log/")]
    return [name for name in names if not name.rpartition("/")[2].lstrip(".").startswith(PREFIX)]


def _remove_empty(files: Files, folder: str) -> None:
    """Remove a directory and its subdirectories if they hold no files."""
    for name in files.children(folder):
        if not files.is_file(f"{folder}/{name}"):
            _remove_empty(files, f"{folder}/{name}")
    files.delete_empty(folder)


def staged_actions(spark: "SparkSession", staged: DeltaStaged, missing_ok: bool = False) -> tuple[str, ...]:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/actions.json"):
        if missing_ok:
            return ()
        raise rows_are_gone(staged.run_id, staged.target)
    return tuple(line for line in files.read(f"{staging}/actions.json").split("\n") if line)


def staged_paths(actions: Sequence[str]) -> list[str]:
    return [unquote(json.loads(action)["add"]["path"]) for action in actions]
