"""Which partition of a table a write without rows replaces: the one that the constants of its query name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.quoting import quote
from connectors.shared.constant_columns import constant_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def constant_partition(df: "DataFrame", by: Sequence[str]) -> str | None:
    """The condition of the partition in which all rows would be; None if they may be in several."""
    values = constant_columns(df, by)
    if not by or len(values) < len(by):
        return None
    return " and ".join(f"{quote(name)} <=> {values[name]}" for name in by)


def constant_partition_texts(df: "DataFrame", by: Sequence[str]) -> dict[str, str | None] | None:
    """The values of that partition, as texts; None if rows may be in several."""
    values = constant_columns(df, by)
    if not by or len(values) < len(by):
        return None
    row = df.sparkSession.range(1).selectExpr(*(f"cast({values[name]} as string)" for name in by)).first()
    assert row is not None
    return dict(zip(by, row, strict=True))
