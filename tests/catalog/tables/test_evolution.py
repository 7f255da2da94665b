"""Differences of schemas, and what can be written into what."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.tables.evolution import SchemaEvolution, can_store, diff, fits, widens
from catalog.tables.table import Column, PrimaryKey, TableSchema
from catalog.types.datatypes import DATE, DOUBLE, FLOAT, INT, STRING, TIMESTAMP_NTZ, UNKNOWN, Decimal
from catalog.types.typenames import parse_type


def schema(text, key=None, **defaults):
    """`a int, b string not null` as a schema."""
    fields = parse_type(f"struct<{text}>").fields
    columns = tuple(Column(f.name, f.type, f.nullable, default=defaults.get(f.name)) for f in fields)
    return TableSchema(columns, PrimaryKey(tuple(key)) if key else None)


DIFFS = [
    ("a int, b string", "A int, B string", []),
    ("a int, b string", "b string, a int", []),
    ("a int", "a int, b string", ["additive: `b` added (string)"]),
    ("a int, b string", "a int", ["breaking: `b` dropped (string)"]),
    ("a int", "a bigint", ["additive: `a` type widened from int to bigint"]),
    ("a bigint", "a int", ["breaking: `a` type changed from bigint to int"]),
    ("a int not null", "a int", ["breaking: `a` nulls allowed"]),
    ("a int", "a int not null", ["additive: `a` nulls forbidden"]),
    ("a decimal(10,2)", "a decimal(12,2)", ["additive: `a` type widened from decimal(10,2) to decimal(12,2)"]),
    ("a decimal(10,2)", "a decimal(12,5)", ["breaking: `a` type changed from decimal(10,2) to decimal(12,5)"]),
    (
        "s struct<x:int,y:int>",
        "s struct<x:string,z:int>",
        [
            "breaking: `s.x` type changed from int to string",
            "breaking: `s.y` dropped (int)",
            "additive: `s.z` added (int)",
        ],
    ),
    (
        "l array<struct<x:int>>",
        "l array<struct<x:bigint>>",
        ["additive: `l.element.x` type widened from int to bigint"],
    ),
    ("m map<string,int>", "m map<string,date>", ["breaking: `m.value` type changed from int to date"]),
    ("a int", "b int", ["breaking: `a` dropped (int)", "additive: `b` added (int)"]),
]


@pytest.mark.parametrize(("before", "after", "changes"), DIFFS)
def test_diff(before, after, changes):
    found = diff(schema(before), schema(after))
    assert [f"{'breaking' if change.is_breaking else 'additive'}: {change}" for change in found] == changes


def test_a_changed_key_is_breaking():
    (change,) = diff(schema("a int, b int", key=["a"]), schema("a int, b int", key=["a", "b"]))
    assert change.is_breaking
    assert str(change) == "primary key changed from (a) to (a, b)"
    assert diff(schema("a int", key=["a"]), schema("a int", key=["A"])) == ()


FITS = [
    # incoming, target, problems under fail, add_columns, widen
    ("a int", "a int", [], [], []),
    ("a bigint", "a int", [], [], []),
    ("a int", "a string", [], [], []),
    ("b string, A int", "a int, b string", [], [], []),
    ("a int", "a int, b string", [], [], []),
    ("a int, b int", "a int", ["`b`: the target has no such column"], [], []),
    ("a string", "a int", *[["`a`: string cannot be stored as int"]] * 3),
    ("a timestamp_ntz", "a date", [], [], []),
    ("a array<int>", "a string", *[["`a`: array<int> cannot be stored as string"]] * 3),
    ("a boolean", "a int", *[["`a`: boolean cannot be stored as int"]] * 3),
    ("s struct<y:int,x:int>", "s struct<x:int,y:int>", [], [], []),
    ("s struct<x:int,y:int>", "s struct<x:int>", ["`s.y`: the target has no such column"], [], []),
    ("l array<struct<x:date>>", "l array<struct<x:int>>", *[["`l.element.x`: date cannot be stored as int"]] * 3),
    (
        "a int",
        "a int, b int not null",
        *[["`b`: the rows lack this column, which is NOT NULL in the target"]] * 3,
    ),
    ("a void", "a map<string,int>", [], [], []),
]


@pytest.mark.parametrize(("incoming", "target", "failing", "adding", "widening"), FITS)
def test_fits(incoming, target, failing, adding, widening):
    for evolution, problems in zip(SchemaEvolution, [failing, adding, widening], strict=True):
        found = fits(schema(incoming), schema(target), evolution.value)
        assert [str(problem) for problem in found] == problems


def test_a_deerror_stands_in_for_a_column_that_the_rows_lack():
    assert fits(schema("a int"), schema("a int, b int not null", b=7)) == ()


def test_widening_lets_a_target_grow_where_spark_would_not_store():
    assert widens(DATE, TIMESTAMP_NTZ)
    assert widens(FLOAT, DOUBLE)
    assert widens(INT, Decimal(10, 0))
    assert not widens(INT, Decimal(10, 1))
    assert not widens(INT, INT)
    assert not widens(Decimal(10, 2), Decimal(10, 2))
    assert not widens(INT, FLOAT)


def test_unknown_fits_everything():
    assert can_store(UNKNOWN, INT)
    assert can_store(STRING, UNKNOWN)


TYPE_TEXTS = [
    "boolean", "tinyint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(38,0)", "string", "binary",
    "date", "timestamp", "timestamp_ntz", "time(6)", "interval", "variant", "void", "interval year",
    "interval year to month", "interval day to second", "interval hour", "array<int>", "array<string>",
    "map<string,int>", "map<int,int>", "struct<a:int>", "struct<a:bigint>", "struct<A:int>", "struct<a:int,b:int>",
]  # fmt: skip


@given(st.sampled_from(TYPE_TEXTS), st.sampled_from(TYPE_TEXTS))
def test_what_widens_is_never_equal_and_never_widens_back(one, other):
    a, b = parse_type(one), parse_type(other)
    assert not (widens(a, b) and (a == b or widens(b, a)))


@pytest.mark.spark
def test_spark_stores_the_same(spark):
    """Spark's own rule, but for time into dates, which the rule allows and the cast then refuses."""
    jvm = spark._jvm.org.apache.spark.sql
    for one, other in itertools.product(TYPE_TEXTS, TYPE_TEXTS):
        if ("time(6)" in (one, other)) and {one, other} & {"date", "timestamp", "timestamp_ntz"}:
            continue
        source, target = jvm.types.DataType.fromDDL(one), jvm.types.DataType.fromDDL(other)
        expected = jvm.catalyst.expressions.Cast.canANSIStoreAssign(source, target)
        assert can_store(parse_type(one), parse_type(other)) == expected, f"{one} -> {other}"
