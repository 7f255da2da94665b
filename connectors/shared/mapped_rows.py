"""Rows through a function of Arrow batches, whatever their columns are called."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def mapped_rows(
    df: "DataFrame", run: "Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]", schema: Any
) -> "DataFrame":
    """`df.mapInArrow(run, schema)`. PySpark reads each column's name as an expression there, and refuses `a.b` or a
    backquote: such columns have other names until they are in the batches."""
    names = tuple(df.columns)
    if all(name.isidentifier() for name in names):
        return df.mapInArrow(run, schema)

    def named(batches: "Iterable[pa.RecordBatch]") -> "Iterable[pa.RecordBatch]":
        import pyarrow as pa

        def renamed(batch: "pa.RecordBatch") -> "pa.RecordBatch":
            fields = [field.with_name(name) for field, name in zip(batch.schema, names, strict=True)]
            return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))

        return run(map(renamed, batches))

    return df.toDF(*(f"c{index}" for index in range(len(names)))).mapInArrow(named, schema)
