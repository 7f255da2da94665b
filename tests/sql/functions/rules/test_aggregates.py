"""The types of aggregates: sums widen, averages of decimals get four digits, sketches are binary."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("sum", ["int"], "bigint"),
        ("sum", ["decimal(10,2)"], "decimal(20,2)"),
        ("sum", ["float"], "double"),
        ("sum", ["interval day to second"], "interval day to second"),
        ("avg", ["decimal(10,2)"], "decimal(14,6)"),
        ("avg", ["interval month"], "interval year to month"),
        ("avg", ["interval day"], "interval day to second"),
        ("avg", ["int"], "double"),
        ("median", ["int"], "double"),
        ("percentile_approx", ["date", "double"], "date"),
        ("collected", ["string"], "array<string>"),
        ("histogram_numeric", ["string", "int"], "array<struct<x:double,y:double>>"),
        ("regr_avgx", ["int", "decimal(4,1)"], "decimal(8,5)"),
    ],
)
def test_the_type_of_an_aggregate(rule, arguments, type):
    assert result(rule, *arguments) == type


def test_several_fractions_give_an_array():
    assert result("percentile", "int", "array<double>") == "array<double>"
    assert result("percentile_approx", "bigint", "array<double>") == "array<bigint>"


def test_a_quantile_has_the_type_of_its_sketch_and_a_rank_is_double():
    assert result("kll", "binary!", "double!", name="kll_sketch_get_quantile_bigint") == "bigint!"
    assert result("kll", "binary!", "double!", name="kll_sketch_get_rank_bigint") == "double!"


def test_the_default_of_lag_is_cast_to_the_type_of_its_value():
    assert result("lag", "int!", "1", "bigint!") == "int!"
    assert result("lag", "int!", "1", "string!") == "int"
    with pytest.raises(Mismatch, match="must be array<int>, this is int"):
        result("lag", "array<int>", "1", "int!")
