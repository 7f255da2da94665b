"""Commits the staged rows of a write to a Delta table, in one transaction."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from catalog.diagnostics import run_error
from catalog.quoting import quote
from connectors.support import run_owner
from connectors.support.commit_errors import dismissal, rows_are_gone
from connectors.support.delta.delta_staged import CommitKind, DeltaStaged
from connectors.support.delta.merge_staging import commit_merge
from connectors.support.delta.removing import remove_files, staged_actions, staged_paths
from connectors.support.delta.transaction import DeltaTable, Replaces, own_session
from connectors.support.files.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOKED_AT: Final = 64
"""Up to this many files are checked before every commit; more only if another process staged them."""


def commit(spark: "SparkSession", staged: DeltaStaged) -> None:
    """Commit in one transaction. Delta's log records it, so that a second call of the same run does nothing."""
    staged.store.apply(spark)
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
        remove_files(spark, staged)  # staged again for a run that the log already records
    files.delete(f"{staging}/actions.json")  # before `begun`: without it, the files would count as staged again
    files.delete(staging)


def _commit_files(spark: "SparkSession", staged: DeltaStaged, table: DeltaTable) -> None:
    actions = staged_actions(spark, staged)
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
            cluster_by=() if is_made_by_another else staged.cluster_by,
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


def _refuse_missing_files(spark: "SparkSession", staged: DeltaStaged, actions: Sequence[str]) -> None:
    files, target = files_at(spark, staged.target)
    if not all(files.exists(f"{target}/{path}") for path in staged_paths(actions)):
        raise rows_are_gone(staged.run_id, staged.target)


def _refuse_missing_rows(spark: "SparkSession", staged: DeltaStaged) -> None:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/data"):
        raise rows_are_gone(staged.run_id, staged.target)


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
    help = f"{dismissal(staged.run_id)}; then run the job again"
    return run_error("PEN5005", message, None, help)
