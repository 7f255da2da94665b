"""Which types preserve every value of another, which Spark's `strict` policy takes, and what checks look at."""

import pytest

from catalog.options import STORE_ASSIGNMENT, Options, SeaTunnel, store_assignment
from catalog.tables.checked_cast import checked_cast, is_changed
from catalog.tables.evolution import StoreAssignment
from catalog.tables.store_assignment import can_up_cast, may_change, preserves
from catalog.tables.table import Column
from catalog.types.datatypes import TIMESTAMP, TIMESTAMP_NTZ
from catalog.types.typetext import parse_type

# source, target, preserves every value, taken by Spark's `strict`
PAIRS = [
    ("int", "int", True, True),
    ("int", "bigint", True, True),
    ("bigint", "int", False, False),
    ("int", "float", False, True),
    ("smallint", "float", True, True),
    ("int", "double", True, True),
    ("bigint", "double", False, True),
    ("double", "float", False, False),
    ("double", "int", False, False),
    ("double", "decimal(38,18)", False, False),
    ("decimal(9,0)", "int", True, True),
    ("decimal(10,0)", "int", False, False),
    ("decimal(10,2)", "decimal(12,2)", True, True),
    ("decimal(10,2)", "decimal(10,1)", False, False),
    ("decimal(15,2)", "double", True, False),
    ("decimal(16,2)", "double", False, False),
    ("bigint", "decimal(20,0)", True, True),
    ("bigint", "decimal(19,0)", False, False),
    ("date", "timestamp", True, True),
    ("timestamp", "date", False, False),
    ("timestamp", "timestamp_ntz", False, True),
    ("timestamp_ntz", "timestamp", False, True),
    ("int", "string", True, True),
    ("double", "string", True, True),
    ("timestamp", "string", False, True),
    ("binary", "string", False, True),
    ("string", "int", True, False),
    ("string", "decimal(10,2)", False, False),
    ("array<int>", "array<bigint>", True, True),
    ("array<double>", "array<int>", False, False),
    ("map<string,bigint>", "map<string,int>", False, False),
    ("struct<a:int,b:date>", "struct<a:bigint,b:timestamp>", True, True),
    ("struct<a:int,b:timestamp>", "struct<a:int,b:date>", False, False),
    ("void", "int", True, True),
]


@pytest.mark.parametrize(("source", "target", "is_preserved", "is_wider"), PAIRS)
def test_types_that_hold_every_value(source, target, is_preserved, is_wider):
    source, target = parse_type(source), parse_type(target)
    assert preserves(source, target) == is_preserved
    assert can_up_cast(source, target) == is_wider


def test_a_type_that_holds_every_value_gets_no_check():
    assert checked_cast("`a`", "a", parse_type("int"), Column("a", parse_type("bigint"))) == "cast(`a` as bigint)"
    assert "raise_error" in checked_cast("`a`", "a", parse_type("bigint"), Column("a", parse_type("int")))


def test_a_check_looks_only_at_what_can_change():
    struct = parse_type("struct<same:int,less:bigint>")
    condition = is_changed("`s`", struct, Column("s", parse_type("struct<same:int,less:int>")))
    assert condition == "not (try_cast(try_cast(`s`.`less` as int) as bigint) <=> `s`.`less`)"


@pytest.mark.parametrize("type", [TIMESTAMP, TIMESTAMP_NTZ])
def test_a_column_with_fewer_digits_of_seconds_cuts_timestamps(type):
    assert not may_change(type, Column("at", type))
    assert not may_change(type, Column("at", type, scale=6))
    assert may_change(type, Column("at", type, scale=3))


def test_the_policy_of_seatunnels_jobs_is_ansi_unless_they_name_one():
    assert store_assignment(Options({})) is StoreAssignment.LOSSLESS
    assert store_assignment(Options({}, seatunnel=SeaTunnel())) is StoreAssignment.ANSI
    named = Options({STORE_ASSIGNMENT.name: "STRICT"}, seatunnel=SeaTunnel())
    assert store_assignment(named) is StoreAssignment.STRICT
