"""Columns that are NOT NULL in a table: the rows are checked while they are staged."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from catalog.quoting import quote, quote_text
from catalog.tables.table import Column
from connectors.lakehouse.keyed_rows import DELETED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def without_nulls(df: "DataFrame", columns: Iterable[Column], format: str) -> "DataFrame":
    """The rows, with or without `__deleted`; fails at a NULL where the table, of these columns, has NOT NULL."""
    written = {name.lower() for name in df.columns}
    for column in columns:
        if column.nullable or column.name.lower() not in written:
            continue
        message = quote_text(f"the column {column.name} is NULL in a row, and NOT NULL in the {format} table")
        check = f"assert_true({quote(column.name)} is not null, {message}) is null"
        df = df.where(f"{DELETED} or {check}" if DELETED in df.columns else check)
    return df
