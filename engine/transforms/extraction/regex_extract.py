"""`RegexExtract`: the groups of a regular expression as columns."""

import re
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class RegexExtract:
    name: ClassVar[str] = "RegexExtract"
    doc: ClassVar[str] = (
        "Extract the capture groups of a regular expression from one column into new columns. Where it does not match, "
        "and where the column is NULL, they have their default, or NULL."
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option("source_field", OptionType.STRING, "The column that is searched.", required=True),
        Option("regex_pattern", OptionType.STRING, "A Java regular expression with one group per column.",
               required=True),
        Option("output_fields", OptionType.LIST, "The new columns, one per group.", required=True,
               element=OptionType.STRING),
        Option("default_values", OptionType.LIST, "The values where nothing matches, one per column.",
               element=OptionType.STRING),
    )  # fmt: skip

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        field, pattern = options.string("source_field"), options.string("regex_pattern")
        outputs, defaults = options.strings("output_fields"), options.strings("default_values")
        if not _check(pattern, len(outputs), len(defaults), options, diagnostics):
            return None
        if not check_columns(table, {field: "source_field"}, options, diagnostics) or table.is_open:
            return None
        text, quoted = f"CAST({quote(field)} AS STRING)", quote_text(pattern)
        found = f"regexp_like({text}, {quoted})"
        added = {}
        for number, name in enumerate(outputs):
            default = quote_text(defaults[number]) if defaults else "NULL"
            added[name] = f"CASE WHEN {found} THEN regexp_extract({text}, {quoted}, {number + 1}) ELSE {default} END"
        return with_columns(table, added)


def _check(pattern: str, outputs: int, defaults: int, options: Options, diagnostics: Diagnostics) -> bool:
    mark = diagnostics.mark()
    groups = len(re.findall(r"(?<!\\)(?:\\\\)*\((?!\?)|\(\?<(?![=!])", pattern))
    if groups != outputs:
        message = f"`regex_pattern` has {groups} groups, and there are {outputs} `output_fields`"
        diagnostics.error("PEN2004", message, options.span("output_fields"), "name one column per group")
    if defaults and defaults != outputs:
        message = f"{defaults} `default_values` for {outputs} `output_fields`"
        diagnostics.error("PEN2004", message, options.span("default_values"), "give one value per column")
    return not mark.has_errors


transform = RegexExtract()
