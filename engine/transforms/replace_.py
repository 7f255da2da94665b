"""`Replace`: replace text in columns."""

import re
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType
from catalog.quoting import quote, quote_text
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns, with_columns
from sql.rewrite.select_query import Select


class Replace:
    name: ClassVar[str] = "Replace"
    doc: ClassVar[str] = "Replace what matches a text or a regular expression in columns, which become strings."
    options: ClassVar[tuple[Option, ...]] = (
        Option("replace_field", OptionType.LIST, "The column, or a list of columns.", element=OptionType.STRING),
        Option("replace_fields", OptionType.LIST, "Several columns.", element=OptionType.STRING),
        Option("pattern", OptionType.STRING, "The text, or Java regular expression, to replace.", required=True),
        Option("replacement", OptionType.STRING, "The replacement; `$1` is a group of the pattern.", required=True),
        Option("is_regex", OptionType.BOOLEAN, "Whether `pattern` is a regular expression.", default=False),
        Option(
            "replace_first",
            OptionType.BOOLEAN,
            "Only the first match; with `is_regex` only.",
            default=False,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        places = {
            name: f"{option}.{index}"
            for option in ("replace_field", "replace_fields")
            for index, name in enumerate(options.strings(option))
        }
        if not places:
            help = 'replace_field = "name"'
            diagnostics.error("PEN2005", "`Replace` needs `replace_field` or `replace_fields`", options.span(), help)
            return None
        if not check_columns(table, places, options, diagnostics) or table.is_open:
            return None
        return with_columns(table, {name: _expression(quote(name), options) for name in places})


def _expression(column: str, options: Options) -> str:
    """SeaTunnel makes the value a string (Java's `toString`), then replaces as Java does."""
    pattern, replacement = options.string("pattern"), options.string("replacement")
    value = f"CAST({column} AS STRING)"
    if not options.flag("is_regex"):
        return f"replace({value}, {quote_text(pattern)}, {quote_text(replacement)})"
    if not options.flag("replace_first"):
        return f"regexp_replace({value}, {quote_text(pattern)}, {quote_text(replacement)})"
    return f"regexp_replace({value}, {quote_text(_once(pattern))}, {quote_text(_around(pattern, replacement))})"


def _once(pattern: str) -> str:
    """A pattern that matches once: it takes what is before the first match and after it along, as groups.

    Spark has no replace-first. Numbers of groups in the pattern shift by the one before.
    """
    shifted = re.sub(r"((?:^|[^\\])(?:\\\\)*)\\([1-9])", lambda match: f"{match[1]}\\{int(match[2]) + 1}", pattern)
    return f"^(?s:(.*?))(?:{shifted})(?s:(.*))$"


def _around(pattern: str, replacement: str) -> str:
    shifted = re.sub(r"(?<!\\)\$(\d)", lambda match: f"${int(match[1]) + 1}", replacement)
    apart = "\\" if shifted[:1].isdigit() else ""
    groups = len(re.findall(r"(?<!\\)\((?:(?!\?)|\?<(?![=!]))", pattern))
    return f"$1{apart}{shifted}${groups + 2}"


transform = Replace()
