"""The common type of arguments, and of the elements of an array with a value beside them."""

import pytest

from catalog.types.typenames import parse_type
from sql.functions.rules.argument_checks import becomes_null, fitting
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import typed


@pytest.mark.parametrize(
    ("element", "value", "type"),
    [
        ("int", "bigint", "bigint"),
        ("float", "bigint", "float"),
        ("date", "timestamp", "timestamp"),
        ("int", "void", "int"),
    ],
)
def test_an_element_and_a_value(element, value, type):
    first, second = parse_type(element), parse_type(value)
    assert str(fitting(first, second)) == str(fitting(second, first)) == type


def test_a_string_is_not_promoted_to_the_type_of_elements():
    with pytest.raises(Mismatch, match="the array holds int, the value beside it is string"):
        fitting(parse_type("int"), parse_type("string"))


def test_a_cast_that_may_fail_makes_the_result_nullable():
    assert not becomes_null([typed("int!"), typed("bigint!")], parse_type("bigint"))
    assert becomes_null([typed("string!"), typed("bigint!")], parse_type("bigint"))
    assert becomes_null([typed("int"), typed("bigint!")], parse_type("bigint"))
