"""What Spark's tasks read of a Paimon table: splits, as Arrow batches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from connectors.paimon.paimon_table import opened

if TYPE_CHECKING:
    import pyarrow

BUCKET: Final = "__penstock_bucket"
"""A column with the bucket of each row."""


def shared(splits: list[Any], tasks: int) -> list[list[Any]]:
    """The splits by task, of about the same size."""
    largest_first = sorted(splits, key=lambda split: split.file_size, reverse=True)
    count = min(len(splits), tasks)
    return [largest_first[index::count] for index in range(count)]


def batches(plan: Mapping[str, Any], splits: list[Any], schema: "pyarrow.Schema") -> Iterator["pyarrow.RecordBatch"]:
    """The rows of splits with Spark's arrow types, which have fewer digits of a second and other names of nested
    fields. `BUCKET` may be among the schema's columns."""
    import pyarrow as pa

    names = [name for name in schema.names if name != BUCKET]
    read = read_builder(plan, names).new_read()
    for group in [splits] if names == schema.names else [[split] for split in splits]:
        for batch in read.to_arrow_batch_reader(group):
            if batch.num_rows:
                known = {name: batch.column(name) for name in names}
                if names != schema.names:
                    known[BUCKET] = pa.repeat(group[0].bucket, batch.num_rows)
                columns = [known[field.name].cast(field.type, safe=False) for field in schema]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def read_builder(plan: Mapping[str, Any], names: Sequence[str] | None) -> Any:
    builder = opened(plan["folder"], plan["schema"], plan["options"]).new_read_builder()
    if names is not None:
        builder = builder.with_projection(list(names))
    if predicates := plan.get("predicates"):
        build = builder.new_predicate_builder()
        found = [getattr(build, method)(column, *arguments) for method, column, arguments in predicates]
        builder = builder.with_filter(build.and_predicates(found))
    return builder
