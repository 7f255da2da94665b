"""The names that Spark gives to columns without an alias."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import DATE, INT, STRING, Array
from sql.analyze import analyze

TABLE = CatalogTable.of("t", [Column("a", INT), Column("B", STRING), Column("d", DATE), Column("xs", Array(INT))])


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("b", "b"),
        ("t.B", "B"),
        ("a + 1", "(a + 1)"),
        ("-a", "(- a)"),
        ("SUM(a)", "sum(a)"),
        ("count(*)", "count(1)"),
        ("count(distinct a)", "count(DISTINCT a)"),
        ("cast(a as string)", "a"),
        ("upper(a::string)", "upper(CAST(a AS STRING))"),
        ("a between 1 and 2", "between(a, 1, 2)"),
        ("case when a > 1 then 'x' end", "CASE WHEN (a > 1) THEN x END"),
        ("xs[0]", "xs[0]"),
        ("pow(a, 2)", "pow(a, 2)"),
        ("sqrt(a)", "SQRT(a)"),
        ("d - date'2024-01-01'", "(d - DATE '2024-01-01')"),
        (
            "transform(xs, x -> x + 1)",
            "transform(xs, lambdafunction((namedlambdavariable() + 1), namedlambdavariable()))",
        ),
        ("1.50", "1.50"),
        ("null", "NULL"),
        ("current_date", "current_date()"),
        ("a is not null", "(a IS NOT NULL)"),
    ],
)
def test_name(expression, name):
    found = analyze(PlacedText.bare(f"select {expression} from t"), {"t": TABLE})
    assert [column.name for column in found.columns] == [name]
