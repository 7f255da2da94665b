"""Warns of an INSERT whose columns are matched by position while their names say another order (PEN2017)."""

import re
from typing import Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.diagnostics.source import PlacedText
from catalog.quoting import quote
from sql.scopes.output_items import output_span

_INSERTED: Final = re.compile(
    r"SELECT (?:\*|(?:`[^`]*`(?:, )?)+) FROM \((.*)\) AS `[^`]*`\(((?:`[^`]*`(?:, )?)+)\)", re.S
)
"""How the rows of an INSERT are named after the table's columns (`engine/job/script/query_blocks.py`)."""


def inserted_names(text: PlacedText) -> tuple[PlacedText, tuple[str, ...]] | None:
    """The user's query in an INSERT, and the columns that its own go into; None for other texts."""
    found = _INSERTED.fullmatch(text.value)
    return None if found is None else (text.slice(*found.span(1)), tuple(re.findall(r"`([^`]*)`", found[2])))


def warn_of_order(query: PlacedText, given: tuple[str, ...], wanted: tuple[str, ...], diagnostics: Diagnostics) -> None:
    """Warn where the query has names of the columns in another order: they may be meant by name."""
    moved = _exchanged([name.lower() for name in given], [name.lower() for name in wanted])
    if not moved:
        return
    column, target, at = given[moved[0]], wanted[moved[0]], moved[0]
    message = f"`{column}` goes into the column `{target}`: columns are matched by position"
    listed = ", ".join(map(quote, wanted))
    help = (
        f"match them by name: `INSERT INTO … BY NAME`, or select {listed}; if it is meant, write `{column} AS {target}`"
    )
    place = output_span(query, at, at, len(given)) or query.span()
    diagnostics.warning("PEN2017", message, place, help)


def _exchanged(given: list[str], wanted: list[str]) -> list[int]:
    """The places of names that stand in each other's: `day, tier, count(*)` for `tier, day, orders`."""
    leads = {
        at: wanted.index(name) for at, name in enumerate(given) if name in wanted and wanted[at : at + 1] != [name]
    }
    found = []
    for start in leads:
        at, seen = start, set()
        while at in leads and at not in seen:
            seen.add(at)
            at = leads[at]
        if at == start and len(seen) > 1:
            found.append(start)
    return found
