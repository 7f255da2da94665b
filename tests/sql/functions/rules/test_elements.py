"""Elements of arrays and maps: their type, and that a position may lie outside of the array."""

from dataclasses import replace

import pytest

from catalog.types.datatypes import INT, Array
from sql.functions.rules.elements import element_may_be_null
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result

FULL = Typed(Array(INT, False), False)


def literal(value: int) -> Typed:
    return Typed(INT, False, True, value)


def test_a_varying_position_raises_outside_of_the_array():
    assert not element_may_be_null(FULL, Typed(INT), first=1)
    assert element_may_be_null(Typed(Array(INT, True), False), Typed(INT), first=1)


def test_a_constant_position_in_an_array_of_unknown_length_may_be_null():
    assert element_may_be_null(FULL, literal(1), first=1)


@pytest.mark.parametrize(("position", "may_be_null"), [(1, False), (2, True), (3, True)])
def test_a_constant_position_in_a_constant_array(position, may_be_null):
    held = replace(FULL, elements=(False, True))
    assert element_may_be_null(held, literal(position), first=1) is may_be_null


def test_what_raises_outside_of_a_constant_array_is_not_null():
    assert not element_may_be_null(replace(FULL, elements=(False,)), literal(5), first=1, raises=True)


def test_the_type_of_an_element():
    assert result("element_at", "map<string,int>", "string") == "int"
    assert result("element_at", "array<string>", "int") == "string"
    assert result("get", "array<string>", "int") == "string"


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        ("element_at", ["array<int>", "string"]),
        ("element_at", ["array<int>", "void"]),
        ("element_at", ["map<int,int>", "date"]),
        ("get", ["array<int>", "bigint"]),
    ],
)
def test_a_position_that_is_refused(rule, arguments):
    with pytest.raises(Mismatch):
        result(rule, *arguments)
