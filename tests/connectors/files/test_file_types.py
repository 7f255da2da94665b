"""What the files of a format can hold, against Spark."""

import pytest
from pyspark.errors import PySparkException

import connectors
from catalog.diagnostics.diagnostic import RunError
from catalog.types.typetext import parse_type
from connectors.files.file_types import can_hold
from tests.connectors.jobs import rows, run_writes, write

TYPES = (
    "boolean", "tinyint", "bigint", "double", "decimal(10,2)", "string", "binary", "date", "timestamp", "timestamp_ntz",
    "time(6)", "interval year to month", "interval day to second", "array<int>", "array<time(6)>", "map<string,int>",
    "struct<a:int>", "struct<a:variant>", "variant",
)  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(
    "file_format", ["csv", "json", "parquet", "orc", pytest.param("delta", marks=pytest.mark.delta)]
)
def test_what_files_hold_is_what_spark_writes(spark, tmp_path, file_format):
    session = spark.newSession()
    session.conf.set("spark.sql.timeType.enabled", "true")
    held = [text for text in TYPES if can_hold(file_format, parse_type(text))]
    columns = ", ".join(f"c{number} {text}" for number, text in enumerate(held))
    session.createDataFrame([], columns).write.format(file_format).save(str(tmp_path / "held"))
    for number, text in enumerate(TYPES):
        if text not in held:
            with pytest.raises(PySparkException):
                session.createDataFrame([], f"x {text}").write.format(file_format).save(str(tmp_path / str(number)))


@pytest.mark.spark
def test_days_that_the_calendar_of_orc_leaves_out_are_refused(spark, tmp_path):
    """ORC stores them as 1582-10-15; the days around them, and `timestamp_ntz`, are read as they were written."""
    sink = connectors.sink("LocalFile")

    def stage(name, type, days):
        texts = " union all ".join(f"select cast('{day}' as {type}) d" for day in days)
        path = str(tmp_path / name)
        job = [write(sink, rows(texts, f"d {type}"), path=path, file_format_type="orc")]
        run_writes(spark, job, str(tmp_path / "state"), name)
        return sorted(
            str(row.d) for row in spark.read.orc(path).selectExpr("cast(cast(d as date) as string) d").collect()
        )

    around = ["0001-01-01", "1582-10-04", "1582-10-15"]
    assert stage("dates", "date", around) == around
    assert stage("moments", "timestamp", around) == around
    assert stage("local", "timestamp_ntz", ["1582-10-10"]) == ["1582-10-10"]
    for type in ("date", "timestamp"):
        with pytest.raises(
            RunError, match="`d` is from 1582-10-05 to 1582-10-14, which ORC's calendar leaves out"
        ) as found:
            stage(f"gap-{type}", type, ["1582-10-10"])
        assert found.value.diagnostics[0].code == "PEN5463"
