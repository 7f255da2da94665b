"""Paimon tables as a data source of Spark's: splits read in tasks."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from connectors.paimon.paimon_table import opened
from connectors.paimon.split_reading import batches, read_builder, shared
from connectors.paimon.stream_source import appended_splits, stream_reader

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.types import StructType

FORMAT: Final = "penstock_paimon"


def paimon_source() -> "type[DataSource]":
    """The class that a session registers. The option `plan` is JSON: the table's `folder`, its `schema` and `options`,
    how many `tasks` may read, the `predicates` by which files are skipped, and for an incremental read the snapshots
    `after` which and `until` which rows were appended."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

    class Reader(DataSourceReader):
        def __init__(self, plan: Mapping[str, Any], schema: "StructType") -> None:
            self.plan = plan
            self.schema = schema

        def partitions(self) -> list[Any]:
            return [InputPartition(share) for share in shares(self.plan)]

        def read(self, partition: Any) -> Iterator["pyarrow.RecordBatch"]:
            from pyspark.sql.pandas.types import to_arrow_schema

            if partition is None:
                return  # Spark's partition of a table without splits
            yield from batches(self.plan, partition.value, to_arrow_schema(self.schema))

    class PaimonSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def reader(self, schema: "StructType") -> Reader:
            return Reader(json.loads(self.options["plan"]), schema)

        def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: N802 (the name is Spark's)
            return stream_reader(json.loads(self.options["plan"]), schema)

    return PaimonSource


def shares(plan: Mapping[str, Any]) -> list[list[Any]]:
    """The splits that each task reads, of about the same size."""
    if "until" in plan:
        splits = appended_splits(opened(plan["folder"], plan["schema"]), plan["after"], plan["until"])
    else:
        splits = read_builder(plan, None).new_scan().plan().splits()
    return shared(splits, plan["tasks"])
