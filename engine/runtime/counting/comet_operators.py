"""Comet's operators under the names, and with the counters, of the operators of Spark that they replace."""

import re
from collections.abc import Mapping
from typing import Final

PREFIX: Final = "Comet"
_COUNTERS: Final[Mapping[str, str]] = {"Number of rows produced": "number of output rows"}
"""Counters that Comet's joins name otherwise than Spark's."""
_COLUMNS: Final = re.compile(r"\[[^\]]*\], ")
"""The columns of Comet's filter, which it shows before its condition."""


def plain_name(name: str) -> str:
    """Comet's window limit is Spark's; a name of Spark's stays."""
    return name.removeprefix(PREFIX).removesuffix("Exec") if name.startswith(PREFIX) else name


def plain_description(name: str, description: str) -> str:
    """What an operator says of itself, as Spark's own says it: of a filter, its condition alone."""
    if not name.startswith(PREFIX):
        return description
    plain, rest = plain_name(name), description.removeprefix(name).lstrip()
    return f"{plain} {_COLUMNS.sub('', rest, count=1) if plain == 'Filter' else rest}"


def plain_counters(name: str, counters: Mapping[str, str]) -> Mapping[str, str]:
    if not name.startswith(PREFIX):
        return counters
    return {**{plain: counters[own] for own, plain in _COUNTERS.items() if own in counters}, **counters}
