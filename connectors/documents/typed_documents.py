"""Rows of texts of JSON objects, in the columns of a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.quoting import quote, quote_text
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import VOID
from catalog.types.typenames import to_ddl
from connectors.shared.loose_json import LOCALE, as_text, is_rounded, raise_unfit, whole_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def typed_documents(lines: "DataFrame", columns: Sequence[Column], names: Sequence[str] | None) -> "DataFrame":
    """The columns of these names, by default all, of the objects in the column `value`; a value that is not of its
    column's type fails the job."""
    texts = [Column(column.name, as_text(column.type)) for column in columns if column.type != VOID]
    settings = f"map('mode', 'FAILFAST', 'locale', '{LOCALE}')"
    parsed = f"from_json(value, {quote_text(columns_to_ddl(texts))}, {settings}) as row"
    by_name = {column.name: column for column in columns}
    wanted = columns if names is None else [by_name[name] for name in names]
    return lines.selectExpr(parsed).selectExpr(*(f"{_value(column)} as {quote(column.name)}" for column in wanted))


def _value(column: Column) -> str:
    value = "null" if column.type == VOID else f"row.{quote(column.name)}"
    typed = f"cast({value} as {to_ddl(column.type)})"
    if not (is_cut := is_rounded(value, column.type)):
        return typed
    return f"if({is_cut}, {raise_unfit(whole_text(value, column.type), column)}, {typed})"
