"""The sort order of a new table: `sort_by = ["region", "at desc"]`; every later write sorts its files by it."""

import re
from dataclasses import dataclass
from typing import Any, Final

from catalog.diagnostics.diagnostic import Diagnostics, did_you_mean
from catalog.options import Options
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import VARIANT, Array, Map, Struct

_FIELD: Final = re.compile(
    r"\s*(?P<column>`(?:[^`]|``)+`|[^\s`]+)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SortField:
    """One field of a sort order; NULLs come first in an ascending one, as in Spark, unless it says otherwise."""

    column: str
    is_descending: bool = False
    has_nulls_first: bool = True

    @property
    def sql(self) -> str:
        """The field in WRITE ORDERED BY."""
        nulls = "FIRST" if self.has_nulls_first else "LAST"
        return f"{quote(self.column)} {'DESC' if self.is_descending else 'ASC'} NULLS {nulls}"


def parse_sort_field(text: str) -> SortField:
    """Raises ValueError where the text is no sort field."""
    match = _FIELD.match(text)
    if match is None:
        raise ValueError(text)
    name = match["column"]
    column = name[1:-1].replace("``", "`") if name.startswith("`") else name
    is_descending = (match["way"] or "").lower() == "desc"
    nulls = (match["nulls"] or "").lower()
    return SortField(column, is_descending, nulls == "first" if nulls else not is_descending)


def check_sort(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    """Report fields of `sort_by` that a new table cannot have (PEN2004, PEN4008)."""
    span = options.span("sort_by")
    for text in options.strings("sort_by"):
        try:
            field = parse_sort_field(text)
        except ValueError:
            diagnostics.error("PEN2004", f"`{text}` is no sort field", span, 'sort_by = ["region", "at desc"]')
            continue
        column = table.column(field.column)
        if column is None and not table.is_open:
            hint = did_you_mean(field.column, table.schema.names)
            diagnostics.error("PEN4008", f"no column `{field.column}` to sort the table by", span, hint)
        elif column is not None and (isinstance(column.type, Array | Map | Struct) or column.type == VARIANT):
            message = f"a table cannot be sorted by the column `{field.column}` of type {column.type}"
            diagnostics.error("PEN4008", message, span)


def sort_order(jvm: Any, schema: Any, fields: tuple[str, ...]) -> Any:
    """Iceberg's `SortOrder` for a schema of the JVM's."""
    builder = jvm.org.apache.iceberg.SortOrder.builderFor(schema).caseSensitive(False)
    nulls = jvm.org.apache.iceberg.NullOrder
    for field in map(parse_sort_field, fields):
        add = builder.desc if field.is_descending else builder.asc
        builder = add(field.column, nulls.NULLS_FIRST if field.has_nulls_first else nulls.NULLS_LAST)
    return builder.build()
