"""Many tables by a regular expression, as in SeaTunnel: `use_regex = true`, and a pattern as the name of the table.

`shop.orders_\\d+` is `orders_1` of `shop`, `shop.\\.*` is every table of `shop`: a dot separates names, `\\.` is any
character.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, OptionType

NamePatterns: TypeAlias = tuple[re.Pattern[str], ...]
"""One for each name of a path."""

_SHOWN: Final = 8


def use_regex_option(names: str, found: str) -> Option:
    """The option of a source whose tables the options `names` name; `found`: how the tables are found."""
    doc = (
        f"Whether {names} is a regular expression: all tables whose path matches are read, {found}. A dot separates "
        "names; `\\\\.` is any character."
    )
    return Option("use_regex", OptionType.BOOLEAN, doc, default=False)


def name_patterns(text: str) -> NamePatterns:
    """The expression of each name of the path. Raises `re.error`."""
    return tuple(re.compile(part.replace(r"\.", ".")) for part in re.split(r"(?<!\\)\.", text))


def pattern_of(text: str) -> re.Pattern[str]:
    """The whole path as one expression. Raises `re.error`."""
    return re.compile(r"\.".join(f"(?:{name.pattern})" for name in name_patterns(text)))


def pattern_in(options: Options, option: str) -> re.Pattern[str] | None:
    """The pattern that the option is; None where it is a plain name, or invalid."""
    text = options.optional_string(option)
    try:
        return pattern_of(text) if text is not None and options.flag("use_regex") else None
    except re.error:
        return None


def as_table(options: Options, option: str, name: str) -> Options:
    """The block as that of one table."""
    return replace(options, values={**options.values, option: name, "use_regex": False})


def check_pattern(options: Options, option: str, example: str, diagnostics: Diagnostics) -> None:
    """Report an option that is no pattern."""
    text = options.optional_string(option)
    if text is None:
        help = f'{option} = "{example}"'
        diagnostics.error("PEN2011", f"`use_regex` needs `{option}`", options.span("use_regex"), help)
        return
    try:
        pattern_of(text)
    except re.error as cause:
        message = f"`{text}` is not a regular expression of tables: {cause}"
        help = "a dot separates names; write `\\\\.*` for any characters"
        diagnostics.error("PEN2004", message, options.span(option), help)


def report_no_match(options: Options, option: str, others: Sequence[Sequence[str]], diagnostics: Diagnostics) -> None:
    """Report a pattern that matches no table; `others` are the tables that exist."""
    listed = ", ".join(f"`{'.'.join(path)}`" for path in others[:_SHOWN]) + (" …" if len(others) > _SHOWN else "")
    help = f"the tables are {listed}" if others else "there are no tables; check the directory"
    diagnostics.error("PEN4002", f"no table matches `{options[option]}`", options.span(option), help)
