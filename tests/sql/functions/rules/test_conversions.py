"""Casts that are written as calls: `int('1')`, `to_date(x)`."""

import pytest

from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result


@pytest.mark.parametrize(
    ("name", "argument", "type"),
    [
        ("int", "string!", "int"),
        ("bigint", "int!", "bigint!"),
        ("string", "date!", "string!"),
        ("decimal", "int!", "decimal(10,0)!"),
        ("time", "string!", "time(6)"),
    ],
)
def test_a_cast_is_nullable_where_it_may_fail(name, argument, type):
    assert result("cast", argument, name=name) == type


def test_a_cast_that_spark_does_not_have_is_refused():
    with pytest.raises(Mismatch, match="boolean can't be cast to date"):
        result("cast", "boolean", name="date")


@pytest.mark.parametrize(
    ("rule", "argument", "type"),
    [("to_date", "timestamp!", "date!"), ("to_timestamp", "string!", "timestamp"), ("to_date", "string!", "date")],
)
def test_a_conversion_of_a_string_may_be_null(rule, argument, type):
    assert result(rule, argument) == type
