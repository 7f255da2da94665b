"""The columns that a write adds to an Iceberg table or widens in it."""

from typing import TYPE_CHECKING, Any, Final

from catalog.datatypes import BIGINT, DOUBLE, FLOAT, INT, DataType, Decimal
from catalog.evolution import SchemaEvolution
from catalog.row_kind import ROW_KIND
from connectors.support.iceberg.table_metadata import Metadata, table_of
from connectors.support.spark_types import of_spark_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PROMOTIONS: Final = ((INT, BIGINT), (FLOAT, DOUBLE))


def promotes(before: DataType, after: DataType) -> bool:
    """Whether Iceberg can give a column the second type (its specification, "Schema Evolution")."""
    if isinstance(before, Decimal) and isinstance(after, Decimal):
        return before.scale == after.scale and before.precision < after.precision
    return (before, after) in _PROMOTIONS


def changed_columns(df: "DataFrame", metadata: Metadata, evolution: SchemaEvolution) -> dict[str, Any]:
    """The columns of the rows that the table lacks or holds in a narrower type, with their types in Spark's JSON."""
    known, changed = table_of(metadata), {}
    for field in df.schema.fields:
        column, type = known.column(field.name), field.dataType.jsonValue()
        if column is None and field.name != ROW_KIND:
            changed[field.name] = type
        elif column is not None and evolution is SchemaEvolution.WIDEN and promotes(column.type, of_spark_json(type)):
            changed[column.name] = type
    return changed
