"""The steps of a write to a Delta table: where its rows are staged, how they are committed, how they are removed.

<table>/<prefix>part-….parquet         the staged rows, in the table's directory, not in its log
<run>/staging/<write id>/actions.json  the actions that Delta returned for them, one per line
<run>/staging/<write id>/data          the staged rows of a merge, as Parquet
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote
from uuid import uuid4

from catalog.diagnostics import run_error
from catalog.evolution import SchemaEvolution
from catalog.quoting import quote, quote_text
from catalog.savemode import Action, WriteMode
from catalog.table import CatalogTable
from connectors.support import run_owner
from connectors.support.delta import merging, table_schema
from connectors.support.delta.delta_staged import CommitKind, DeltaStaged, KeyedRows
from connectors.support.delta.merge_staging import commit_merge, stage_merge
from connectors.support.delta.transaction import DeltaTable, Replaces, own_session, stage_files
from connectors.support.files.file_commit import missing_folders
from connectors.support.files.filesystem import Files, as_uri, files_at
from connectors.support.sink import WriteTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOOKED_AT: Final = 64
"""Up to this many files are checked before every commit; more only if another process staged them."""
_PREFIX: Final = "penstock-"
_MERGES: Final = {
    WriteMode.UPSERT: CommitKind.MERGE,
    WriteMode.CHANGELOG: CommitKind.MERGE,
    WriteMode.SCD2: CommitKind.VERSIONS,
}


def prepare(spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> DeltaStaged:
    options = task.options
    files, target = files_at(spark, options.string("path"))
    is_new = Action.CREATE in actions or not DeltaTable(spark, as_uri(target)).exists()
    recreates = Action.DROP_AND_CREATE in actions
    merges = not is_new and not recreates and Action.REPLACE_ROWS not in actions
    return DeltaStaged(
        target=as_uri(target),
        missing=tuple(missing_folders(files, target)),
        is_new=is_new,
        staging=f"{task.journal.removesuffix('/journal')}/staging/{task.write_id}",
        identity=task.identity,
        version=1,
        run_id=task.run_id,
        journal=task.journal,
        owner=dict(task.owner),
        prefix=f"{_PREFIX}{uuid4().hex[:12]}-",
        kind=_MERGES.get(task.write_mode, CommitKind.FILES) if merges else CommitKind.FILES,
        replaces_everything=recreates or Action.REPLACE_ROWS in actions,
        replaces_schema=recreates,
        replaces_partitions=Action.REPLACE_PARTITIONS in actions and not is_new,
        replace_where=options.optional_string("replace_where") if Action.REPLACE_MATCHING in actions else None,
        keyed=keyed_rows(task) if task.write_mode.needs_key else None,
        after_commit=after_commit(options.mapping("after_commit")),
    )


def keyed_rows(task: WriteTask) -> KeyedRows:
    options = task.options
    return KeyedRows(
        keys=task.primary_keys,
        sequence_field=options.optional_string("sequence_field"),
        delete_condition=options.optional_string("delete_condition"),
        has_row_kind=task.table.has_row_kind,
        versions=merging.column_list(options) if task.write_mode is WriteMode.SCD2 else (),
        started_at=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%fZ"),
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
        message = quote_text("a row does not satisfy replace_where")
        df = df.where(f"assert_true(coalesce(({prepared.replace_where}\n), false), {message}) is null")
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
    described = table_schema.with_description(found.metadata, task.table.comment) if creates else found.metadata
    return replace(prepared, metadata=described, table_id=found.table_id, rows=rows, bytes=size)


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
    actions = _actions(spark, staged)
    return DeltaTable(spark, staged.target).rows_of(spark, actions, is_in_table=staged.metadata is None)


def commit(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Commit in one transaction. Delta's log records it, so that a second call of the same run does nothing."""
    table = DeltaTable(spark, staged.target)
    files, staging = files_at(spark, staged.staging)
    if not table.has_committed(staged.application, staged.version):
        if staged.kind is CommitKind.FILES:
            _commit_files(spark, staged, table)
        else:
            _refuse_another_table(table, staged)
            _refuse_missing_rows(spark, staged)
            commit_merge(spark, staged)
    elif files.exists(f"{staging}/actions.json") and not files.exists(f"{staging}/begun"):
        _remove_files(spark, staged)  # staged again for a run that the log already records
    files.delete(f"{staging}/actions.json")  # before `begun`: without it, the files would count as staged again
    files.delete(staging)


