"""`Sql`: any Spark SQL query over the inputs, by their names."""

from collections.abc import Mapping
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.options import STORE_ASSIGNMENT, Option, Options, OptionType
from catalog.tables.table import CatalogTable


class Sql:
    name: ClassVar[str] = "Sql"
    doc: ClassVar[str] = (
        "Any Spark SQL query. It reads its inputs by their names; a single input may also be called `dual`."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "query", OptionType.STRING, "The query, Spark SQL.", required=True, alternatives=("sql",), is_query=True
        ),
        Option(
            "columns",
            OptionType.LIST,
            "Columns that the query's are matched with by name and cast to, as `INSERT INTO … BY NAME` does: "
            "`id INT NOT NULL`, with `DEFAULT 0` where it has one. A column that the query lacks has its default or "
            "NULL; one that is not listed is an error.",
            element=OptionType.STRING,
        ),
        STORE_ASSIGNMENT,
    )

    def query(
        self, inputs: Mapping[str, CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> PlacedText | None:
        return options.text("query")


transform = Sql()
