"""Queries in Apache SeaTunnel's dialect, as Spark gets them; what means the same stays as it is written."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DATE, STRING, TIMESTAMP
from sql.seatunnel.seatunnel import to_spark

TABLES = {"t": CatalogTable.of("t", [Column("d", DATE), Column("a", STRING), Column("at", TIMESTAMP)])}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select  upper(a) x from t -- as it is", "select  upper(a) x from t -- as it is"),
        ("select dayname(d) from t", "select date_format(d, 'EEEE') from t"),
        ("select 1 as one", "select 1 as one"),
        ("select 'dayname(d)' x from t", "select 'dayname(d)' x from t"),
    ],
)
def test_calls(query, expected):
    assert to_spark(PlacedText.bare(query), TABLES).value.replace(" AS `dayname(d)`", "") == expected


def test_a_place_behind_a_replaced_call_is_that_of_the_users_text():
    query = "select dayname(d) x, nope from t"
    text = to_spark(PlacedText.bare(query), TABLES)
    start = text.value.index("nope")
    span = text.span(start, start + 4)
    assert query[span.column - 1 : span.end_column - 1] == "nope"
