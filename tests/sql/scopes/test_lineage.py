"""How an output column depends on a source column, through several steps."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import INT
from sql.analyze import analyze
from sql.scopes.lineage import Dependency as D
from sql.scopes.lineage import Origin, through

TABLE = CatalogTable.of("t", [Column("a", INT), Column("b", INT), Column("c", INT)])


@pytest.mark.parametrize(
    ("first", "use", "composed"),
    [
        (D.IDENTITY, D.IDENTITY, D.IDENTITY),
        (D.IDENTITY, D.TRANSFORMATION, D.TRANSFORMATION),
        (D.TRANSFORMATION, D.AGGREGATION, D.AGGREGATION),
        (D.AGGREGATION, D.TRANSFORMATION, D.AGGREGATION),
        (D.IDENTITY, D.FILTER, D.FILTER),
    ],
)
def test_two_steps(first, use, composed):
    assert through([Origin("t", "a", first)], use) == (Origin("t", "a", composed),)


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        ("select a from t", {("a", "a", D.IDENTITY)}),
        ("select a + b as x from t", {("x", "a", D.TRANSFORMATION), ("x", "b", D.TRANSFORMATION)}),
        ("select a from t where b > 1", {("a", "a", D.IDENTITY), (None, "b", D.FILTER)}),
        ("select sum(a) s from t group by b", {("s", "a", D.AGGREGATION), (None, "b", D.GROUP_BY)}),
        ("select x from (select a as x, b from t) order by b", {("x", "a", D.IDENTITY), (None, "b", D.SORT)}),
        ("select case when a > 1 then b end x from t", {("x", "a", D.CONDITIONAL), ("x", "b", D.TRANSFORMATION)}),
    ],
)
def test_lineage_of_a_query(query, steps):
    found = analyze(PlacedText.bare(query), {"t": TABLE})
    assert {(step.output, step.column, step.dependency) for step in found.lineage} == steps
