"""Texts that cannot be cast to the type that they are compared with: warned of exactly where Spark then stops."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, Decimal
from sql.analyze import analyze

COLUMNS = {
    "id": INT, "amount": Decimal(10, 2), "x": DOUBLE, "d": DATE, "ts": TIMESTAMP, "b": BOOLEAN, "s": STRING,
}  # fmt: skip
TABLES = {"t": CatalogTable.of("t", [Column(name, type) for name, type in COLUMNS.items()])}
DDL = "id int, amount decimal(10,2), x double, d date, ts timestamp, b boolean, s string"

STOPPED = (
    "amount = 'abc'", "id = 'abc'", "'abc' < id", "id in (1, 'x')", "id in ('1', 'x')", "d > '2024-13-01'",
    "ts > '2024-01-01 25:00'", "b = 'maybe'", "id between 'a' and '3'", "id = 1 and not (id = 'abc')", "id = '5.0'",
    "id = ''", "d = ''", "d = '20240101'", "x = '1,5'", "id <=> 'x'",
    "ts < '2024-01-01 10:00 Europe/Berlin'", "id = 1 or amount <> 'n/a'",
)  # fmt: skip
RUN = (
    "d > 'yesterday'", "x = 'inf'", "x = 'nan'", "id = ' 5 '", "amount = '1e2'", "d = '2024-1-1'", "b = 'T'",
    "b = '1'", "s = 'abc'", "s > 5", "case when id = 1 then id = 'abc' else true end", "coalesce(id = 1, id = 'abc')",
    "if(id = 1, id = 'abc', true)", "d >= '2024'", "d >= '2024-01'", "ts >= '2024-01-01T10:00:00Z'", "ts = 'now'",
    "ts < '2024-01-01 10:00:00.123456'", "ts < '2024-01-01 10:00:00 Europe/Berlin'", "id in ('1', '2')", "id = '+5'",
)  # fmt: skip


def warnings(condition: str) -> list[str]:
    found = analyze(PlacedText.bare(f"select * from t where {condition}"), TABLES).diagnostics
    return [each.message for each in found if each.code == "PEN3013"]


@pytest.mark.parametrize("condition", STOPPED)
def test_what_spark_stops_at_is_warned_of(condition):
    assert len(warnings(condition)) == 1


@pytest.mark.parametrize("condition", RUN)
def test_what_runs_is_not_warned_of(condition):
    assert warnings(condition) == []


def test_the_warning_names_the_text_and_the_type():
    assert warnings("amount = 'abc'") == ["`amount` is decimal(10,2), and 'abc' cannot be cast to decimal(10,2)"]
    (join,) = analyze(PlacedText.bare("select 1 from t join t u on t.id = 'x'"), TABLES).diagnostics
    assert join.help == "Spark stops at the comparison: write a number, or cast the column to string"


@pytest.mark.spark
def test_spark_stops_at_the_same_comparisons(spark, tmp_path):
    spark.createDataFrame([], DDL).write.parquet(str(tmp_path / "t"))
    spark.read.parquet(str(tmp_path / "t")).createOrReplaceTempView("compared")
    try:
        stopped = [condition for condition in (*STOPPED, *RUN) if _stops(spark, condition)]
    finally:
        spark.catalog.dropTempView("compared")
    assert stopped == list(STOPPED)


def _stops(spark, condition: str) -> bool:
    try:
        spark.sql(f"select * from compared where {condition}").collect()
    except Exception as error:  # Java's errors are of several classes
        if "CAST_INVALID_INPUT" not in str(error):
            raise
        return True
    return False
