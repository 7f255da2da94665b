"""The steps of a write that merges: one MERGE on a branch while the rows are staged, which the commit publishes.

Where the main branch has moved meanwhile, or the merge changes columns (every branch has the same), the commit merges
the staged rows on a new branch.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.quoting import quote
from catalog.tables.evolution import SchemaEvolution
from connectors.commits.commit_errors import in_doubt, rows_are_gone, table_changed
from connectors.commits.retrying import retried
from connectors.iceberg.changed_columns import changed_columns
from connectors.iceberg.iceberg_staged import IcebergStaged
from connectors.iceberg.iceberg_table import IcebergTable, is_conflict, opened
from connectors.iceberg.table_metadata import Metadata, has_all_since, last_sequence, main_snapshot, table_of
from connectors.interface.sink import WriteTask
from connectors.lakehouse import merging
from connectors.lakehouse.keyed_rows import DELETED
from connectors.lakehouse.required import without_nulls
from connectors.lakehouse.timeline import versions_statement
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stage_merge(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: IcebergStaged) -> IcebergStaged:
    with opened(spark, prepared.address) as table:
        metadata = table.metadata()
        added = changed_columns(df, metadata, task.options.choice("schema_evolution", SchemaEvolution))
        if prepared.keyed is not None:
            rows = merging.resolved(df, prepared.keyed)
        else:
            rows = merging.check_replace_where(df, prepared.replace_where or "true").selectExpr(
                "*", f"false as {DELETED}"
            )
        rows = without_nulls(rows, table_of(metadata).columns, "Iceberg")
        merging.write_resolved(rows, f"{prepared.staging}/data", task)
        staged = replace(
            prepared,
            added=added,
            table_id=str(metadata["table-uuid"]),
            base=main_snapshot(metadata),
            sequence=last_sequence(metadata),
        )
        if added:
            return staged
        _merge_on_branch(spark, table, staged, metadata)
    return replace(staged, has_branch=True)


def commit_merge(spark: "SparkSession", table: IcebergTable, staged: IcebergStaged) -> None:
    if staged.added:
        _refuse_another_table(table, staged)
        table.change_columns(staged.added)

    def attempt() -> None:
        if table.committed(staged.identity) is not None:
            return  # the attempt before had been committed, only its answer was lost
        metadata = _refuse_another_table(table, staged)
        _refuse_unknown(metadata, staged)
        if staged.branch in metadata.get("refs", {}) and main_snapshot(metadata) == staged.base:
            table.publish(staged.branch)
            return
        _refuse_missing_rows(spark, staged)
        # the branch becomes the main one only where that is still the one in which the write was looked for
        _merge_on_branch(spark, table, staged, metadata)
        table.publish(staged.branch)

    retried(attempt, is_conflict)


def _refuse_unknown(metadata: Metadata, staged: IcebergStaged) -> None:
    """Raise PEN5010 where the merge may be committed by a snapshot that has expired; a branch keeps its own."""
    has_branch = staged.branch in metadata.get("refs", {})
    if not has_branch and staged.sequence and not has_all_since(metadata, staged.sequence):
        raise in_doubt("Iceberg", str(staged.address), staged.run_id)


def _merge_on_branch(spark: "SparkSession", table: IcebergTable, staged: IcebergStaged, metadata: Metadata) -> None:
    """Begin the branch (again) at the table's latest snapshot."""
    table.remove_branch(staged.branch)
    table.create_branch(staged.branch, main_snapshot(metadata))
    _merge(spark, staged, staged.address.branch_sql(staged.branch))


def _merge(spark: "SparkSession", staged: IcebergStaged, target: str) -> None:
    folder = f"{staged.staging}/data"
    summary = {f"spark.sql.iceberg.snapshot-property.{key}": value for key, value in staged.summary.items()}
    with opened(spark, staged.address, summary) as table:
        for statement in _statements(spark, staged, target, f"parquet.{quote(folder)}"):
            table.session.sql(statement)


def _statements(spark: "SparkSession", staged: IcebergStaged, target: str, source: str) -> tuple[str, ...]:
    rows = spark.read.parquet(f"{staged.staging}/data")
    columns = [name for name in rows.columns if name != DELETED]
    if staged.keyed is None:
        listed = ", ".join(map(quote, columns))
        deletion = f"DELETE FROM {target} WHERE {staged.replace_where}\n"
        return (deletion, f"INSERT INTO {target} BY NAME SELECT {listed} FROM {source}")
    if staged.keyed.versions:
        return (versions_statement(target, source, columns, staged.keyed),)
    bounds = merging.bounds_of(rows, staged.keyed.keys)
    return (merging.merge_statement(target, source, columns, staged.keyed, bounds),)


def _refuse_another_table(table: IcebergTable, staged: IcebergStaged) -> Metadata:
    if not table.exists():
        raise table_changed("Iceberg", str(staged.address), staged.run_id)
    metadata = table.metadata()
    if metadata["table-uuid"] != staged.table_id:
        raise table_changed("Iceberg", str(staged.address), staged.run_id)
    return metadata


def _refuse_missing_rows(spark: "SparkSession", staged: IcebergStaged) -> None:
    files, staging = files_at(spark, staged.staging)
    if not files.exists(f"{staging}/data"):
        raise rows_are_gone(staged.run_id, str(staged.address))
