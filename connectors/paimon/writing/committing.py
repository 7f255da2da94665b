"""The commit of a write to a Paimon table: one snapshot, which a repeat finds by the run's id in its properties."""

import json
import os
from typing import TYPE_CHECKING

from connectors.commits.commit_errors import rows_are_gone, table_changed
from connectors.commits.marks import refuse_other_work
from connectors.files.committing.atomic_exchange import exchange
from connectors.paimon import paimon_table
from connectors.paimon.paimon_staged import WORK, PaimonOverwrite, PaimonStaged
from connectors.paimon.table_files import Schema, latest_schema
from connectors.paimon.writing import staging
from connectors.storage.filesystem import files_at
from connectors.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def commit(spark: "SparkSession", staged: PaimonStaged) -> None:
    paimon_table.require_pypaimon()
    with paimon_table.reported(f"the Paimon table `{staged.target}` cannot be written"):
        if staged.replaces is PaimonOverwrite.TABLE:
            _take_place(staged)
        else:
            _commit_files(spark, staged)
        schema = latest_schema(staged.target)
        if staged.tag is not None and schema is not None:
            paimon_table.tag(staged.target, schema, staged.tag, staged.identity)
    files, place = files_at(spark, staged.staging)
    files.delete(place)


def _commit_files(spark: "SparkSession", staged: PaimonStaged) -> None:
    current = latest_schema(staged.target)
    done = (
        None if current is None or staged.is_fresh else paimon_table.committed(staged.target, current, staged.identity)
    )
    if done is not None:
        refuse_other_work(staged.run_id, staged.target, done.get(WORK, ""), staged.work)
        if done.get("penstock.staged") != staged.name:
            staging.remove_staged(spark, staged)  # staged once more for a run that the table has
        return
    messages = staging.read_messages(spark, staged)
    if messages is None:
        raise rows_are_gone(staged.run_id, staged.target)
    schema: Schema = json.loads(staged.schema)
    table = paimon_table.opened(staged.target, schema)
    paths = paimon_table.paths_of(table, paimon_table.to_messages(table, messages))
    if not all(map(os.path.exists, paths)):
        raise rows_are_gone(staged.run_id, staged.target)
    if staged.adds_schema and not _is_same(current, schema):
        is_next = (-1 if current is None else current["id"]) + 1 == schema["id"]
        if not is_next or not paimon_table.add_schema(staged.target, schema):
            raise table_changed("Paimon", staged.target, staged.run_id)
    elif not staged.adds_schema and (current is None or current["id"] < schema["id"]):
        raise table_changed("Paimon", staged.target, staged.run_id)
    paimon_table.commit(staged, latest_schema(staged.target) or schema, messages)


def _is_same(one: Schema | None, other: Schema) -> bool:
    """Whether both schema files have the same number, columns and keys: another run may have added it."""
    parts = ("id", "fields", "primaryKeys", "partitionKeys", "options")
    return one is not None and all(one.get(part) == other.get(part) for part in parts)


def _take_place(staged: PaimonStaged) -> None:
    """Put the staged table where the target is, in one step where the operating system can; then remove the old one.

    A kill between two steps leaves both tables: the next commit goes on from there.
    """
    files, old = LocalFiles(), f"{staged.folder}-old"
    if not _is_done(staged):
        if not files.exists(staged.folder):
            raise rows_are_gone(staged.run_id, staged.target)
        if files.exists(staged.target) and not exchange(staged.folder, staged.target):
            files.rename(staged.target, old)
        if not _is_done(staged):
            files.rename(staged.folder, staged.target)
    files.delete(staged.folder)
    files.delete(old)


def _is_done(staged: PaimonStaged) -> bool:
    current = latest_schema(staged.target)
    found = None if current is None else paimon_table.committed(staged.target, current, staged.identity)
    if found is not None:
        refuse_other_work(staged.run_id, staged.target, found.get(WORK, ""), staged.work)
    return found is not None
