"""`FieldMapper`: choose, rename and reorder columns."""

from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns
from sql.rewrite.select_query import Projection, Select


class FieldMapper:
    name: ClassVar[str] = "FieldMapper"
    doc: ClassVar[str] = "Keep the mapped columns, in the mapping's order and under their new names; drop the others."
    options: ClassVar[tuple[Option, ...]] = (
        Option("field_mapper", OptionType.MAP, "Column of the input = its name in the output.", required=True),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        mapping = {name: str(new) for name, new in options.mapping("field_mapper").items()}
        if not check_columns(table, {name: f"field_mapper.{name}" for name in mapping}, options, diagnostics):
            return None
        return Select(table.path.table, tuple(Projection(new, quote(name)) for name, new in mapping.items()))


transform = FieldMapper()
