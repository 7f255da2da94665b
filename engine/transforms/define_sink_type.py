"""`DefineSinkType`: accepted for jobs of Apache SeaTunnel; rows and their types stay as they are."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class DefineSinkType:
    name: ClassVar[str] = "DefineSinkType"
    doc: ClassVar[str] = (
        "Accepted for SeaTunnel's job files. Rows pass unchanged, and a sink that creates its table gives a column the "
        "type that fits the rows: a warning says so. Create the table first where it needs another type."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("columns", OptionType.LIST, "Blocks of a `column` and its `type` in the sink's database.", required=True,
               element=OptionType.MAP),
    )  # fmt: skip

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        blocks = options["columns"]
        assert isinstance(blocks, list | tuple), "is a list by its type"
        named: dict[str, str] = {}
        for index, block in enumerate(blocks):
            name = str(block.get("column") or "") if isinstance(block, Mapping) else ""
            if not name or not block.get("type") or name in named:
                message = f"`{name}` is named twice" if name in named else "a column needs its `column` and `type`"
                diagnostics.error(
                    "PEN2004", message, options.span("columns"), 'columns = [{ column = name, type = "varchar(10)" }]'
                )
                return None
            named[name] = f"columns.{index}.column"
        if not check_columns(table, named, options, diagnostics) or table.is_open:
            return None
        message = "`DefineSinkType` has no effect: a new table gets types that fit the rows"
        diagnostics.warning("PEN2004", message, options.span(), "create the table before the run to choose its types")
        return with_columns(table, {})


transform = DefineSinkType()
