"""The type that two have in common, and what can be cast, under ANSI (`AnsiTypeCoercion`, `Cast.canAnsiCast`)."""

import pytest

from catalog.types.typenames import parse_type
from sql.types.casts import can_cast
from sql.types.coercion import tightest, widest, widest_of


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ("int", "bigint", "bigint"),
        ("int", "string", "bigint"),
        ("date", "string", "date"),
        ("decimal(10,2)", "double", "double"),
        ("bigint", "decimal(10,2)", "decimal(22,2)"),
        ("float", "decimal(10,2)", "double"),
        ("date", "timestamp", "timestamp"),
        ("array<int>", "array<bigint>", "array<bigint>"),
        ("int", "array<int>", None),
        ("date", "int", None),
        ("boolean", "int", None),
    ],
)
def test_the_widest_type(a, b, common):
    wanted = parse_type(common) if common else None
    assert widest(parse_type(a), parse_type(b)) == wanted
    assert widest(parse_type(b), parse_type(a)) == wanted


def test_a_string_is_promoted_but_has_no_tightest_type():
    assert tightest(parse_type("int"), parse_type("string")) is None
    assert tightest(parse_type("int"), parse_type("bigint")) == parse_type("bigint")


def test_the_widest_of_several():
    assert widest_of(map(parse_type, ("int", "bigint", "double"))) == parse_type("double")
    assert widest_of(map(parse_type, ("int", "date"))) is None


@pytest.mark.parametrize(
    ("source", "target", "is_possible"),
    [
        ("string", "date", True),
        ("int", "date", False),
        ("date", "int", False),
        ("timestamp", "bigint", True),
        ("boolean", "timestamp", False),
        ("array<int>", "string", True),
        ("array<int>", "array<string>", True),
        ("map<string,int>", "array<int>", False),
    ],
)
def test_casts(source, target, is_possible):
    assert can_cast(parse_type(source), parse_type(target)) is is_possible
