"""The columns that a write adds to an Iceberg table."""

from typing import TYPE_CHECKING, Any

from catalog.row_kind import ROW_KIND
from connectors.support.iceberg.table_metadata import Metadata, table_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def new_columns(df: "DataFrame", metadata: Metadata) -> dict[str, Any]:
    """The columns of the rows that the table lacks, with their types in Spark's JSON."""
    known = table_of(metadata)
    return {
        field.name: field.dataType.jsonValue()
        for field in df.schema.fields
        if known.column(field.name) is None and field.name != ROW_KIND
    }
