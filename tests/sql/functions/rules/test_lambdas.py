"""Lambda functions as arguments: how many they take, and which type they give."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from sql.analyze import analyze

COLUMNS = {"xs": "array<int>", "m": "map<string,int>", "n": "map<int,int>", "a": "int"}
TABLE = CatalogTable.of("t", [Column(name, parse_type(type)) for name, type in COLUMNS.items()])


def analyzed(expression: str):
    return analyze(PlacedText.bare(f"select {expression} as x from t"), {"t": TABLE})


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("transform(xs, x -> x * 1.5)", "array<decimal(13,1)>"),
        ("transform(xs, (x, i) -> i)", "array<int>"),
        ("filter(xs, x -> x > a)", "array<int>"),
        ("aggregate(xs, 0L, (s, x) -> s + x, s -> s / 2)", "double"),
        ("zip_with(xs, xs, (x, y) -> x = y)", "array<boolean>"),
        ("transform_keys(m, (k, v) -> v)", "map<int,int>"),
        ("transform_values(m, (k, v) -> k)", "map<string,string>"),
        ("map_zip_with(m, m, (k, x, y) -> x + y)", "map<string,int>"),
        ("map_filter(m, (k, v) -> v > 1)", "map<string,int>"),
        ("exists(xs, x -> x is null)", "boolean"),
    ],
)
def test_the_type(expression, type):
    found = analyzed(expression)
    assert found.diagnostics == ()
    assert [str(column.type) for column in found.columns] == [type]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("filter(xs, x -> x)", "the function must give a boolean, this gives int"),
        ("filter(xs, (x, y, z) -> true)", "the function takes 3 arguments, 2 are given"),
        ("transform(xs, (x, x) -> x)", "two arguments of the lambda function have one name"),
        ("aggregate(xs, 0, (s, x) -> 'y')", "the function gives string, but the start value is int"),
        ("array_sort(xs, (x, y) -> 'z')", "the function must give an int, this gives string"),
        ("transform_keys(m, (k, v) -> map(k, v))", "map<string,int> can't be the key of a map"),
        ("map_zip_with(m, n, (k, x, y) -> x)", "the keys of both maps must be of one type, these are string and int"),
    ],
)
def test_what_is_refused(expression, message):
    assert [error.message for error in analyzed(expression).diagnostics] == [message]
