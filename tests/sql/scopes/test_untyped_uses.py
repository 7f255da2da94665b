"""Warnings for columns of a CSV that are text only because nobody gave them a type."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import UNTYPED, CatalogTable, Column
from catalog.types.datatypes import STRING
from sql.analyze import analyze

TABLES = {
    "t": CatalogTable.of("t", [Column("delay", STRING, options=UNTYPED), Column("name", STRING)]),
    "u": CatalogTable.of("u", [Column("late", STRING, options=UNTYPED)]),
}


def warnings(query: str) -> list[str]:
    found = analyze(PlacedText.bare(query), TABLES).diagnostics
    return [warning.message.split(" as text")[0] for warning in found if warning.code == "PEN3030"]


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("select * from t order by delay", "`delay` is ordered"),
        ("select * from t where delay > '9'", "`delay` is compared"),
        ("select * from t where delay = 9", "`delay` is compared"),
        ("select delay + 1 from t", "`delay` is computed with"),
        ("select max(delay) from t", "`delay` is compared"),
        ("select sum((delay)) from t", "`delay` is summed"),
        ("select * from t join u on t.delay = u.late", "`delay` is joined"),
    ],
)
def test_a_use_as_a_number(query, warning):
    assert warnings(query)[0] == warning


@pytest.mark.parametrize(
    "query",
    [
        "select delay, upper(delay) from t",
        "select * from t where delay = '9'",
        "select * from t order by name",
        "select * from t order by cast(delay as int)",
        "select x from (select concat(delay, '') x from t) order by x",
    ],
)
def test_a_use_as_text(query):
    assert warnings(query) == []


def test_one_warning_for_all_uses_of_a_column():
    query = "select delay + 1 from t where delay > '1' order by delay"
    found = analyze(PlacedText.bare(query), TABLES).diagnostics
    (warning,) = [diagnostic for diagnostic in found if diagnostic.code == "PEN3030"]
    assert len(warning.also) == 2