def _commit_files(spark: "SparkSession", staged: DeltaStaged, table: DeltaTable) -> None:
    actions = _actions(spark, staged)
    is_made_by_another = staged.is_new and table.exists()
    if is_made_by_another:
        _refuse_another_schema(table, staged)
    else:
        _refuse_another_table(table, staged)
    if len(actions) <= _LOOKED_AT or not run_owner.is_this_process(staged.owner):
        _refuse_missing_files(spark, staged, actions)
    files, staging = files_at(spark, staged.staging)
    files.write(f"{staging}/begun", "")
    with own_session(spark, {}) as session:
        DeltaTable(spark, staged.target, session).commit(
            actions,
            application=staged.application,
            version=staged.version,
            metadata=None if is_made_by_another else staged.metadata,
            replaces=Replaces(
                staged.replaces_everything,
                staged.replaces_schema,
                staged.replaces_partitions,
                None if staged.is_new else staged.replace_where,
            ),
        )


def maintain(spark: "SparkSession", staged: DeltaStaged) -> None:
    for statement in staged.after_commit:
        spark.sql(statement.replace("{table}", f"delta.{quote(staged.target)}"))


def abort(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Remove the staged files, and the table's directory where it was made for them."""
    files, target = files_at(spark, staged.target)
    _remove_files(spark, staged)
    if staged.is_new and files.exists(target) and not DeltaTable(spark, staged.target).exists():
        _remove_empty(files, target)
    for folder in staged.missing:
        files.delete_empty(folder)
    files, staging = files_at(spark, staged.staging)
    files.delete(staging)


def _remove_files(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Remove the staged data files: the recorded ones, else all whose name begins with the write's prefix."""
    files, target = files_at(spark, staged.target)
    noted = _actions(spark, staged, missing_ok=True)
    names = _paths(noted) if noted else files.files(target) if files.exists(target) else []
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
    return [name for name in names if not name.rpartition("/")[2].lstrip(".").startswith(_PREFIX)]


def _remove_empty(files: Files, folder: str) -> None:
    """Remove a directory and its subdirectories if they hold no files."""
    for name in files.children(folder):
        if not files.is_file(f"{folder}/{name}"):
            _remove_empty(files, f"{folder}/{name}")
    files.delete_empty(folder)


def _actions(spark: "SparkSession", staged: DeltaStaged, missing_ok: bool = False) -> tuple[str, ...]:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/actions.json"):
        if missing_ok:
            return ()
        raise _rows_are_gone(staged)
    return tuple(line for line in files.read(f"{staging}/actions.json").splitlines() if line)


def _paths(actions: Sequence[str]) -> list[str]:
    return [unquote(json.loads(action)["add"]["path"]) for action in actions]


def _refuse_missing_files(spark: "SparkSession", staged: DeltaStaged, actions: Sequence[str]) -> None:
    files, target = files_at(spark, staged.target)
    if not all(files.exists(f"{target}/{path}") for path in _paths(actions)):
        raise _rows_are_gone(staged)


def _refuse_missing_rows(spark: "SparkSession", staged: DeltaStaged) -> None:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/data"):
        raise _rows_are_gone(staged)


def _refuse_another_table(table: DeltaTable, staged: DeltaStaged) -> None:
    """Refuse a table that was dropped and recreated since the rows were staged: its schema may differ."""
    if staged.is_new or staged.replaces_schema:
        return
    if not table.exists() or table.metadata()["id"] != staged.table_id:
        raise _made_anew(staged)


def _refuse_another_schema(table: DeltaTable, staged: DeltaStaged) -> None:
    """Another write has created the table in the meantime: the staged files fit if the schemas are equal."""
    wanted, found = json.loads(staged.metadata or "{}").get("metaData", {}), table.metadata()
    if any(wanted.get(key) != found.get(key) for key in ("schemaString", "partitionColumns")):
        raise _made_anew(staged)


def _made_anew(staged: DeltaStaged) -> Exception:
    message = f"the Delta table `{staged.target}` was made anew after run `{staged.run_id}` staged its rows"
    help = f"{_dismissed(staged)}; then run the job again"
    return run_error("PEN5005", message, None, help)


def _rows_are_gone(staged: DeltaStaged) -> Exception:
    message = f"the rows that run `{staged.run_id}` staged for `{staged.target}` are gone"
    help = f"{_dismissed(staged)}; then run the job again with the same `--run-id`: it writes what is missing"
    return run_error("PEN5005", message, None, help)


def _dismissed(staged: DeltaStaged) -> str:
    return f"`penstock runs --forget {staged.run_id}` dismisses the run and changes no target"
