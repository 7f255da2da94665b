"""The steps of a merging write: rows are staged as Parquet next to the journal, and one MERGE commits them.

What a MERGE could refuse is checked while the rows are staged, when the run can still be rolled back.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog.quoting import quote, quote_text
from catalog.tables.evolution import SchemaEvolution, widens
from catalog.tables.row_kind import ROW_KIND
from connectors.commits.retrying import retried
from connectors.delta import table_schema
from connectors.delta.delta_staged import CommitKind, DeltaStaged
from connectors.delta.transaction import DeltaTable, analyze, is_conflict
from connectors.interface.run_context import RowChanges
from connectors.interface.sink import WriteTask
from connectors.lakehouse import merging
from connectors.lakehouse.keyed_rows import DELETED
from connectors.lakehouse.own_session import own_session
from connectors.lakehouse.timeline import versions_statement
from connectors.shared.spark_types import of_spark_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_CHANGES = ("inserted", "updated", "deleted")


def stage_merge(spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: DeltaStaged) -> DeltaStaged:
    assert prepared.keyed is not None
    table = DeltaTable(spark, prepared.target)
    metadata = table.metadata()
    changes = _changes(df, metadata, table_schema.evolution(task.options))
    changed = table_schema.evolved(metadata, changes)
    if changed is not None:
        table.check_metadata(changed)
    rows = merging.resolved(df, prepared.keyed)
    for name, text in table_schema.constraints(metadata, df.columns).items():
        message = quote_text(f"a row breaks the constraint {name} of the Delta table")
        rows = rows.where(f"{DELETED} or assert_true(coalesce(({text}), false), {message}) is null")
    merging.write_resolved(rows, f"{prepared.staging}/data", task)
    staged = replace(prepared, table_id=str(metadata["id"]), changes=changes)
    if changed is None:
        with own_session(spark, {}) as session:
            analyze(table.jvm, session, _statement(spark, staged, bounds=""))
    return staged


def _changes(df: "DataFrame", metadata: Mapping[str, Any], evolution: SchemaEvolution) -> dict[str, Any]:
    """The columns that the target lacks or holds in a narrower type, with their types in Spark's JSON."""
    target = table_schema.table_of(metadata)
    found = {}
    for field in df.schema.fields:
        column, type = target.column(field.name), field.dataType.jsonValue()
        is_wider = column is not None and evolution is SchemaEvolution.WIDEN
        is_new = column is None and field.name != ROW_KIND
        if is_new or (is_wider and column is not None and widens(column.type, of_spark_json(type))):
            found[field.name] = type
    return found


def commit_merge(spark: "SparkSession", staged: DeltaStaged) -> RowChanges:
    """Merge the staged rows; returns how many rows of the table Delta has changed."""
    if staged.changes:
        DeltaTable(spark, staged.target).change_metadata(
            lambda metadata: table_schema.evolved(metadata, staged.changes)
        )
    assert staged.keyed is not None
    is_merge = staged.kind is CommitKind.MERGE
    bounds = merging.bounds_of(_rows(spark, staged), staged.keyed.keys) if is_merge else ""
    text = _statement(spark, staged, bounds)
    settings = {
        "spark.databricks.delta.write.txnAppId": staged.application,
        "spark.databricks.delta.write.txnVersion": str(staged.version),
    }
    with own_session(spark, settings) as session:
        affected = retried(lambda: session.sql(text), is_conflict).first()
    inserted, updated, deleted = (int(affected.getAs(f"num_{kind}_rows")) for kind in _CHANGES)
    return RowChanges(inserted, updated, deleted)


def _statement(spark: "SparkSession", staged: DeltaStaged, bounds: str) -> str:
    assert staged.keyed is not None
    columns = [name for name in _rows(spark, staged).columns if name != DELETED]
    target, source = f"delta.{quote(staged.target)}", f"parquet.{quote(staged.staging + '/data')}"
    if staged.kind is CommitKind.VERSIONS:
        return versions_statement(target, source, columns, staged.keyed)
    return merging.merge_statement(target, source, columns, staged.keyed, bounds)


def _rows(spark: "SparkSession", staged: DeltaStaged) -> "DataFrame":
    return spark.read.parquet(f"{staged.staging}/data")
