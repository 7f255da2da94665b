"""A user's query with other table names, and with the kinds of its rows; all else stays as it is written."""

import pytest

from catalog.diagnostics.source import PlacedText
from sql.rewrite.row_kinds import RowKindError, with_row_kinds
from sql.rewrite.table_names import with_table_names


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select orders.id from crm.orders", "select orders.id from `crm.orders` AS `orders`"),
        ("select o.id from CRM.Orders o", "select o.id from `crm.orders` o"),
        ("select 'crm.orders' from t", "select 'crm.orders' from t"),
    ],
)
def test_table_names(query, expected):
    assert with_table_names(PlacedText.bare(query), {"crm.orders": "crm.orders"}).value == expected


def test_a_query_passes_row_kinds_on():
    assert with_row_kinds(PlacedText.bare("select * from t"), ["t"]).value == "select * from t"
    assert "`t`.`__row_kind`" in with_row_kinds(PlacedText.bare("select id from t"), ["t"]).value


@pytest.mark.parametrize("query", ["select sum(id) from t", "select distinct id from t", "from t |> select id"])
def test_a_query_whose_rows_are_of_several_rows_does_not(query):
    with pytest.raises(RowKindError):
        with_row_kinds(PlacedText.bare(query), ["t"])
