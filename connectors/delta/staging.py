"""Stages the rows of a write to a Delta table.

<table>/<prefix>part-….parquet         the staged rows, in the table's directory, not in its log
<run>/staging/<write id>/actions.json  the actions that Delta returned for them, one per line
<run>/staging/<write id>/data          the staged rows of a merge, as Parquet
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.evolution import SchemaEvolution
from catalog.tables.savemode import Action, WriteMode
from catalog.tables.table import CatalogTable
from connectors.delta import table_schema
from connectors.delta.changed_table import relied_on
from connectors.delta.delta_marks import version_of
from connectors.delta.delta_staged import CommitKind, DeltaStaged
from connectors.delta.merge_staging import stage_merge
from connectors.delta.transaction import DeltaTable, stage_files
from connectors.files.committing.file_staged import missing_folders
from connectors.interface.sink import WriteTask
from connectors.lakehouse import merging, staged_files
from connectors.lakehouse.empty_partitions import constant_partition
from connectors.storage.filesystem import as_uri, files_at
from connectors.storage.object_store import StoreSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
from connectors.delta.removing import PREFIX, abort, staged_actions, staged_paths

_MERGES: Final = {
    WriteMode.UPSERT: CommitKind.MERGE,
    WriteMode.CHANGELOG: CommitKind.MERGE,
    WriteMode.SCD2: CommitKind.VERSIONS,
}


def store_settings(options: Options) -> StoreSettings:
    """Hadoop's settings for the table's file system."""
    return StoreSettings.of(options.string("path"), options.texts_by_key("hadoop_properties"))


def prepare(spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> DeltaStaged:
    options = task.options
    files, target = files_at(spark, options.string("path"))
    is_kept = Action.KEEP in actions  # then the check has found it
    is_new = Action.CREATE in actions or not (is_kept or DeltaTable(spark, as_uri(target)).exists())
    recreates = Action.DROP_AND_CREATE in actions
    merges = not is_new and not recreates and Action.REPLACE_ROWS not in actions
    return DeltaStaged(
        target=as_uri(target),
        missing=tuple(missing_folders(files, target)),
        is_new=is_new,
        staging=task.scratch,
        identity=task.identity,
        version=version_of(task.work, task.micro_batch),
        batch=task.batch_id,
        run_id=task.run_id,
        journal=task.journal,
        owner=dict(task.owner),
        prefix=f"{PREFIX}{uuid4().hex[:12]}-",
        kind=_MERGES.get(task.write_mode, CommitKind.FILES) if merges else CommitKind.FILES,
        replaces_everything=recreates or Action.REPLACE_ROWS in actions,
        replaces_schema=recreates,
        replaces_partitions=Action.REPLACE_PARTITIONS in actions and not is_new,
        replace_where=options.optional_string("replace_where") if Action.REPLACE_MATCHING in actions else None,
        keyed=merging.keyed_rows(task),
        after_commit=after_commit(options.mapping("after_commit")),
        cluster_by=tuple(options.strings("cluster_by")) if is_new or recreates else (),
        store=store_settings(options),
        is_fresh=task.is_fresh,
    )


def after_commit(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Statements over `{table}` that run after the commit."""
    statements = []
    if optimize := asked.get("optimize"):
        by = f" ZORDER BY ({', '.join(map(quote, optimize))})" if isinstance(optimize, list | tuple) else ""
        statements.append(f"OPTIMIZE {{table}}{by}")
    if (hours := asked.get("vacuum_hours")) is not None:
        statements.append(f"VACUUM {{table}} RETAIN {hours} HOURS")
    return tuple(statements)


def stage(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: DeltaStaged) -> DeltaStaged:
    prepared.store.apply(df.sparkSession)
    try:
        if prepared.kind is CommitKind.FILES:
            return _stage_files(spark, df, task, prepared)
        return stage_merge(spark, df, task, prepared)
    except BaseException:
        with suppress(OSError):  # the run's own abort tries again, and reports what is left
            abort(spark, prepared)
        raise


