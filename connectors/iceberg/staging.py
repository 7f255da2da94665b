"""The steps of a write to an Iceberg table: where its rows are staged, how they are committed, how they are removed.

<table>/data/penstock-…/             the staged rows, data files that no snapshot has
<run>/staging/<write id>/files       what Iceberg records of them
<run>/staging/<write id>/data        the staged rows of a merge, as Parquet
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import Action
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import VARIANT, parts
from connectors.commits.commit_errors import created_meanwhile, in_doubt, rows_are_gone, table_changed
from connectors.commits.marks import refuse_other_work
from connectors.commits.retrying import retried
from connectors.files.committing.file_staged import missing_folders
from connectors.iceberg.changed_columns import changed_columns
from connectors.iceberg.iceberg_options import branch_of
from connectors.iceberg.iceberg_staged import WORK, IcebergStaged, NewTable, ReplacedPart
from connectors.iceberg.iceberg_table import IcebergTable, is_conflict, opened
from connectors.iceberg.merge_staging import commit_merge, stage_merge
from connectors.iceberg.session_catalog import open_catalog
from connectors.iceberg.table_address import address_of
from connectors.iceberg.table_metadata import (
    Metadata,
    commit_of,
    has_all_since,
    last_sequence,
    partition_columns,
    table_of,
)
from connectors.interface.sink import WriteTask
from connectors.lakehouse import merging, staged_files
from connectors.lakehouse.empty_partitions import constant_partition
from connectors.shared.select_sql import select_sql
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def prepare(spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> IcebergStaged:
    address = address_of(spark, task.options)
    with opened(spark, address) as table:
        is_new = Action.CREATE in actions or not table.exists()
        folder = table.data_folder()
    recreates = Action.DROP_AND_CREATE in actions and not is_new
    replaces_rows = Action.REPLACE_ROWS in actions and not is_new
    replaces_partitions = Action.REPLACE_PARTITIONS in actions and not is_new
    name = f"penstock-{uuid4().hex[:12]}"
    replaces_matching = Action.REPLACE_MATCHING in actions and not is_new and not recreates
    merges = task.write_mode.needs_key and not is_new and not recreates and not replaces_rows
    return IcebergStaged(
        address=address,
        is_new=is_new,
        replaces=(
            ReplacedPart.TABLE if recreates
            else ReplacedPart.ROWS if replaces_rows
            else ReplacedPart.PARTITIONS if replaces_partitions
            else ReplacedPart.NOTHING
        ),
        merges=merges or replaces_matching,
        data=f"{folder}/{name}",
        missing=_missing(spark, address.folder),
        staging=task.scratch,
        identity=task.identity,
        run_id=task.run_id,
        work=task.work,
        batch=task.batch_id,
        journal=task.journal,
        owner=dict(task.owner),
        branch=name,
        keyed=merging.keyed_rows(task),
        partition_by=task.options.strings("partition_by"),
        properties=new_properties(task),
        replace_where=task.options.optional_string("replace_where") if replaces_matching else None,
        sort_by=task.options.strings("sort_by"),
        to_branch=branch_of(task.options),
    )  # fmt: skip


def _missing(spark: "SparkSession", folder: str | None) -> tuple[str, ...]:
    if folder is None:
        return ()
    files, target = files_at(spark, folder)
    return tuple(missing_folders(files, target))


def new_properties(task: WriteTask) -> dict[str, str]:
    """Those of a new table; variants need the third version of the format."""
    given = task.options.texts_by_key("table_properties")
    has_variant = any(VARIANT in parts(column.type) for column in task.table.columns)
    needed = {"format-version": "3"} if has_variant else {}
    comment = {"comment": task.table.comment} if task.table.comment else {}
    return {**needed, **comment, **given}


def stage(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: IcebergStaged) -> IcebergStaged:
    try:
        if prepared.merges:
            return stage_merge(spark, df, task, prepared)
        return _stage_files(spark, df, task, prepared)
    except BaseException:
        with suppress(Exception):  # the run's own abort tries again, and reports what stays
            abort(spark, prepared)
        raise


def _stage_files(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: IcebergStaged) -> IcebergStaged:
    if condition := task.options.optional_string("replace_where"):
        df = merging.check_replace_where(df, condition)
    if prepared.keyed is not None:
        df = merging.without_deletes(merging.resolved(df, prepared.keyed), prepared.keyed)
    creates = prepared.is_new or prepared.replaces is ReplacedPart.TABLE
    with opened(df.sparkSession, prepared.address) as table:
        if prepared.is_new and table.exists():
            raise created_meanwhile("Iceberg", str(prepared.address), task.options.span())
        columns = _described(df, task.table)
        new = NewTable(columns, prepared.partition_by, prepared.properties, prepared.sort_by) if creates else None
        evolution = task.options.choice("schema_evolution", SchemaEvolution)
        added: dict[str, Any] = {} if creates else changed_columns(df, table.metadata(), evolution)
        transaction = table.begin(new, prepared.replaces, added)
        found = table.stage(transaction, df._jdf.queryExecution().analyzed(), prepared.data)
        before = None if prepared.is_new else table.metadata()
    if prepared.replaces is ReplacedPart.PARTITIONS and before is not None and not found.rows:
        condition = constant_partition(df, partition_columns(before))
        if condition is not None:  # without rows, only the constants of the query say which partition it is
            emptied = replace(prepared, merges=True, replaces=ReplacedPart.NOTHING, replace_where=condition)
            return stage_merge(spark, df, task, emptied)
    files, staging = files_at(spark, prepared.staging)
    files.write(f"{staging}/files", found.files)
    return replace(
        prepared,
        table=new,
        added=added,
        fields=found.fields if creates or added else "",
        table_id="" if before is None else str(before["table-uuid"]),
        sequence=0 if before is None else last_sequence(before),
        rows=found.rows,
        bytes=found.bytes,
    )


def _described(df: "DataFrame", table: CatalogTable) -> str:
    """Spark's JSON of the columns, with the comments that the incoming table has."""
    schema = df.schema.jsonValue()
    for field in schema["fields"]:
        column = table.column(field["name"])
        field["metadata"] = {"comment": column.comment} if column is not None and column.comment else {}
    return json.dumps(schema)


