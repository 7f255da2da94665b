"""`Copy`: columns once more, under other names."""

from typing import ClassVar

from catalog.diagnostics import Diagnostics
from catalog.quoting import quote
from catalog.table import CatalogTable
from connectors.support.option import Option, Options, OptionType
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class Copy:
    name: ClassVar[str] = "Copy"
    doc: ClassVar[str] = "Add copies of columns after the input's own; one of a column's name replaces that column."
    options: ClassVar[tuple[Option, ...]] = (
        Option("fields", OptionType.MAP, "New column = the column of the input that it copies.", required=True),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        copies = {new: str(name) for new, name in options.mapping("fields").items()}
        places = {name: f"fields.{new}" for new, name in copies.items()}
        if not check_columns(table, places, options, diagnostics) or table.is_open:
            return None
        return with_columns(table, {new: quote(name) for new, name in copies.items()})


transform = Copy()
