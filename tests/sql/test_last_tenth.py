"""Queries of outside engineers: what Spark accepts is no error, what it refuses is one, and types are known."""

import pytest

from catalog.diagnostics.diagnostic import Severity
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.typetext import parse_type
from sql.analyze import analyze

COLUMNS = "a int, b int, ts timestamp, js string, x double, day date, d decimal(10,2)"
TABLES = {
    "t": CatalogTable.of("t", [Column(*part) for part in (
        (name, parse_type(type)) for name, type in (each.split(" ", 1) for each in COLUMNS.split(", "))
    )])
}  # fmt: skip
SCHEMA = '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}}]}'


def errors(query):
    found = analyze(PlacedText.bare(query), TABLES)
    return [str(item) for item in found.diagnostics if item.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "query",
    [
        "with p as (select 1 as k), q (select 2 as m) select * from p, q",
        f"select from_json(js, '{SCHEMA}') as v from t",
        "select a, GROUPING__ID from t group by a, b with rollup",
        "with values as (select 1 as k) select k from values",
        "with all as (select 1 as k) select k from all",
        "with outer as (select 1 as k) select outer.k from outer",
        "select all, outer from (select 1 as all, 2 as outer)",
        "select * from t tablesample (100.00005 percent)",
        "select ceil(x, 2) as c, floor(x, 1) as f from t",
        "select grouping_id(a, b) from t group by a, b with rollup",
        "select window(ts, '5 minutes') as w, count(*) as n from t group by window(ts, '5 minutes')",
    ],
)
def test_what_spark_accepts_is_no_error(query):
    assert errors(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "select window(ts, INTERVAL '5' MINUTE) as w, count(*) as n from t group by window(ts, INTERVAL '5' MINUTE)",
        "select range(1, 5) as r",
        "select a from t group by a having count(distinct *) > 1",
        "select a from t group by a order by count(distinct *)",
        "select grouping_id(a) from t group by a, b with cube",
        "select a from t group by ((a, b))",
        "select a from t limit '5'",
        "select sum(a) over (order by all) as s from t",
    ],
)
def test_what_spark_refuses_is_an_error(query):
    assert errors(query) != []


@pytest.mark.parametrize(
    ("expression", "type", "nullable"),
    [
        ("ceil(x, 2)", "decimal(18,2)", True),
        ("floor(x, 1)", "decimal(17,1)", True),
        ("from_json(js, 'a INT NOT NULL').a", "int", True),
        ("to_char(d, '999.99')", "string", True),
    ],
)
def test_types_and_nullability_are_known(expression, type, nullable):
    (column,) = analyze(PlacedText.bare(f"select {expression} as v from t"), TABLES).columns
    assert (str(column.type), column.nullable) == (type, nullable)
