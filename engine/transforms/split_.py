"""`Split`: one column's text into several columns."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class Split:
    name: ClassVar[str] = "Split"
    doc: ClassVar[str] = (
        "Split one column's text at a separator into new columns; a missing part is null, the last column takes "
        "the rest."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("separator", OptionType.STRING, "The separator, a Java regular expression.", required=True),
        Option("split_field", OptionType.STRING, "The column to split.", required=True),
        Option(
            "output_fields",
            OptionType.LIST,
            "Names of the new columns, in the order of the parts.",
            required=True,
            element=OptionType.STRING,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        field, outputs = options.string("split_field"), options.strings("output_fields")
        if not outputs:
            diagnostics.error(
                "PEN2004", "`output_fields` is empty", options.span("output_fields"), "name the new columns"
            )
            return None
        if not check_columns(table, {field: "split_field"}, options, diagnostics) or table.is_open:
            return None
        parts = f"split(CAST({quote(field)} AS STRING), {quote_text(options.string('separator'))}, {len(outputs)})"
        return with_columns(table, {name: f"get({parts}, {index})" for index, name in enumerate(outputs)})


transform = Split()
