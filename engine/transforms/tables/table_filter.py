"""`TableFilter`: keeps some tables of a set."""

import re
from collections.abc import Sequence
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.patterns import Pattern, user_pattern
from catalog.tables.table import CatalogTable, TablePath
from engine.transforms.base import TableGroup

_PARTS = ("database", "schema", "table")


class TableFilter:
    name: ClassVar[str] = "TableFilter"
    doc: ClassVar[str] = "Keep the tables of a set whose names match all patterns, or leave those tables out."
    options: ClassVar[tuple[Option, ...]] = (
        *(
            Option(f"{part}_pattern", OptionType.STRING, f"A regular expression that the whole {part} name matches.")
            for part in _PARTS
        ),
        Option(
            "pattern_mode",
            OptionType.STRING,
            "Whether the tables that match are kept or left out.",
            default="INCLUDE",
            choices=("INCLUDE", "EXCLUDE"),
        ),
    )

    def groups(
        self, tables: Sequence[CatalogTable], options: Options, diagnostics: Diagnostics
    ) -> tuple[TableGroup, ...] | None:
        patterns: dict[str, Pattern] = {}
        for part in _PARTS:
            text = options.optional_string(f"{part}_pattern")
            try:
                patterns |= {part: user_pattern(text)} if text is not None else {}
            except re.error as cause:
                place = options.span(f"{part}_pattern")
                diagnostics.error("PEN2004", f"`{text}` is not a regular expression: {cause}", place)
                return None
        if not patterns:
            help = 'table_pattern = "orders_.*"'
            diagnostics.error("PEN2011", "`TableFilter` does nothing: it has no pattern", options.span(), help)
            return None
        keeps_matches = options.string("pattern_mode").upper() == "INCLUDE"
        return tuple(
            TableGroup(table.path, (index,))
            for index, table in enumerate(tables)
            if _matches(table.path, patterns) is keeps_matches
        )


def _matches(path: TablePath, patterns: dict[str, Pattern]) -> bool:
    return all(pattern.fullmatch(getattr(path, part) or "") for part, pattern in patterns.items())


transform = TableFilter()