def _stage_files(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: DeltaStaged) -> DeltaStaged:
    options = task.options
    if prepared.keyed is not None:
        df = merging.without_deletes(merging.resolved(df, prepared.keyed), prepared.keyed)
    if prepared.replace_where:
        df = merging.check_replace_where(df, prepared.replace_where)
    creates = prepared.is_new or prepared.replaces_schema
    evolution = table_schema.evolution(options)
    metadata = None
    if not creates and evolution is SchemaEvolution.WIDEN:
        incoming = {field.name: field.dataType.jsonValue() for field in df.schema.fields}
        metadata = table_schema.evolved(DeltaTable(spark, prepared.target).metadata(), incoming)
    merges_schema = not creates and metadata is None and evolution is not SchemaEvolution.FAIL
    if creates:
        df = _with_comments(df, task.table)
    if prepared.replace_where and not prepared.is_new:
        DeltaTable(spark, prepared.target).check_condition(prepared.replace_where)
    found = stage_files(
        spark,
        df,
        prepared.target,
        prepared.prefix,
        options={
            **({"mergeSchema": "true"} if merges_schema else {}),
            **({"overwriteSchema": "true"} if prepared.replaces_schema else {}),
        },
        partition_by=options.strings("partition_by") if creates else (),
        properties=options.texts_by_key("table_properties") if creates else {},
        metadata=metadata,
        overwrites_schema=prepared.replaces_schema,
    )
    files, staging = files_at(spark, prepared.staging)
    files.write(f"{staging}/actions.json", "\n".join(found.actions))
    rows, size = _counts(found.actions)
    if prepared.replaces_partitions and not found.actions:
        prepared = _emptying(df, prepared, (found.before or {}).get("partitionColumns", ()))
    described = table_schema.with_description(found.metadata, task.table.comment) if creates else found.metadata
    before = {} if creates or found.before is None else relied_on(found.before)
    return replace(prepared, metadata=described, table_id=found.table_id, before=before, rows=rows, bytes=size)


def kept(spark: "SparkSession", staged: DeltaStaged, task: WriteTask) -> DeltaStaged | None:
    """What an earlier attempt has staged, for this one; None where files are missing."""
    staged.store.apply(spark)
    files, staging = files_at(spark, staged.staging)
    if staged.kind is CommitKind.FILES:
        target = files_at(spark, staged.target)[1]
        is_there = files.exists(f"{staging}/actions.json") and staged_files.are_there(
            [f"{target}/{path}" for path in staged_paths(staged_actions(spark, staged))], files.exists
        )
    else:
        is_there = files.exists(f"{staging}/data/_SUCCESS")
    return replace(staged, journal=task.journal, owner=dict(task.owner)) if is_there else None


def _emptying(df: "DataFrame", prepared: DeltaStaged, by: Sequence[str]) -> DeltaStaged:
    """No row is left of the partition that the query names; without rows, only its constants say which that is."""
    condition = constant_partition(df, by)
    return prepared if condition is None else replace(prepared, replaces_partitions=False, replace_where=condition)


def _with_comments(df: "DataFrame", table: CatalogTable) -> "DataFrame":
    """The rows with the comments of their columns, for a new table."""
    fields = {field.name.lower(): field for field in df.schema.fields}
    for column in table.columns:
        field = fields.get(column.name.lower())
        if field is not None and column.comment:
            df = df.withMetadata(field.name, {**field.metadata, "comment": column.comment})
    return df


def _counts(actions: Sequence[str]) -> tuple[int | None, int]:
    """Rows and bytes of staged files; the row count is unknown if the files have no statistics."""
    added = [json.loads(action)["add"] for action in actions]
    rows = [json.loads(add.get("stats") or "{}").get("numRecords") for add in added]
    return None if None in rows else sum(rows), sum(add["size"] for add in added)


def staged_rows(spark: "SparkSession", staged: DeltaStaged) -> "DataFrame":
    """The rows of staged files, as they were written."""
    actions = staged_actions(spark, staged)
    return DeltaTable(spark, staged.target).rows_of(spark, actions, is_in_table=staged.metadata is None)
