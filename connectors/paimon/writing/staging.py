"""Where the rows of a write to a Paimon table are staged, and how they are removed.

<table>/bucket-0/penstock-…-0.parquet   the staged rows: data files that no snapshot has
<run>/staging/<write id>/messages       what a commit needs of them: Paimon's commit messages
<folder>/.<table>.penstock-…            a whole table with the staged rows, where the target is made anew
"""

import base64
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from catalog.tables.savemode import Action
from connectors.commits.commit_errors import created_meanwhile
from connectors.files.committing.file_staged import missing_folders
from connectors.interface.sink import WriteTask
from connectors.lakehouse import merging
from connectors.lakehouse.empty_partitions import constant_partition_texts
from connectors.lakehouse.required import without_nulls
from connectors.paimon import paimon_table
from connectors.paimon.paimon_staged import PaimonOverwrite, PaimonStaged
from connectors.paimon.table_address import folder_of
from connectors.paimon.table_files import Schema, latest_schema, spans_partitions, table_of
from connectors.paimon.writing.counted_changes import counted_changes, with_counts
from connectors.paimon.writing.key_locations import with_buckets
from connectors.paimon.writing.new_schema import columns_to_write, schema_of_new_table, with_new_columns, without_zones
from connectors.paimon.writing.tasks import Layout
from connectors.paimon.writing.write_rows import write_rows
from connectors.storage.filesystem import files_at
from connectors.storage.local_files import LocalFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def prepare(task: WriteTask, actions: Sequence[Action]) -> PaimonStaged:
    target = folder_of(task.options)
    is_new = latest_schema(target) is None
    replaces = PaimonOverwrite.NOTHING
    if not is_new:
        replaces = next((_REPLACES[action] for action in actions if action in _REPLACES), replaces)
    name = f"penstock-{uuid4().hex[:12]}"
    parent, _, table = target.rpartition("/")
    return PaimonStaged(
        target=target,
        folder=f"{parent}/.{table}.{name}" if replaces is PaimonOverwrite.TABLE else target,
        missing=tuple(missing_folders(LocalFiles(), target)),
        is_new=is_new,
        replaces=replaces,
        staging=task.scratch,
        name=name,
        identity=task.identity,
        run_id=task.run_id,
        work=task.work,
        batch=task.batch_id,
        owner=dict(task.owner),
        keyed=merging.keyed_rows(task),
        tag=task.options.optional_string("tag"),
        is_fresh=task.is_fresh,
    )


_REPLACES = {
    Action.DROP_AND_CREATE: PaimonOverwrite.TABLE,
    Action.REPLACE_ROWS: PaimonOverwrite.ROWS,
    Action.REPLACE_PARTITIONS: PaimonOverwrite.PARTITIONS,
}


def stage(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: PaimonStaged) -> PaimonStaged:
    paimon_table.require_pypaimon(task.options.span())
    try:
        return _stage(spark, df, task, prepared)
    except BaseException:
        with suppress(Exception):  # the run's own abort tries again, and reports what stays
            abort(spark, prepared)
        raise


def _stage(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: PaimonStaged) -> PaimonStaged:
    kept = None if prepared.is_new or prepared.replaces is PaimonOverwrite.TABLE else latest_schema(prepared.target)
    if prepared.is_new and latest_schema(prepared.target) is not None:
        raise created_meanwhile("Paimon", prepared.target, task.options.span())
    base = 0 if kept is None else paimon_table.latest_snapshot(prepared.target, kept)
    if kept is None and task.options.seatunnel is not None:
        df = without_zones(df)
    columns = columns_to_write(df)
    changed = None if kept is None else with_new_columns(kept, columns, task.table)
    keys = prepared.keyed.keys if prepared.keyed is not None else ()
    schema = changed or kept or schema_of_new_table(columns, task.table, task.options, keys)
    overwrites = prepared.replaces in (PaimonOverwrite.ROWS, PaimonOverwrite.PARTITIONS)
    rows = df
    if prepared.keyed is not None:
        rows = merging.resolved(df, prepared.keyed)
        if prepared.is_new or prepared.replaces is not PaimonOverwrite.NOTHING:
            rows = merging.without_deletes(rows, prepared.keyed)
    rows, counted = without_nulls(rows, table_of(schema).columns, "Paimon"), None
    if kept is not None and base and _counts_changes(task, prepared):
        assert prepared.keyed is not None
        rows, counted = with_counts(rows, prepared.folder, kept, base, prepared.keyed)
    layout, keys_of = (
        Layout(prepared.folder, schema, prepared.name, overwrites, base),
        _snapshot_of_keys(prepared, schema),
    )
    with (
        merging.local_merge(df.sparkSession, task),
        with_buckets(rows, layout, kept, keys_of, prepared.keyed) as placed,
    ):
        messages, has_leftovers = write_rows(placed, layout)
    table = paimon_table.opened(prepared.folder, schema)
    found = paimon_table.to_messages(table, messages)
    if has_leftovers:
        _remove_others(prepared, paimon_table.paths_of(table, found))
    written = [file for message in found for file in message.new_files]
    staged = replace(
        prepared,
        schema=json.dumps(schema),
        adds_schema=kept is None or changed is not None,
        rows=sum(file.row_count for file in written),
        bytes=sum(file.file_size for file in written),
        keys_of=keys_of,
        base=base,
        changes=() if counted is None else counted_changes(counted),
    )
    if staged.replaces is PaimonOverwrite.PARTITIONS and not written:
        staged = replace(staged, emptied=constant_partition_texts(df, tuple(schema.get("partitionKeys") or ())))
    if staged.replaces is PaimonOverwrite.TABLE:
        _make_table(staged, schema, messages)
    else:
        files, staging = files_at(spark, staged.staging)
        files.write(f"{staging}/messages", json.dumps([base64.b64encode(text).decode() for text in messages]))
    return staged


