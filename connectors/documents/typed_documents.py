"""Rows of texts of JSON objects, in the columns of a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import VOID
from catalog.types.typenames import to_ddl
from connectors.shared.loose_json import as_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def typed_documents(lines: "DataFrame", columns: Sequence[Column], names: Sequence[str] | None) -> "DataFrame":
    """The columns of these names, by default all, of the objects in the column `value`; a value that is not of its
    column's type fails the job."""
    texts = [Column(column.name, as_text(column.type)) for column in columns if column.type != VOID]
    parsed = f"from_json(value, {quote_text(columns_to_ddl(texts))}, map('mode', 'FAILFAST')) as row"
    types = {column.name: column.type for column in columns}
    wanted = [column.name for column in columns] if names is None else names
    values = {name: "null" if type == VOID else f"row.{quote(name)}" for name, type in types.items()}
    typed = (f"cast({values[name]} as {to_ddl(types[name])}) as {quote(name)}" for name in wanted)
    return lines.selectExpr(parsed).selectExpr(*typed)
