"""`Copy`: copies columns under other names."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class Copy:
    name: ClassVar[str] = "Copy"
    doc: ClassVar[str] = "Add copies of columns after the input's own; one of a column's name replaces that column."
    options: ClassVar[tuple[Option, ...]] = (
        Option("fields", OptionType.MAP, "New column = the column of the input that it copies."),
        Option("src_field", OptionType.STRING, "Of a single copy: the column of the input."),
        Option("dest_field", OptionType.STRING, "Of a single copy: the new column."),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        copies = {new: str(name) for new, name in options.mapping("fields").items()}
        places = {name: f"fields.{new}" for new, name in copies.items()}
        source, new = options.optional_string("src_field"), options.optional_string("dest_field")
        if source and new:
            copies, places = copies | {new: source}, places | {source: "src_field"}
        if not copies:
            message = "`Copy` does nothing: it has no `fields`"
            diagnostics.error("PEN2005", message, options.span(), "fields { new = column }")
            return None
        if not check_columns(table, places, options, diagnostics) or table.is_open:
            return None
        return with_columns(table, {new: quote(name) for new, name in copies.items()})


transform = Copy()
