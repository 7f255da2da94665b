"""The parts of SELECT that mean something else in SeaTunnel: table names, lateral views and names of columns."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import INT, Array
from sql.seatunnel.seatunnel import to_spark

TABLE = CatalogTable.of("fake", [Column("a", INT), Column("xs", Array(INT))])


def spark(query: str, *others: str) -> str:
    return to_spark(PlacedText.bare(query), {"fake": TABLE, **dict.fromkeys(others, TABLE)}).value


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a from dual", "select a from `fake` AS `dual`"),
        ("select a from dual d", "select a from `fake` d"),
        ("select a from db.dual", "select a from `fake` AS `dual`"),
        ("select a from FAKE", "select a from FAKE"),
        ("with c as (select a from d) select a from c", "with c as (select a from `fake` AS `d`) select a from c"),
        ("select trim(BOTH a from a) y from fake", "select trim(BOTH a from a) y from fake"),
    ],
)
def test_any_table_is_the_only_input(query, expected):
    assert spark(query) == expected


def test_with_several_inputs_names_stay():
    assert spark("select a from dual", "other") == "select a from dual"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select a + 1 from fake", "select a + 1 AS `a + 1` from fake"),
        ("select a  +\n1, a from fake", "select a  +\n1 AS `a + 1`, a from fake"),
        ("select a + 1 x, a as y from fake", "select a + 1 x, a as y from fake"),
        ("select * from fake", "select * from fake"),
    ],
)
def test_a_column_without_a_name_is_called_as_it_is_written(query, expected):
    assert spark(query) == expected


def test_an_exploded_column_takes_the_place_of_that_name():
    found = spark("select a, xs from fake lateral view explode(xs) as xs")
    assert "SELECT `rows`.`a`, `exploded`.`xs` FROM" in found
    view = "LATERAL VIEW explode(xs) `exploded` AS `xs` WHERE `exploded`.`xs` IS NOT NULL) AS `fake`"
    assert view in found  # SeaTunnel's EXPLODE drops NULLs


def test_a_lateral_view_in_sparks_own_form_stays():
    query = "select x from fake lateral view explode(xs) e as x"
    assert spark(query) == query
