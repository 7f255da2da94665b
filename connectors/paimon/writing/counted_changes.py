"""What a merge changes (`count_changes`): its rows are joined with the table's keys while they are staged.

Paimon itself merges when the table is read or compacted, so that a write need not know which keys there are.
"""

from typing import TYPE_CHECKING, Final

from catalog.quoting import quote
from connectors.lakehouse.keyed_rows import DELETED, KeyedRows
from connectors.paimon.scan_table import read_with_buckets
from connectors.paimon.table_files import Schema, table_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

_OLD: Final = "__penstock_was_"


def with_counts(
    rows: "DataFrame", folder: str, schema: Schema, snapshot: int, keyed: KeyedRows
) -> tuple["DataFrame", "Observation"]:
    """The rows, and what will have counted them once they are written, against the keys of a snapshot."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import expr

    keys = schema["primaryKeys"]
    column = table_of(schema).column(keyed.sequence_field) if keyed.sequence_field else None
    names = {*keys, *([column.name] if column else [])}
    existing = read_with_buckets(rows.sparkSession, folder, schema, snapshot, names)
    old = {name: quote(f"{_OLD}{name}") for name in existing.columns}
    before = existing.selectExpr(*(f"{quote(name)} as {new}" for name, new in old.items()))
    joined = rows.join(before, expr(" and ".join(f"{quote(key)} = {old[key]}" for key in keys)), "left")
    is_there = f"{old[keys[0]]} is not null"
    if column is not None:
        there = old[column.name]
        is_there += f" and ({there} is null or {quote(column.name)} >= {there})"
    is_new, counted = f"{old[keys[0]]} is null", Observation()
    counts = {
        "inserted": f"{is_new} and not {DELETED}",
        "updated": f"{is_there} and not {DELETED}",
        "deleted": f"{is_there} and {DELETED}",
    }
    metrics = (expr(f"count_if({condition}) as {name}") for name, condition in counts.items())
    observed = joined.observe(counted, *metrics)
    return observed.select(*(quote(name) for name in rows.columns)), counted


def counted_changes(counted: "Observation") -> tuple[int, ...]:
    """The rows that are inserted, updated and deleted."""
    found = counted.get
    return tuple(int(found[name]) for name in ("inserted", "updated", "deleted"))
