"""Where rows are written if a primary key spans partitions: at the partition and bucket of their key, or at new ones.

Paimon calls this bucket mode "cross partition". No file says where a key is: the table's keys are read and joined.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from catalog.quoting import quote
from connectors.lakehouse.keyed_rows import DELETED, KeyedRows
from connectors.paimon.scan_table import read_with_buckets
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.table_files import Schema, spans_partitions, table_of
from connectors.paimon.writing.new_buckets import with_new_buckets
from connectors.paimon.writing.tasks import Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OLD: Final = "__penstock_old_"
_OLD_BUCKET: Final = f"{_OLD}bucket"
_AT_OLD: Final = "__penstock_at_old"


@contextmanager
def with_buckets(
    rows: "DataFrame", layout: Layout, current: Schema | None, snapshot: int | None, keyed: KeyedRows | None
) -> Iterator["DataFrame"]:
    """The rows with `BUCKET`, and for each key that moves a row that deletes it where it was; as they are if no key
    spans partitions.

    `current` is the table's schema, `snapshot` the one whose keys count, if there is any.
    """
    if keyed is None or not spans_partitions(layout.schema):
        yield rows
    elif not snapshot or current is None:
        inserted = rows.where(f"not {DELETED}").drop(DELETED) if DELETED in rows.columns else rows
        yield with_new_buckets(inserted.selectExpr("*", f"cast(null as int) as {BUCKET}"), layout, None)
    else:
        from pyspark.storagelevel import StorageLevel

        keys, partitions = layout.schema["primaryKeys"], layout.schema["partitionKeys"]
        sequence = _sequence_column(current, keyed)
        names = {*keys, *partitions, *([sequence] if sequence else [])}
        existing = read_with_buckets(rows.sparkSession, layout.folder, current, snapshot, names)
        existing.persist(StorageLevel.DISK_ONLY)  # the join and the sizes of the buckets: pypaimon merges rows once
        try:
            yield with_new_buckets(_joined(rows, existing, layout.schema, sequence), layout, existing)
        finally:
            existing.unpersist()


def _sequence_column(current: Schema, keyed: KeyedRows) -> str | None:
    """The column of the table that orders rows; None if the table does not have it yet."""
    column = table_of(current).column(keyed.sequence_field) if keyed.sequence_field else None
    return column.name if column is not None else None


def _joined(rows: "DataFrame", existing: "DataFrame", schema: Schema, sequence: str | None) -> "DataFrame":
    """The rows where they are written: with the partition and bucket of their key, or without bucket at their own
    partition. A key that moves has both, the former deleted. Rows that are older than the table's are left out."""
    from pyspark.sql.functions import explode, expr

    old = {name: f"{_OLD}{name}" for name in existing.columns if name != BUCKET}
    renamed = [f"{quote(name)} as {quote(new)}" for name, new in old.items()]
    before = existing.selectExpr(*renamed, f"{BUCKET} as {_OLD_BUCKET}")
    same_key = " and ".join(f"{quote(key)} = {quote(old[key])}" for key in schema["primaryKeys"])
    stays = " and ".join(f"{quote(name)} <=> {quote(old[name])}" for name in schema["partitionKeys"])
    joined = rows.join(before, expr(same_key), "left").where(f"{_OLD_BUCKET} is not null or not {DELETED}")
    if sequence is not None:
        is_newer = f"{quote(old[sequence])} is null or {quote(sequence)} >= {quote(old[sequence])}"
        joined = joined.where(f"{_OLD_BUCKET} is null or {is_newer}")
    places = (
        f"case when {_OLD_BUCKET} is null then array(false) when {DELETED} or {stays} then array(true) "
        "else array(true, false) end"
    )
    placed = joined.withColumn(_AT_OLD, explode(expr(places)))
    partitions = {name.lower(): name for name in schema["partitionKeys"]}
    columns = [
        f"if({_AT_OLD}, {quote(old[partitions[name.lower()]])}, {quote(name)}) as {quote(name)}"
        if name.lower() in partitions
        else quote(name)
        for name in rows.columns
        if name != DELETED
    ]
    is_deleted = f"{DELETED} or ({_AT_OLD} and not ({stays})) as {DELETED}"
    return placed.selectExpr(*columns, is_deleted, f"if({_AT_OLD}, {_OLD_BUCKET}, null) as {BUCKET}")
