"""`RowKindExtractor`: the kind of each row as a column, and every row an insert."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote_text
from catalog.tables.row_kind import RowKind
from catalog.tables.table import CatalogTable
from engine.transforms.base import row_kind_of, with_columns
from sql.rewrite.select_query import Select


class RowKindExtractor:
    name: ClassVar[str] = "RowKindExtractor"
    doc: ClassVar[str] = (
        "Add the kind of each row as a column; after it rows have no kind, so that changes can be appended to any sink."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("custom_field_name", OptionType.STRING, "The name of the new column.", default="row_kind"),
        Option(
            "transform_type",
            OptionType.STRING,
            "What the column holds: `+I`, `-U`, `+U`, `-D`, or INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE.",
            default="SHORT",
            choices=("SHORT", "FULL"),
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        if table.is_open:
            return None
        name, kind = options.string("custom_field_name"), row_kind_of(table)
        if table.column(name) is not None:
            message = f"`{table.path.table}` has a column `{name}` already"
            place = options.span("custom_field_name")
            diagnostics.error("PEN2011", message, place, 'give another one: custom_field_name = "kind"')
            return None
        if options.string("transform_type").upper() == "FULL":
            cases = " ".join(f"WHEN {quote_text(kind.value)} THEN {quote_text(kind.name)}" for kind in RowKind)
            kind = f"CASE {kind} {cases} END"
        return with_columns(table, {name: kind})

    def keeps_row_kind(self, options: Options) -> bool:
        return False


transform = RowKindExtractor()
