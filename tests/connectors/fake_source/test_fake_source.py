"""FakeSource: every type, ranges and templates, listed rows, the same rows for the same seed."""

import pytest

import connectors
from catalog.diagnostics.diagnostic import Diagnostics
from connectors.fake_source.connector import connector
from engine.plan.nodes import Scan
from engine.spark.lower import lower
from engine.spark.session import pipeline_session
from tests.connectors.given_options import options_of
from tests.connectors.jobs import write

EVERY_TYPE = {
    "a": "boolean", "b": "tinyint", "c": "smallint", "d": "int", "e": "bigint", "f": "float", "g": "double",
    "h": "decimal(38,18)", "i": "string", "j": "bytes", "k": "date", "l": "timestamp", "m": "timestamp_ntz",
    "n": "array<decimal(4,4)>", "o": "map<string,map<boolean,int>>", "r": "null",
    "p": {"x": "int", "y": {"z": "date"}}, "q": "decimal(5,0)",
}  # fmt: skip


def read(spark, **given):
    options = options_of(connector.source_options, **given)
    diagnostics = Diagnostics()
    (table,) = connector.tables(options, diagnostics)
    assert list(diagnostics) == []
    scan = Scan("fake", connector, options, table, id="scan", span=options.span())
    return lower(pipeline_session(spark), [write(connectors.sink("Console"), scan)]).dataframes[scan]


@pytest.mark.spark
def test_every_type_is_made_the_same_again(spark):
    first = read(spark, schema={"fields": EVERY_TYPE}, row__num=50)
    assert first.count() == 50
    assert first.collect() == read(spark, schema={"fields": EVERY_TYPE}, row__num=50).collect()
    assert first.collect() != read(spark, schema={"fields": EVERY_TYPE}, row__num=50, seed=7).collect()
    assert len({row["e"] for row in first.collect()}) == 50


@pytest.mark.spark
def test_ranges_and_templates(spark):
    given = {
        "int.min": 3, "int.max": 5, "bigint.min": -(2**62), "bigint.max": 2**62, "string.fake.mode": "template",
        "string.template": ["it's", "b"], "date.year.template": [1999],
    }  # fmt: skip
    df = read(spark, schema={"fields": {"i": "int", "l": "bigint", "s": "string", "d": "date"}}, row__num=200, **given)
    found = df.selectExpr("min(i)", "max(i)", "min(l) < 0", "max(l) > 0", "sort_array(collect_set(s))", "max(year(d))")
    assert tuple(found.first()) == (3, 5, True, True, ["b", "it's"], 1999)


@pytest.mark.spark
def test_listed_rows(spark):
    schema = {"fields": {"id": "bigint", "at": "timestamp", "tags": "array<string>", "r": {"x": "int"}}}
    listed = [
        {"kind": "INSERT", "fields": [1, "2024-01-02T03:04:05", ["a", "b"], {"x": 4}]},
        {"kind": "INSERT", "fields": [None, None, None, None]},
    ]
    df = read(spark, schema=schema, rows=listed).selectExpr("id", "cast(at as string)", "tags", "r.x")
    assert [tuple(row) for row in df.collect()] == [(1, "2024-01-02 03:04:05", ["a", "b"], 4), (None, None, None, None)]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "PEN2005"),
        ({"schema": {"fields": {"a": "int"}}, "rows": [{"kind": "INSERT", "fields": [1, 2]}]}, "PEN2004"),
        ({"schema": {"fields": {"a": "int"}}, "int.fake.mode": "template"}, "PEN2011"),
        ({"schema": {"fields": {"a": "int"}}, "rows": [{"fields": ["x"]}]}, "PEN2004"),
        ({"schema": {"fields": {"a": "int"}}, "rows": [{"kind": "REMOVE", "fields": [1]}]}, "PEN2004"),
        ({"schema": {"fields": {"a": "int"}}, "rows": [{"fields": {"b": 1}}]}, "PEN3004"),
        ({"schema": {"fields": {"a": "smalmallint"}}, "rows": [{"fields": [1]}]}, "PEN4001"),
        ({"schema": {"fields": {"a": "tinyint"}}, "tinyint.template": [300]}, "PEN2004"),
    ],
)
def test_errors(given, code):
    diagnostics = Diagnostics()
    connector.tables(options_of(connector.source_options, **given), diagnostics)
    assert [each.code for each in diagnostics] == [code]
