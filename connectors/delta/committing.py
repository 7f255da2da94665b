"""Commits the staged rows of a write to a Delta table, in one transaction."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog.quoting import quote
from connectors.commits.commit_errors import rows_are_gone, table_changed
from connectors.commits.marks import MarkState, refuse_other_work
from connectors.delta import changed_table
from connectors.delta.delta_marks import mark_of_version, recorded, work_of_version
from connectors.delta.delta_staged import CommitKind, DeltaStaged
from connectors.delta.merge_staging import commit_merge
from connectors.delta.removing import remove_files, staged_actions, staged_paths
from connectors.delta.transaction import DeltaTable, Replaces
from connectors.interface.run_context import RunContext
from connectors.lakehouse import staged_files
from connectors.lakehouse.own_session import own_session
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def commit(spark: "SparkSession", staged: DeltaStaged, run: RunContext) -> None:
    """Commit in one transaction. Delta's log records it, so that a second call of the same run does nothing."""
    staged.store.apply(spark)
    table = DeltaTable(spark, staged.target)
    files, staging = files_at(spark, staged.staging)
    done = None
    if not staged.is_fresh:
        _, done = recorded(table, staged.identity, staged.version, staged.micro_batch)
    if done is None or done.state is MarkState.ABSENT:
        if staged.kind is CommitKind.FILES:
            _commit_files(spark, staged, table)
        else:
            _refuse_another_table(table.found(), staged)
            _refuse_missing_rows(spark, staged)
            run.changes[staged.identity] = commit_merge(spark, staged)
    else:
        refuse_other_work(staged.run_id, staged.target, done.work, work_of_version(staged.version))
        if files.exists(f"{staging}/actions.json") and not files.exists(f"{staging}/begun"):
            remove_files(spark, staged)  # staged again for a run that the log already records
    files.delete(f"{staging}/actions.json")  # before `begun`: without it, the files would count as staged again
    files.delete(staging)


def _commit_files(spark: "SparkSession", staged: DeltaStaged, table: DeltaTable) -> None:
    actions = staged_actions(spark, staged)
    _metadata_for(table.found(), staged)  # before the commit begins; each of its attempts looks again
    _refuse_missing_files(spark, staged, actions)
    files, staging = files_at(spark, staged.staging)
    files.write(f"{staging}/begun", "")
    with own_session(spark, {}) as session:
        DeltaTable(spark, staged.target, session).commit(
            actions,
            application=staged.application,
            version=staged.version,
            is_done=lambda found: _is_done(staged, found),
            is_fresh=staged.is_fresh,
            metadata=lambda current: _metadata_for(current, staged),
            cluster_by=staged.cluster_by,
            replaces=Replaces(
                staged.replaces_everything,
                staged.replaces_schema,
                staged.replaces_partitions,
                None if staged.is_new else staged.replace_where,
            ),
        )


def _is_done(staged: DeltaStaged, found: int) -> bool:
    """Whether the version of its application shows that the write is committed. Raises PEN5221 for other work."""
    mark = mark_of_version(found, staged.version, staged.micro_batch)
    refuse_other_work(staged.run_id, staged.target, mark.work, work_of_version(staged.version))
    return mark.state is MarkState.FOUND


def maintain(spark: "SparkSession", staged: DeltaStaged) -> None:
    for statement in staged.after_commit:
        spark.sql(statement.replace("{table}", f"delta.{quote(staged.target)}"))


def _refuse_missing_files(spark: "SparkSession", staged: DeltaStaged, actions: Sequence[str]) -> None:
    files, target = files_at(spark, staged.target)
    if not staged_files.are_there([f"{target}/{path}" for path in staged_paths(actions)], files.exists):
        raise rows_are_gone(staged.run_id, staged.target)


def _refuse_missing_rows(spark: "SparkSession", staged: DeltaStaged) -> None:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/data"):
        raise rows_are_gone(staged.run_id, staged.target)


def _refuse_another_table(current: Mapping[str, Any] | None, staged: DeltaStaged) -> None:
    """Refuse a table that was dropped and recreated since the rows were staged: its schema may differ."""
    if staged.is_new or staged.replaces_schema:
        return
    if current is None or current["id"] != staged.table_id:
        raise table_changed("Delta", staged.target, staged.run_id)


def _metadata_for(current: Mapping[str, Any] | None, staged: DeltaStaged) -> str | None:
    """The `metaData` action of a commit onto a table with that one, None for a table that is not there; refuses a table
    that the staged files do not fit."""
    if staged.is_new and current is not None:
        _refuse_another_schema(current, staged)
        return None
    _refuse_another_table(current, staged)
    return _metadata(current or {}, staged)


def _metadata(current: Mapping[str, Any], staged: DeltaStaged) -> str | None:
    """The `metaData` action of the commit; refuses a table whose columns, partitions or constraints were changed so
    that the staged files do not fit it."""
    if not staged.before:
        return staged.metadata
    if staged.metadata is None:
        if changed_table.is_changed(staged.before, current):
            raise table_changed("Delta", staged.target, staged.run_id)
        return None
    found = changed_table.metadata_to_commit(staged.metadata, staged.before, current)
    if found is None:
        raise table_changed("Delta", staged.target, staged.run_id)
    return found


def _refuse_another_schema(current: Mapping[str, Any], staged: DeltaStaged) -> None:
    """Another write has created the table in the meantime: the staged files fit if the schemas are equal."""
    wanted = json.loads(staged.metadata or "{}").get("metaData", {})
    if any(wanted.get(key) != current.get(key) for key in ("schemaString", "partitionColumns")):
        raise table_changed("Delta", staged.target, staged.run_id)
