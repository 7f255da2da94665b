"""Paimon tables as a data source of Spark's: splits read in tasks, with the filters that Spark pushes down."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from connectors.support.paimon.paimon_table import opened

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
_Predicate: TypeAlias = tuple[str, str, tuple[Any, ...]]
"""The method, its column and its other arguments."""


def paimon_source() -> "type[DataSource]":
    """The class that a session registers. The option `plan` is JSON: the table's `folder`, its `schema` and `options`,
    and how many `tasks` may read."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Splits(InputPartition):
        def __init__(self, splits: list[Any]) -> None:
            super().__init__(None)
            self.splits = splits

    class Reader(DataSourceReader):
        def __init__(self, plan: Mapping[str, Any], schema: "StructType") -> None:
            self.plan = plan
            self.schema = schema
            self.predicates: list[_Predicate] = []

        def pushFilters(self, filters: "list[Filter]") -> "Iterable[Filter]":  # noqa: N802 (the name is Spark's)
            """Take what skips files; Spark applies every filter itself, too."""
            self.predicates = predicates_of(filters, self.plan)
            return filters

        def partitions(self) -> list[Any]:
            return [Splits(share) for share in shares(self.plan, self.predicates)]

        def read(self, partition: Any) -> Iterator["pyarrow.RecordBatch"]:
            from pyspark.sql.pandas.types import to_arrow_schema

            if partition is None:
                return  # Spark's partition of a table without splits
            yield from batches(self.plan, self.predicates, partition.splits, to_arrow_schema(self.schema))

    class PaimonSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def reader(self, schema: "StructType") -> Reader:
            return Reader(json.loads(self.options["plan"]), schema)

    return PaimonSource


def predicates_of(filters: "Iterable[Filter]", plan: Mapping[str, Any]) -> list[_Predicate]:
    """The filters that pypaimon has a predicate for."""
    known = {field["name"] for field in plan["schema"]["fields"]}
    found = (_predicate(filter) for filter in filters)
    return [predicate for predicate in found if predicate is not None and predicate[1] in known]


def _predicate(filter: Any) -> _Predicate | None:
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


def shares(plan: Mapping[str, Any], predicates: Sequence[_Predicate]) -> list[list[Any]]:
    """The splits that each task reads, of about the same size."""
    splits = _builder(plan, predicates, None).new_scan().plan().splits()
    splits.sort(key=lambda split: split.file_size, reverse=True)
    count = min(len(splits), plan["tasks"])
    return [splits[index::count] for index in range(count)]


def batches(
    plan: Mapping[str, Any], predicates: Sequence[_Predicate], splits: list[Any], schema: "pyarrow.Schema"
) -> Iterator["pyarrow.RecordBatch"]:
    """The rows of splits with Spark's arrow types, which have fewer digits of a second and other names of nested
    fields."""
    import pyarrow as pa

    on_these = [predicate for predicate in predicates if predicate[1] in schema.names]
    for batch in _builder(plan, on_these, schema.names).new_read().to_arrow_batch_reader(splits):
        if batch.num_rows:
            columns = [batch.column(field.name).cast(field.type, safe=False) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _builder(plan: Mapping[str, Any], predicates: Sequence[_Predicate], names: Sequence[str] | None) -> Any:
    builder = opened(plan["folder"], plan["schema"], plan["options"]).new_read_builder()
    if names is not None:
        builder = builder.with_projection(list(names))
    if predicates:
        build = builder.new_predicate_builder()
        found = [getattr(build, method)(column, *arguments) for method, column, arguments in predicates]
        builder = builder.with_filter(build.and_predicates(found))
    return builder
