"""Expressions of SeaTunnel's dialect over one table, as Spark gets them."""

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from sql.seatunnel.seatunnel import to_spark

COLUMNS = {
    "i": "int",
    "l": "bigint",
    "x": "double",
    "n": "decimal(10,2)",
    "s": "string",
    "b": "binary",
    "d": "date",
    "at": "timestamp",
    "clock": "time(6)",
    "xs": "array<string>",
}
TABLES = {"t": CatalogTable.of("t", [Column(name, parse_type(type)) for name, type in COLUMNS.items()])}


def in_spark(expression: str) -> str:
    """The expression of a select item as it is rewritten, without the alias that keeps its name."""
    query = to_spark(PlacedText.bare(f"select {expression} as y from t"), TABLES).value
    return query.removeprefix("select ").removesuffix(" as y from t")
