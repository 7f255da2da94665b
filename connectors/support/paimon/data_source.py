"""Paimon tables as a data source of Spark's: splits read in tasks, with the filters that Spark pushes down."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from connectors.support.paimon.paimon_table import opened
from connectors.support.paimon.split_reading import Predicate, batches, read_builder, shared
from connectors.support.paimon.stream_source import appended_splits, stream_reader

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import DataSource, Filter
    from pyspark.sql.types import StructType

FORMAT: Final = "penstock_paimon"
_EXACT: Final = (bool, int, str)
"""Python's types of literals that mean the same to Spark and to pypaimon."""
_METHODS: Final = {
    "EqualTo": "equal",
    "GreaterThan": "greater_than",
    "GreaterThanOrEqual": "greater_or_equal",
    "LessThan": "less_than",
    "LessThanOrEqual": "less_or_equal",
    "StringStartsWith": "startswith",
    "In": "is_in",
    "IsNull": "is_null",
    "IsNotNull": "is_not_null",
}
"""Spark's filters, by the methods of pypaimon's builder of predicates."""


def paimon_source() -> "type[DataSource]":
    """The class that a session registers. The option `plan` is JSON: the table's `folder`, its `schema` and `options`,
    how many `tasks` may read, and for an incremental read the snapshots `after` which and `until` which rows were
    appended."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

    class Reader(DataSourceReader):
        def __init__(self, plan: Mapping[str, Any], schema: "StructType") -> None:
            self.plan = plan
            self.schema = schema
            self.predicates: list[Predicate] = []

        def pushFilters(self, filters: "list[Filter]") -> "Iterable[Filter]":  # noqa: N802 (the name is Spark's)
            """Take what skips files; Spark applies every filter itself, too."""
            self.predicates = predicates_of(filters, self.plan)
            return filters

        def partitions(self) -> list[Any]:
            return [InputPartition(share) for share in shares(self.plan, self.predicates)]

        def read(self, partition: Any) -> Iterator["pyarrow.RecordBatch"]:
            from pyspark.sql.pandas.types import to_arrow_schema

            if partition is None:
                return  # Spark's partition of a table without splits
            yield from batches(self.plan, self.predicates, partition.value, to_arrow_schema(self.schema))

    class PaimonSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def reader(self, schema: "StructType") -> Reader:
            return Reader(json.loads(self.options["plan"]), schema)

        def streamReader(self, schema: "StructType") -> DataSourceStreamReader:  # noqa: N802 (the name is Spark's)
            return stream_reader(json.loads(self.options["plan"]), schema)

    return PaimonSource


def predicates_of(filters: "Iterable[Filter]", plan: Mapping[str, Any]) -> list[Predicate]:
    """The filters that pypaimon has a predicate for."""
    known = {field["name"] for field in plan["schema"]["fields"]}
    found = (_predicate(filter) for filter in filters)
    return [predicate for predicate in found if predicate is not None and predicate[1] in known]


def _predicate(filter: Any) -> Predicate | None:
    kind = type(filter).__name__
    method = _METHODS.get(kind)
    if method is None or len(filter.attribute) != 1:
        return None
    if kind in ("IsNull", "IsNotNull"):
        return method, filter.attribute[0], ()
    values = list(filter.value) if kind == "In" else [filter.value]
    if not all(isinstance(value, _EXACT) for value in values):
        return None
    return method, filter.attribute[0], (values,) if kind == "In" else (filter.value,)


def shares(plan: Mapping[str, Any], predicates: Sequence[Predicate]) -> list[list[Any]]:
    """The splits that each task reads, of about the same size."""
    if "until" in plan:
        splits = appended_splits(opened(plan["folder"], plan["schema"]), plan["after"], plan["until"])
    else:
        splits = read_builder(plan, predicates, None).new_scan().plan().splits()
    return shared(splits, plan["tasks"])