def commit(spark: "SparkSession", staged: IcebergStaged) -> None:
    """One change of the table; the snapshot's summary tells that it was done, so that a second one does nothing."""
    files, staging = files_at(spark, staged.staging)
    with opened(spark, staged.address) as table:
        done = table.committed(staged.identity, staged.to_branch)
        if done is None and staged.merges:
            commit_merge(spark, table, staged)
        elif done is None:
            _commit_files(spark, table, staged)
        else:
            refuse_other_work(staged.run_id, str(staged.address), done.get(WORK, ""), staged.work)
        if done is not None and done.get("penstock.staged") != staged.summary["penstock.staged"]:
            table.delete_folder(staged.data)  # staged once more for a run that the table has
        if staged.has_branch:
            table.remove_branch(staged.branch)
    files.delete(staging)


def _commit_files(spark: "SparkSession", table: IcebergTable, staged: IcebergStaged) -> None:
    text = _staged_files(spark, staged)
    paths = table.paths(text)
    if not staged_files.are_there(paths, table.holds()):
        raise rows_are_gone(staged.run_id, str(staged.address))

    def attempt() -> None:
        is_made_by_another = staged.is_new and table.exists()
        if not staged.is_new and (not table.exists() or str(table.load().uuid()) != staged.table_id):
            raise table_changed("Iceberg", str(staged.address), staged.run_id)
        if staged.is_new and not is_made_by_another:
            table.create_namespace()
        new = None if is_made_by_another else staged.table
        transaction = table.begin(new, staged.replaces, staged.added)
        base = table.base_of(transaction)
        if base is not None and is_committed_in(base, staged):
            return  # by another process, or by the attempt before, whose answer was lost
        if staged.fields and table.fields(transaction) != staged.fields:
            raise table_changed("Iceberg", str(staged.address), staged.run_id)
        table.commit(transaction, text, staged.replaces, staged.summary, staged.to_branch)

    retried(attempt, is_conflict)


