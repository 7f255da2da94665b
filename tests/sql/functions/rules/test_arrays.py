"""The types of functions over arrays, and whether their elements may be null."""

import pytest

from catalog.types.datatypes import INT, Array
from sql.functions.rules.arrays import RULES
from sql.functions.rules.call import Call
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch
from tests.sql.functions.rules.rule_calls import result

FULL = Typed(Array(INT, False), False)
WITH_NULLS = Typed(Array(INT, True), False)


@pytest.mark.parametrize(
    ("rule", "arguments", "type"),
    [
        ("array", ["int!", "bigint!"], "array<bigint>"),
        ("array_append", ["array<int>", "bigint"], "array<bigint>"),
        ("array_union", ["array<int>", "array<float>"], "array<float>"),
        ("array_repeat", ["string", "3"], "array<string>"),
        ("flatten", ["array<array<int>>!"], "array<int>"),
        ("sequence", ["int!", "bigint!"], "array<bigint>!"),
        ("sequence", ["date!", "timestamp!"], "array<timestamp>!"),
        ("reverse", ["array<int>!"], "array<int>!"),
        ("reverse", ["int!"], "string!"),
        ("concat", [], "string!"),
        ("concat", ["string!", "binary!"], "string!"),
    ],
)
def test_the_type(rule, arguments, type):
    assert result(rule, *arguments) == type


@pytest.mark.parametrize(
    ("rule", "may_be_null"), [("array_union", True), ("array_except", False), ("array_intersect", False)]
)
def test_elements_of_a_full_array_and_of_one_with_nulls(rule, may_be_null):
    found = RULES[rule](Call(rule, [], [FULL, WITH_NULLS], [FULL, WITH_NULLS], None, None))
    assert found == Array(INT, may_be_null)


@pytest.mark.parametrize(
    ("rule", "arguments", "message"),
    [
        ("array", ["int", "boolean"], "elements of an array must be of one type, these are int, boolean"),
        ("array_contains", ["array<int>", "string"], "the array holds int, this is string"),
        ("array_remove", ["array<int>", "date"], "the array holds int, the value beside it is date"),
        ("array_position", ["array<void>", "void"], "the value to look for is NULL"),
        ("flatten", ["array<int>"], "`flatten` takes an array of arrays, this is array<int>"),
        ("sequence", ["int", "double"], "`sequence` does not take double here"),
        ("sequence", ["date", "int"], "`sequence` does not take date and int together"),
    ],
)
def test_what_is_refused(rule, arguments, message):
    with pytest.raises(Mismatch) as error:
        result(rule, *arguments)
    assert error.value.message == message
