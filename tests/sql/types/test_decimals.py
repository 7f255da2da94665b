"""Decimal results, row by row as Spark 4.1 has them (`DecimalPrecision`, precision loss allowed)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.types.datatypes import Decimal
from sql.types.decimals import added, averaged, divided, is_wider, multiplied, of_literal, remainder, summed, wider


@pytest.mark.parametrize(
    ("rule", "a", "b", "result"),
    [
        (added, (10, 2), (5, 3), (12, 3)),
        (added, (38, 10), (38, 10), (38, 9)),
        (multiplied, (10, 2), (5, 3), (16, 5)),
        (multiplied, (38, 10), (38, 10), (38, 6)),
        (divided, (10, 2), (5, 3), (19, 8)),
        (divided, (38, 18), (38, 18), (38, 6)),
        (remainder, (10, 2), (5, 3), (5, 3)),
    ],
)
def test_results_of_operators(rule, a, b, result):
    assert rule(Decimal(*a), Decimal(*b)) == Decimal(*result)


def test_results_of_aggregates():
    assert summed(Decimal(10, 2)) == Decimal(20, 2)
    assert averaged(Decimal(10, 2)) == Decimal(14, 6)
    assert summed(Decimal(38, 4)) == Decimal(38, 4)


@pytest.mark.parametrize(
    ("text", "type"), [("1.5", Decimal(2, 1)), ("1.50", Decimal(3, 2)), ("0.001", Decimal(3, 3)), ("1" * 39, None)]
)
def test_types_of_literals(text, type):
    assert of_literal(text) == type


DECIMALS = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)


@given(DECIMALS, DECIMALS)
def test_the_wider_one_holds_both_unless_it_is_cut(a, b):
    found = wider(a, b)
    assert found == wider(b, a)
    assert found.precision <= 38
    if max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale) <= 38:
        assert is_wider(found, a)
        assert is_wider(found, b)