def _counts_changes(task: WriteTask, prepared: PaimonStaged) -> bool:
    is_merge = prepared.keyed is not None and prepared.replaces is PaimonOverwrite.NOTHING and not prepared.is_new
    return is_merge and task.options.flag("count_changes")


def _snapshot_of_keys(prepared: PaimonStaged, schema: Schema) -> int | None:
    """The snapshot whose keys decide where rows are written, 0 before the first one; None where they do not."""
    if not spans_partitions(schema) or prepared.replaces is not PaimonOverwrite.NOTHING:
        return None
    return paimon_table.latest_snapshot(prepared.target, schema)


def _make_table(staged: PaimonStaged, schema: Schema, messages: Sequence[bytes]) -> None:
    """Complete the table next to the target, whose place it takes at the commit."""
    with paimon_table.reported(f"the Paimon table `{staged.target}` cannot be made anew"):
        paimon_table.add_schema(staged.folder, schema)
        paimon_table.commit(staged, schema, messages)


def read_messages(spark: "SparkSession", staged: PaimonStaged) -> list[bytes] | None:
    """The commit messages of the staged files; None if they are gone."""
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/messages"):
        return None
    return [base64.b64decode(text) for text in json.loads(files.read(f"{staging}/messages"))]


def _remove_others(staged: PaimonStaged, kept: Sequence[str]) -> None:
    """Remove what attempts of tasks left whose messages did not arrive."""
    names = {os.path.basename(path) for path in kept}
    for path in staged_files(staged):
        if os.path.basename(path) not in names:
            LocalFiles().delete(path)


def staged_files(staged: PaimonStaged) -> list[str]:
    """The data files that the write staged."""
    names = LocalFiles().files(staged.folder)
    begin = f"{staged.name}-"
    return [f"{staged.folder}/{name}" for name in names if name.rpartition("/")[2].startswith(begin)]


def kept(spark: "SparkSession", staged: PaimonStaged, task: WriteTask) -> PaimonStaged | None:
    """What an earlier attempt has staged, for this one; None where files are missing."""
    if staged.replaces is PaimonOverwrite.TABLE:
        is_there = LocalFiles().exists(staged.folder)
    else:
        messages = read_messages(spark, staged)
        is_there = messages is not None and bool(staged.schema) and _are_there(staged, messages)
    return replace(staged, owner=dict(task.owner)) if is_there else None


def _are_there(staged: PaimonStaged, messages: Sequence[bytes]) -> bool:
    table = paimon_table.opened(staged.target, json.loads(staged.schema))
    return all(map(os.path.exists, paimon_table.paths_of(table, paimon_table.to_messages(table, messages))))


def abort(spark: "SparkSession", staged: PaimonStaged) -> None:
    """Remove the staged files, and the directories that were made for them."""
    files = LocalFiles()
    if staged.replaces is PaimonOverwrite.TABLE:
        files.delete(staged.folder)
    else:
        remove_staged(spark, staged)
        if latest_schema(staged.target) is None:
            _remove_empty(staged)
    journaled, staging = files_at(spark, staged.staging)
    journaled.delete(staging)


def remove_staged(spark: "SparkSession", staged: PaimonStaged) -> None:
    messages = read_messages(spark, staged)
    if messages and staged.schema:
        paimon_table.discard(staged.folder, json.loads(staged.schema), messages)  # with the files of an index
    for path in staged_files(staged):
        LocalFiles().delete(path)


def _remove_empty(staged: PaimonStaged) -> None:
    """Remove the empty directories of a table that was never made, and those above it."""
    for root, folders, _ in sorted(os.walk(staged.target), reverse=True):
        for folder in folders:
            LocalFiles().delete_empty(os.path.join(root, folder))
    for folder in staged.missing:
        LocalFiles().delete_empty(folder)
