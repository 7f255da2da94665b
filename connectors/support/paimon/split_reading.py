"""What Spark's tasks read of a Paimon table: splits, as Arrow batches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from connectors.support.paimon.paimon_table import opened

if TYPE_CHECKING:
    import pyarrow

BUCKET: Final = "__penstock_bucket"
"""A column with the bucket of each row."""
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
    fields. `BUCKET` may be among the schema's columns."""
    import pyarrow as pa

    on_these = [predicate for predicate in predicates if predicate[1] in schema.names]
    names = [name for name in schema.names if name != BUCKET]
    read = read_builder(plan, on_these, names).new_read()
    for group in [splits] if names == schema.names else [[split] for split in splits]:
        for batch in read.to_arrow_batch_reader(group):
            if batch.num_rows:
                known = {name: batch.column(name) for name in names}
                if names != schema.names:
                    known[BUCKET] = pa.repeat(group[0].bucket, batch.num_rows)
                columns = [known[field.name].cast(field.type, safe=False) for field in schema]
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
