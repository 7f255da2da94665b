"""The offsets of a captured table as a stream of Spark's: a marker for each micro-batch, upon which the driver makes
its rows of the changes that its reader has.

The reader tells how far a micro-batch can go by a file, which Spark's own process of the source reads. An offset is the
position in the log at which a micro-batch ends; empty: before the snapshot.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from connectors.shared.active_session import active_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.types import StructType

_FORMAT: Final = "penstock_captured_changes"
AT: Final = "at"
OF: Final = "of"


def write_offer(path: str, **values: str | None) -> None:
    """Replace the file of an offer: `first` and `latest` offset, the stream that they are `of`, or an `error`."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(values, file)
    os.replace(f"{path}.new", path)


def asked(path: str) -> tuple[str, str] | None:
    """Between which offsets the last micro-batch is that Spark has begun; None where it has begun none."""
    try:
        with open(f"{path}.asked", encoding="utf-8") as file:
            values = json.load(file)
    except FileNotFoundError:
        return None
    return values["start"], values["end"]


def markers(spark: "SparkSession", offer: str) -> "DataFrame":
    """A streaming DataFrame with the row `of, start, end` in each micro-batch; `offer`: the file of offers."""
    with active_session(spark, spark._jsparkSession):
        spark.dataSource.register(offset_source())
        reader = spark.readStream.format(_FORMAT).option("offer", offer)
        return reader.schema("of string, start string, end string").load()


def offset_source() -> "type[DataSource]":
    """The class that a session registers."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    class MarkerReader(DataSourceStreamReader):
        def __init__(self, offer: str) -> None:
            self.offer = offer

        def _offered(self) -> dict[str, str]:
            with open(self.offer, encoding="utf-8") as file:
                values: dict[str, str] = json.load(file)
            if values.get("error"):
                raise RuntimeError(values["error"])
            return values

        def initialOffset(self) -> dict[str, str]:  # noqa: N802 (the names are Spark's)
            values = self._offered()
            return {AT: values["first"], OF: values["of"]}

        def latestOffset(self) -> dict[str, str]:  # noqa: N802
            values = self._offered()
            return {AT: values["latest"], OF: values["of"]}

        def partitions(self, start: Mapping[str, str], end: Mapping[str, str]) -> Sequence[Any]:
            with open(f"{self.offer}.asked.new", "w", encoding="utf-8") as file:
                json.dump({"start": start[AT], "end": end[AT]}, file)
            os.replace(f"{self.offer}.asked.new", f"{self.offer}.asked")
            return [InputPartition((end[OF], start[AT], end[AT]))]

        def read(self, partition: Any) -> Iterator[tuple[str, str, str]]:
            yield partition.value

    class MarkerSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return _FORMAT

        def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: N802
            return MarkerReader(self.options["offer"])

    return MarkerSource
