"""SeaTunnel's SQL as Spark's: `to_spark` rewrites the calls, casts and operators whose meaning differs."""

import re
from collections.abc import Mapping
from typing import Final

from sqlglot.errors import SqlglotError

from catalog.compat import Compat
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable
from catalog.types.datatypes import DataType, has_unknown
from sql.analyze import analyze
from sql.parsing.spark_tokens import spark_tokens
from sql.seatunnel.calls import call_sites
from sql.seatunnel.selects import enclosing_select, from_clause, lateral_sites, name_sites, table_sites
from sql.seatunnel.sites.edits import Edits
from sql.seatunnel.spelling import in_spark_spelling


def to_spark(query: PlacedText, inputs: Mapping[str, CatalogTable], compat: Compat = Compat.SEATUNNEL_2) -> PlacedText:
    """The query in Spark's SQL; unreadable parts are unchanged, for the analysis to report.

    `select trim(c, '*') from dual` becomes ``select trim(BOTH '*' FROM c) AS `trim(c, '*')` from `input` AS `dual` ``.
    """
    text = in_spark_spelling(query)
    try:
        tokens = spark_tokens(text.value)
    except SqlglotError:
        return text
    only = next(iter(inputs)) if len(inputs) == 1 else None
    columns = inputs[only].schema.names if only is not None else ()
    edits = Edits(text, tokens, lambda expression, at: _type(edits, inputs, expression, at), compat)
    sites = (
        *call_sites(edits, is_typed=_has_narrow_types(text.value, inputs)),
        *table_sites(edits, only),
        *lateral_sites(edits, columns),
        *name_sites(edits),
    )
    return edits.run(sites)


_NARROW: Final = re.compile(r"\b(?:tinyint|smallint|float|decimal|byte)\b", re.IGNORECASE)
"""Types whose sums and products have another type in Spark."""


def _has_narrow_types(query: str, inputs: Mapping[str, CatalogTable]) -> bool:
    types = (str(column.type) for table in inputs.values() for column in table.columns)
    return _NARROW.search(query) is not None or any(_NARROW.search(type) for type in types)


def _type(edits: Edits, inputs: Mapping[str, CatalogTable], expression: PlacedText, at: int) -> DataType | None:
    """The type of an expression that stands at a place of the query, from the tables that are read there."""
    tokens = edits.tokens
    index = next((index for index, token in enumerate(tokens) if token.start >= at), 0)
    select = enclosing_select(tokens, index)
    clause = from_clause(tokens, select) if select is not None else None
    source = ""
    if clause is not None:
        source = edits.current(tokens[clause[0]].start, tokens[clause[1]].end + 1).value
    ctes = ""
    if tokens and tokens[0].text.upper() == "WITH" and select:
        outermost = _main_select(edits)
        ctes = edits.current(0, outermost).value if outermost is not None else ""
    found = analyze(PlacedText.bare(f"{ctes}SELECT {expression.value} AS `x` {source}"), inputs)
    types = [column.type for column in found.table.columns]
    return types[0] if len(types) == 1 and not has_unknown(types[0]) else None


def _main_select(edits: Edits) -> int | None:
    """The start of the query after its WITH clause."""
    depth = 0
    for token in edits.tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.upper() == "SELECT":
            return token.start
    return None
