"""What the files of a format can hold, against Spark."""

import pytest
from pyspark.errors import PySparkException

from catalog.types.typetext import parse_type
from connectors.files.file_types import can_hold

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
