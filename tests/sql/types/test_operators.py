"""The types of operators: arithmetic, moved points in time, intervals, comparison, logic, bits and `||`."""

import pytest

from catalog.types.datatypes import BOOLEAN, DATE, INT, STRING
from catalog.types.typenames import parse_type
from sql.types.expression_type import Typed
from sql.types.mismatch import Mismatch
from sql.types.operators import arithmetic, bitwise, comparison, concatenated, inverted, is_orderable, logical, negated


def typed(text: str) -> Typed:
    return Typed(parse_type(text.rstrip("!")), not text.endswith("!"))


def shown(found: Typed) -> str:
    return f"{found.type}{'' if found.nullable else '!'}"


@pytest.mark.parametrize(
    ("left", "operator", "right", "type"),
    [
        ("int!", "+", "bigint!", "bigint!"),
        ("int!", "/", "int!", "double"),
        ("int!", "%", "int!", "int"),
        ("int!", "div", "int!", "bigint"),
        ("int!", "+", "string!", "bigint"),
        ("void", "+", "void", "double"),
        ("void", "div", "void", "bigint"),
        ("decimal(10,2)!", "+", "int!", "decimal(13,2)!"),
        ("decimal(10,2)!", "*", "double!", "double!"),
        ("date!", "+", "int!", "date!"),
        ("int!", "+", "date!", "date!"),
        ("date!", "+", "interval day!", "date!"),
        ("date!", "+", "interval hour!", "timestamp!"),
        ("date!", "-", "date!", "interval day!"),
        ("timestamp!", "-", "date!", "interval day to second!"),
        ("date!", "-", "timestamp_ntz!", "interval day to second"),
        ("time(3)!", "+", "interval hour!", "time(3)"),
        ("time(3)!", "+", "interval second!", "time(6)"),
        ("interval day!", "*", "int!", "interval day to second!"),
        ("interval year!", "/", "string!", "interval year to month"),
        ("interval year!", "+", "interval month!", "interval year to month!"),
        ("interval day!", "div", "interval hour!", "bigint"),
    ],
)
def test_arithmetic(left, operator, right, type):
    assert shown(arithmetic(operator, typed(left), typed(right))) == type


@pytest.mark.parametrize(
    ("left", "operator", "right"),
    [
        ("boolean", "+", "int"),
        ("date", "+", "date"),
        ("timestamp", "+", "int"),
        ("int", "-", "date"),
        ("interval day", "+", "interval month"),
        ("interval day", "+", "int"),
        ("double", "div", "int"),
        ("array<int>", "+", "int"),
    ],
)
def test_arithmetic_that_is_refused(left, operator, right):
    with pytest.raises(Mismatch, match=f"does not take {left} and {right}".replace("(", r"\(")):
        arithmetic(operator, typed(left), typed(right))


def test_a_whole_literal_beside_a_decimal_has_its_own_digits():
    hundred = Typed(INT, False, True, 100)
    assert str(arithmetic("*", typed("decimal(10,2)"), hundred).type) == "decimal(14,2)"
    assert str(arithmetic("*", typed("decimal(10,2)"), typed("int")).type) == "decimal(21,2)"


def test_a_comparison_is_null_where_a_side_or_its_cast_is():
    assert shown(comparison("=", typed("int!"), typed("bigint!"))) == "boolean!"
    assert shown(comparison("=", typed("int"), typed("bigint!"))) == "boolean"
    assert shown(comparison("=", typed("int!"), typed("string!"))) == "boolean"
    assert shown(comparison("<=>", typed("int"), typed("string"))) == "boolean!"


@pytest.mark.parametrize("type", ["map<string,int>", "variant", "interval", "array<map<int,int>>", "struct<a:variant>"])
def test_what_has_no_order_is_not_compared(type):
    assert not is_orderable(parse_type(type))
    with pytest.raises(Mismatch):
        comparison("=", typed(type), typed(type))


def test_structs_are_compared_whatever_their_names():
    assert comparison("=", typed("struct<a:int>"), typed("struct<b:int>")).type == BOOLEAN


def test_logic_takes_strings_only_beside_booleans():
    assert shown(logical("AND", typed("boolean!"), typed("string!"))) == "boolean"
    assert shown(logical("NOT", typed("void"))) == "boolean"
    with pytest.raises(Mismatch) as error:
        logical("OR", typed("boolean"), typed("int"))
    assert error.value.argument == 1
    with pytest.raises(Mismatch, match="this is string"):
        logical("AND", typed("string"), typed("string"))


def test_bits():
    assert shown(bitwise("&", typed("int!"), typed("bigint!"))) == "bigint!"
    assert shown(bitwise("|", typed("string!"), typed("int!"))) == "bigint"
    assert shown(bitwise("^", typed("void"), typed("void"))) == "int"
    assert shown(inverted(typed("smallint!"))) == "smallint!"
    for refused in (lambda: bitwise("&", typed("double"), typed("int")), lambda: inverted(typed("double"))):
        with pytest.raises(Mismatch):
            refused()


def test_signs():
    assert shown(negated("-", typed("decimal(5,2)!"))) == "decimal(5,2)!"
    assert shown(negated("-", typed("string!"))) == "double"
    with pytest.raises(Mismatch, match="`-` does not take date"):
        negated("-", Typed(DATE))


def test_concatenation():
    assert shown(concatenated([typed("binary!"), typed("binary!")])) == "binary!"
    assert shown(concatenated([typed("binary!"), typed("int!")])) == "string!"
    assert shown(concatenated([typed("array<int>!"), typed("array<bigint>!")])) == "array<bigint>!"
    with pytest.raises(Mismatch) as error:
        concatenated([Typed(STRING), typed("map<int,int>")])
    assert error.value.argument == 1
