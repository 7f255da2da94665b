"""The table of casts: its shape, and which casts may give NULL."""

import pytest

from catalog.types.typenames import parse_type
from sql.types.casts import CASTS, TARGETS, TRY_SAFE, forces_null, try_forces_null
from sql.types.type_family import kind_of


def test_each_row_has_a_cell_for_each_target():
    assert {len(row.split()) for row in CASTS.values()} == {len(TARGETS)}
    assert {cell for row in CASTS.values() for cell in row.split()} == set(".ynd")


def test_what_try_cast_cannot_fail_is_a_cast():
    cells = {source: dict(zip(TARGETS, row.split(), strict=True)) for source, row in CASTS.items()}
    safe = [(source, target) for source, targets in TRY_SAFE.items() for target in targets.split()]
    assert [pair for pair in safe if cells[pair[0]][pair[1]] == "."] == []


@pytest.mark.parametrize(
    ("source", "target", "may_be_null"),
    [
        ("int", "bigint", False),
        ("string", "int", True),
        ("double", "int", True),
        ("int", "decimal(10,0)", False),
        ("int", "decimal(5,0)", True),
        ("decimal(5,2)", "decimal(10,2)", False),
        ("decimal(10,2)", "decimal(5,2)", True),
        ("variant", "string", True),
        ("void", "int", False),
    ],
)
def test_a_cast_may_be_null(source, target, may_be_null):
    assert forces_null(parse_type(source), parse_type(target)) is may_be_null


@pytest.mark.parametrize(
    ("source", "target", "may_be_null"),
    [
        ("bigint", "int", True),
        ("int", "bigint", False),
        ("array<int>", "array<bigint>", False),
        ("array<bigint>", "array<int>", True),
        ("array<int>", "string", True),
        ("struct<a:int>", "struct<a:string>", False),
        ("map<string,int>", "map<string,tinyint>", True),
    ],
)
def test_try_cast_may_be_null(source, target, may_be_null):
    assert try_forces_null(parse_type(source), parse_type(target)) is may_be_null


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("int", "int"),
        ("decimal(4,1)", "decimal"),
        ("interval year", "ym"),
        ("interval hour to second", "dt"),
        ("interval", "interval"),
        ("time(3)", "time"),
        ("array<int>", "array"),
    ],
)
def test_the_family_of_a_type(type, kind):
    assert kind_of(parse_type(type)) == kind
