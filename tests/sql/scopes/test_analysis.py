"""The state of one analysis: the tables that it reads, and where it reports."""

import pytest

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import INT
from sql.parsing.parse import parse
from sql.scopes.analysis import Binder, Environment, nearest
from sql.scopes.relations import Output
from sql.types.expression_type import Walk


def binder(text: str = "select a + b from Orders") -> Binder:
    tables = {"orders": CatalogTable.of("orders", [Column("a", INT), Column("b", INT)])}
    return Binder(PlacedText.bare(text), parse(text).tokens, tables, lambda *_: Output(()), Walk({}, {}))


def test_a_table_is_found_in_any_case_and_its_read_recorded():
    state = binder()
    found = state.table("ORDERS")
    assert found is not None
    assert found[0] == "orders"
    assert [attribute.name for attribute in found[1].attributes] == ["a", "b"]
    assert state.columns_read == {"orders": set()}
    assert state.table("nope") is None


def test_an_error_has_the_range_of_its_node():
    state = binder()
    first, second = (exp for exp in parse(state.text).tree.expressions[0].iter_expressions())
    state.report("PEN3008", first, "wrong", also=[second])
    state.warn("PEN3030", second, "odd")
    error, warning = state.diagnostics
    assert (error.span.column, error.also[0].column, error.severity) == (8, 12, Severity.ERROR)
    assert warning.severity is Severity.WARNING
    assert state.has_error("PEN3008", first)
    assert not state.has_error("PEN3004", first)


def test_an_inner_cte_hides_the_outer_one_of_its_name():
    outer, inner = Output(()), Output(())
    environment = Environment({"a": outer, "b": outer}).with_ctes({"a": inner})
    assert (environment.ctes["a"], environment.ctes["b"]) == (inner, outer)


@pytest.mark.parametrize(("name", "known"), [("custmer", "Customer"), ("STATE", "state"), ("zzz", None)])
def test_the_nearest_name(name, known):
    assert nearest(name, ["Customer", "state"]) == known