def is_committed_in(metadata: Metadata, staged: IcebergStaged) -> bool:
    """Whether the table has the write. Raises PEN5010 if that is not known, since snapshots have expired."""
    if (done := commit_of(metadata, staged.identity, staged.to_branch)) is not None:
        refuse_other_work(staged.run_id, str(staged.address), done.get(WORK, ""), staged.work)
        return True
    is_table = staged.is_new or str(metadata["table-uuid"]) == staged.table_id
    if is_table and not has_all_since(metadata, staged.sequence):
        raise in_doubt("Iceberg", str(staged.address), staged.run_id)
    return False


def _staged_files(spark: "SparkSession", staged: IcebergStaged) -> str:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/files"):
        raise rows_are_gone(staged.run_id, str(staged.address))
    return files.read(f"{staging}/files")


def kept(spark: "SparkSession", staged: IcebergStaged, task: WriteTask) -> IcebergStaged | None:
    """What an earlier attempt has staged, for this one; None where files are missing."""
    files, staging = files_at(spark, staged.staging)
    if staged.merges:
        is_there = files.exists(f"{staging}/data/_SUCCESS")
    else:
        with opened(spark, staged.address) as table:
            is_there = files.exists(f"{staging}/files") and staged_files.are_there(
                table.paths(_staged_files(spark, staged)), table.holds()
            )
    return replace(staged, journal=task.journal, owner=dict(task.owner)) if is_there else None


def staged_table(spark: "SparkSession", staged: IcebergStaged, columns: Sequence[str]) -> "DataFrame":
    """All rows that the table has after the commit: those of the branch of a merge, else the staged files alone."""
    address, names = staged.address, [*map(quote, columns)]
    if staged.has_branch:
        open_catalog(spark, spark._jsparkSession, address.catalog, address.settings, address.secrets)
        spark.sql(f"REFRESH TABLE {address.sql}")  # the session may know it without the branch
        return select_sql(spark.sql(f"SELECT * FROM {address.sql} VERSION AS OF {quote_text(staged.branch)}"), names)
    with opened(spark, address) as table:
        paths = table.paths(_staged_files(spark, staged))
        schema = _schema(spark, table, staged)
    if not paths:
        return select_sql(spark.createDataFrame([], schema), names)
    rows = spark.read.format(paths[0].rpartition(".")[2]).load(paths)
    return select_sql(rows.toDF(*schema.names), names)  # Iceberg writes other names where these have blanks


def _schema(spark: "SparkSession", table: IcebergTable, staged: IcebergStaged) -> "StructType":
    """That of the table after the commit."""
    from pyspark.sql.types import StructType

    if staged.table is not None:
        return StructType.fromJson(json.loads(staged.table.columns))
    columns = table_of(table.metadata()).columns
    return spark.createDataFrame([], columns_to_ddl(columns)).schema


def abort(spark: "SparkSession", staged: IcebergStaged) -> None:
    """Remove the staged files and the branch, and the directories that were made for them."""
    with opened(spark, staged.address) as table:
        table.delete_folder(staged.data)
        exists = table.exists()
        if exists and staged.merges:
            table.remove_branch(staged.branch)
    if staged.missing and not exists:
        files, target = files_at(spark, staged.address.folder or "")
        for folder in (f"{target}/data", f"{target}/metadata", *staged.missing):
            files.delete_empty(folder)
    files, staging = files_at(spark, staged.staging)
    files.delete(staging)
