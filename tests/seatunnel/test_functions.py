"""Every function of SeaTunnel's SQL: what it becomes has the type and the value that it has there."""

import re
from pathlib import Path

import pytest

from catalog.compat import Compat
from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.typenames import parse_type
from sql.analyze import analyze
from sql.seatunnel.functions import RULES
from sql.seatunnel.seatunnel import to_spark

COLUMNS = {
    "id": ("int", "1"),
    "big": ("bigint", "100L"),
    "name": ("string", "'Joy Ding'"),
    "missing": ("string", "CAST(NULL AS STRING)"),
    "flag": ("boolean", "true"),
    "price": ("decimal(10,4)", "CAST(2.3456 AS DECIMAL(10,4))"),
    "created": ("timestamp", "TIMESTAMP '2021-04-15 13:34:45.235'"),
    "changed": ("timestamp", "TIMESTAMP '2022-01-23 12:34:56'"),
    "birthday": ("date", "DATE '2012-12-21'"),
    "payload": ("binary", "X'01FF'"),
    "keyed": ("map<string,string>", "map('k', 'v')"),
    "tiny": ("tinyint", "5Y"),
    "small": ("smallint", "-300S"),
    "weight": ("float", "1.5F"),
    "ratio": ("double", "-2.5D"),
    "zero": ("int", "0"),
    "none": ("int", "CAST(NULL AS INT)"),
    "clock": ("time(6)", "TIME '10:20:30'"),
}
FAKE = CatalogTable.of("fake", [Column(name, parse_type(type)) for name, (type, _) in COLUMNS.items()])


def cases(file: str) -> list[tuple[str, ...]]:
    lines = (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if not line.startswith("#")]


CASES = {2: cases("functions.tsv"), 3: cases("functions_3.tsv")}
"""By the line of SeaTunnel's versions."""
TYPED = [(line, expression, type) for line, listed in CASES.items() for expression, type, _ in listed]


def translated(query: str, line: int = 2) -> str:
    compat = {2: Compat.SEATUNNEL_2, 3: Compat.SEATUNNEL_3}[line]
    return to_spark(PlacedText.bare(query), {"fake": FAKE}, compat).value


@pytest.mark.parametrize(("line", "expression", "type"), TYPED, ids=[f"{case[0]}: {case[1]}" for case in TYPED])
def test_each_is_typed_without_spark(line, expression, type):
    found = analyze(PlacedText.bare(translated(f"select {expression} as x from dual", line)), {"fake": FAKE})
    assert not found.diagnostics
    assert [str(column.type) for column in found.columns] == [type]


def test_no_function_is_left_out():
    tested = {name for expression, _, _ in CASES[2] for name in re.findall(r"(\w+)\(", expression)}
    assert set(RULES) <= tested


@pytest.mark.spark
@pytest.mark.parametrize("line", CASES)
def test_each_has_the_value_that_it_has_there(spark, line):
    from engine.functions.register import register_functions

    row = ", ".join(f"{value} AS `{name}`" for name, (_, value) in COLUMNS.items())
    spark.sql(f"SELECT {row}").createOrReplaceTempView("fake")
    query = "select " + ", ".join(f"{case[0]} as c{number}" for number, case in enumerate(CASES[line])) + " from dual"
    register_functions(spark, translated(query, line))
    df = spark.sql(translated(query, line))
    assert [type for _, type in df.dtypes] == [type for _, type, _ in CASES[line]]
    shown = df.selectExpr(*(as_text(f"c{number}", case[1]) for number, case in enumerate(CASES[line]))).first()
    found = ["NULL" if value is None else value for value in shown]
    assert [(case[0], value) for case, value in zip(CASES[line], found, strict=True) if value != case[2]] == []


def as_text(name: str, type: str) -> str:
    if type == "binary":
        return f"hex({name})"
    if type.startswith(("array", "map")):
        return f"replace(replace(to_json({name}), ',', ', '), ':', ': ')"
    return f"CAST({name} AS STRING)"
