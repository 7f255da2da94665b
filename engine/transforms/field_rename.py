"""`FieldRename`: rename columns by rule."""

import re
from collections.abc import Mapping
from typing import ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType, Value
from catalog.patterns import user_pattern
from catalog.quoting import quote
from catalog.tables.table import CatalogTable
from engine.transforms.base import check_columns
from sql.rewrite.select_query import Projection, Select

CASES = {"UPPER": str.upper, "LOWER": str.lower}


class FieldRename:
    name: ClassVar[str] = "FieldRename"
    doc: ClassVar[str] = "Rename columns one by one, or all by case, prefix, suffix and regular expression."
    options: ClassVar[tuple[Option, ...]] = (
        Option("map", OptionType.MAP, "Column = its new name. The other options leave these columns alone."),
        Option(
            "specific",
            OptionType.LIST,
            "The same as `map`, as a list of `{field_name, target_name}`.",
            element=OptionType.MAP,
        ),
        Option("convert_case", OptionType.STRING, "The case of the new names.", choices=tuple(CASES)),
        Option("prefix", OptionType.STRING, "Text to put before each name."),
        Option("suffix", OptionType.STRING, "Text to put after each name."),
        Option(
            "replacements_with_regex",
            OptionType.LIST,
            "List of `{replace_from, replace_to, is_regex}`: what matches `replace_from` in a name becomes "
            "`replace_to`; if several rules match, the last one applies. With `is_regex = false` the whole name must "
            "be equal.",
            element=OptionType.MAP,
        ),
    )

    def select(self, table: CatalogTable, options: Options, diagnostics: Diagnostics) -> Select | None:
        chosen, places = _chosen(options)
        if (
            not check_columns(table, places, options, diagnostics)
            or not check_rules(options, diagnostics)
            or table.is_open
        ):
            return None
        folded = {name.lower(): new for name, new in chosen.items()}
        return Select(
            table.path.table,
            tuple(
                Projection(folded.get(name.lower()) or renamed(name, options), quote(name))
                for name in table.schema.names
            ),
        )


def renamed(name: str, options: Options) -> str:
    """The new name of a column, by SeaTunnel's order: find matches, convert the case, replace them, prefix, suffix."""
    matches, replacement = _matches(name, _rules(options))
    if case := options.optional_string("convert_case"):
        name = CASES[case.upper()](name)
    for start, end in reversed(matches):
        name = name[:start] + replacement + name[end:]
    return (options.optional_string("prefix") or "").strip() + name + (options.optional_string("suffix") or "").strip()


def _matches(name: str, rules: tuple[Mapping[str, Value], ...]) -> tuple[list[tuple[int, int]], str]:
    matches: list[tuple[int, int]] = []
    replacement = ""
    for rule in rules:
        pattern = str(rule.get("replace_from") or "")
        if rule.get("is_regex") is False:
            hits = [(0, len(name))] if pattern == name else []
        else:
            hits = user_pattern(pattern).spans(name) if pattern else []
        if hits:
            matches, replacement = hits, str(rule.get("replace_to") or "").strip()
    return matches, replacement


def _rules(options: Options) -> tuple[Mapping[str, Value], ...]:
    return _maps(options, "replacements_with_regex")


def _maps(options: Options, name: str) -> tuple[Mapping[str, Value], ...]:
    value = options.get(name)
    return tuple(rule for rule in value if isinstance(rule, Mapping)) if isinstance(value, list | tuple) else ()


def _chosen(options: Options) -> tuple[dict[str, str], dict[str, str]]:
    """New names of single columns, and where each old name stands."""
    chosen = {name: str(new) for name, new in options.mapping("map").items()}
    places = {name: f"map.{name}" for name in chosen}
    for index, rule in enumerate(_maps(options, "specific")):
        name = str(rule.get("field_name"))
        chosen[name] = str(rule.get("target_name"))
        places[name] = f"specific.{index}.field_name"
    return chosen, places


def check_rules(options: Options, diagnostics: Diagnostics) -> bool:
    """Whether every pattern is a regular expression."""
    mark = diagnostics.mark()
    for index, rule in enumerate(_rules(options)):
        try:
            user_pattern(str(rule.get("replace_from") or ""))
        except re.error as cause:
            place = options.span(f"replacements_with_regex.{index}.replace_from")
            diagnostics.error("PEN2004", f"`replace_from` is not a regular expression: {cause}", place)
    return not mark.has_errors


transform = FieldRename()
