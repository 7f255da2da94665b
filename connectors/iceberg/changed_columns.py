"""The columns that a write adds to an Iceberg table or widens in it."""

from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.tables.evolution import SchemaEvolution, widens
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import BIGINT, DOUBLE, FLOAT, INT, DataType, Decimal
from connectors.iceberg.table_metadata import Metadata, table_of
from connectors.interface.sink import WriteTask
from connectors.shared.spark_types import of_spark_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PROMOTIONS: Final = ((INT, BIGINT), (FLOAT, DOUBLE))


def promotes(before: DataType, after: DataType) -> bool:
    """Whether Iceberg can give a column the second type (its specification, "Schema Evolution")."""
    if isinstance(before, Decimal) and isinstance(after, Decimal):
        return before.scale == after.scale and before.precision < after.precision
    return (before, after) in _PROMOTIONS


def refuse_widening(found: CatalogTable, task: WriteTask) -> None:
    """Raise PEN4003 for a column that `schema_evolution = widen` would widen, and Iceberg cannot."""
    if task.options.choice("schema_evolution", SchemaEvolution) is not SchemaEvolution.WIDEN:
        return
    for column in task.table.columns:
        there = found.column(column.name)
        if there is not None and widens(there.type, column.type) and not promotes(there.type, column.type):
            message = f"an Iceberg table cannot widen `{there.name}` from {there.type} to {column.type}"
            help = f"cast(`{column.name}` as {there.type}) in the query: a value out of its range fails the run"
            raise run_error("PEN4003", message, task.options.span("schema_evolution"), help)


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
