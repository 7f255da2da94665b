"""What Spark's tasks read of a Paimon table: splits, as Arrow batches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from connectors.support.paimon.paimon_table import opened

if TYPE_CHECKING:
    import pyarrow

Predicate: TypeAlias = tuple[str, str, tuple[Any, ...]]
"""The method of pypaimon's builder of predicates, its column and its other arguments."""


def shared(splits: list[Any], tasks: int) -> list[list[Any]]:
    """The splits by task, of about the same size."""
    largest_first = sorted(splits, key=lambda split: split.file_size, reverse=True)
    count = min(len(splits), tasks)
    return [largest_first[index::count] for index in range(count)]


def batches(
    plan: Mapping[str, Any], predicates: Sequence[Predicate], splits: list[Any], schema: "pyarrow.Schema"
) -> Iterator["pyarrow.RecordBatch"]:
    """The rows of splits with Spark's arrow types, which have fewer digits of a second and other names of nested
    fields."""
    import pyarrow as pa

    on_these = [predicate for predicate in predicates if predicate[1] in schema.names]
    for batch in read_builder(plan, on_these, schema.names).new_read().to_arrow_batch_reader(splits):
        if batch.num_rows:
            columns = [batch.column(field.name).cast(field.type, safe=False) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def read_builder(plan: Mapping[str, Any], predicates: Sequence[Predicate], names: Sequence[str] | None) -> Any:
    builder = opened(plan["folder"], plan["schema"], plan["options"]).new_read_builder()
    if names is not None:
        builder = builder.with_projection(list(names))
    if predicates:
        build = builder.new_predicate_builder()
        found = [getattr(build, method)(column, *arguments) for method, column, arguments in predicates]
        builder = builder.with_filter(build.and_predicates(found))
    return builder
