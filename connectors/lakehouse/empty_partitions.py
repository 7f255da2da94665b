"""Which partition of a table a write without rows replaces: the one that the constants of its query name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.quoting import quote
from connectors.shared.constant_columns import constant_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def constant_partition(df: "DataFrame", by: Sequence[str]) -> str | None:
    """The condition of the partition in which all rows would be; None if they may be in several."""
    values = _values(df, by)
    return None if values is None else " and ".join(f"{quote(name)} <=> {value}" for name, value in values.items())


def constant_partition_texts(df: "DataFrame", by: Sequence[str]) -> dict[str, str | None] | None:
    """The values of that partition, as texts; None if rows may be in several."""
    values = _values(df, by)
    if values is None:
        return None
    row = df.sparkSession.range(1).selectExpr(*(f"cast({value} as string)" for value in values.values())).first()
    assert row is not None
    return dict(zip(by, row, strict=True))


def _values(df: "DataFrame", by: Sequence[str]) -> dict[str, str] | None:
    """The SQL of the value of each partition column, in their order; None if rows may be in several partitions."""
    values = constant_columns(df, by)
    return values if by and len(values) == len(by) else None
