"""`TableMerge`: the rows of all tables of a set as one table."""

from collections.abc import Sequence
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable, TablePath
from engine.transforms.base import TableGroup


class TableMerge:
    name: ClassVar[str] = "TableMerge"
    doc: ClassVar[str] = "Make one table of the tables of a set that have equal columns, as by UNION ALL."
    options: ClassVar[tuple[Option, ...]] = (
        Option("table", OptionType.STRING, "The name of the new table.", required=True),
        Option("schema", OptionType.STRING, "Its schema."),
        Option("database", OptionType.STRING, "Its database."),
    )

    def groups(
        self, tables: Sequence[CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> tuple[TableGroup, ...] | None:
        name = options.string("table").strip()
        if not name:
            diagnostics.error("PEN2004", "`table` is empty", options.span("table"), 'table = "all_orders"')
            return None
        schema, database = options.optional_string("schema"), options.optional_string("database")
        return (TableGroup(TablePath(name, schema or None, database or None), tuple(range(len(tables)))),)


transform = TableMerge()
