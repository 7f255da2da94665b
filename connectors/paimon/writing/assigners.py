"""The buckets of keys in a table that adds buckets as it grows, found by several assigners side by side.

A key's hash decides its assigner, as in Paimon's own writers: assigner n gives new keys the buckets n, n + assigners, …
A key that the table has stays in its bucket. Rows come to an assigner in the order of their hashes, so that a task
that is tried again gives each key the same bucket. Then one task writes each bucket, with its part of the index.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from catalog.quoting import quote
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.writing.bucket_hash import hashes_of, places_of
from connectors.paimon.writing.tasks import HASH, Layout, typed
from connectors.shared.mapped_rows import mapped_rows

if TYPE_CHECKING:
    import pyarrow
    from pypaimon.table.file_store_table import FileStoreTable
    from pyspark.sql import DataFrame

_ASSIGNER: Final = "__penstock_assigner"
_MOST: Final = "dynamic-bucket.max-buckets"


@dataclass(frozen=True)
class Assigners:
    """`channels`: how many there are; `own`: how many of them share the keys of a partition."""

    channels: int
    own: int

    @classmethod
    def of(cls, table: "FileStoreTable", parallelism: int) -> "Assigners":
        """As the table's options say, by default as many as Spark runs tasks at once."""
        options = table.table_schema.options
        channels = int(options.get("dynamic-bucket.assigner-parallelism", parallelism))
        own = min(channels, int(options.get("dynamic-bucket.initial-buckets", channels)))
        most = int(options.get(_MOST, -1))
        return cls(max(1, channels), max(1, min(own, most) if most > 0 else own))


def with_assigned_buckets(df: "DataFrame", layout: Layout) -> "DataFrame":
    """The rows with `BUCKET`, and `HASH` of their keys."""
    from pyspark.sql.types import IntegerType, StructType

    assigners = Assigners.of(layout.open(), df.sparkSession.sparkContext.defaultParallelism)
    if assigners.channels == 1:
        return df.repartition(1)

    def route(batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        return _route(layout, assigners, batches)

    def assign(batches: "Iterable[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        return _assign(layout, assigners, batches)

    more = StructType(list(df.schema.fields)).add(HASH, IntegerType())
    routed = mapped_rows(df, route, StructType(list(more.fields)).add(_ASSIGNER, IntegerType()))
    order = [_ASSIGNER, HASH, *map(quote, layout.schema["primaryKeys"])]
    placed = routed.repartition(assigners.channels, _ASSIGNER).sortWithinPartitions(*order)
    return mapped_rows(placed, assign, more.add(BUCKET, IntegerType()))


def _route(
    layout: Layout, assigners: Assigners, batches: "Iterable[pyarrow.RecordBatch]"
) -> "Iterator[pyarrow.RecordBatch]":
    import numpy as np
    import pyarrow as pa
    from pypaimon.write.row_key_extractor import DynamicBucketRowKeyExtractor

    table = layout.open()
    extractor = DynamicBucketRowKeyExtractor(table.table_schema)
    schema = _schema_of(table)
    for batch in batches:
        rows = typed(batch, schema)
        keys = [rows.column(index) for index in extractor.bucket_key_indices]
        hashes = hashes_of(keys)
        if hashes is None:
            hashes = np.array(extractor._extract_key_hashes_batch(rows), np.int64).astype(np.int32)
        starts = np.array(_starts(extractor, rows, assigners), np.int64)
        places = (starts + places_of(hashes, assigners.own)) % assigners.channels
        added = [pa.array(hashes, pa.int32()), pa.array(places, pa.int32())]
        names = [*batch.schema.names, HASH, _ASSIGNER]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def _starts(extractor: Any, rows: "pyarrow.RecordBatch", assigners: Assigners) -> list[int]:
    """The first assigner of each row's partition."""
    if not extractor.partition_indices:
        return [_start(extractor, (), assigners)] * rows.num_rows
    known: dict[tuple[Any, ...], int] = {}
    partitions = extractor._extract_partitions_batch(rows)
    for partition in partitions:
        if partition not in known:
            known[partition] = _start(extractor, partition, assigners)
    return [known[partition] for partition in partitions]


def _start(extractor: Any, partition: tuple[Any, ...], assigners: Assigners) -> int:
    from pypaimon.index.dynamic_bucket import compute_assigner

    found = extractor._binary_row_hash_code(partition, extractor._partition_fields)
    return int(compute_assigner(found, 0, assigners.channels, assigners.own))


def _assign(
    layout: Layout, assigners: Assigners, batches: "Iterable[pyarrow.RecordBatch]"
) -> "Iterator[pyarrow.RecordBatch]":
    """The rows with their buckets. They come by assigner, so that one is open at a time."""
    import pyarrow as pa
    from pypaimon.write.row_key_extractor import DynamicBucketRowKeyExtractor

    table = layout.open()
    schema = _schema_of(table)
    opened: tuple[int, Any] | None = None
    for batch in batches:
        for number, rows in _runs(batch):
            if opened is None or opened[0] != number:
                random.seed(f"{layout.name} {number}")  # pypaimon draws a bucket where all are full
                opened = (
                    number,
                    DynamicBucketRowKeyExtractor(
                        table.table_schema,
                        table=table,
                        num_channels=assigners.channels,
                        num_assigners=assigners.own,
                        assign_id=number,
                        ignore_existing=layout.overwrites,
                        maintain_index=False,
                        base_snapshot_id=layout.base,
                    ),
                )
            hashes = rows.column(rows.schema.get_field_index(HASH))
            _, buckets = opened[1].extract_partition_bucket_from_hashes_batch(typed(rows, schema), hashes.to_pylist())
            names = [name for name in rows.schema.names if name != _ASSIGNER]
            columns = [rows.column(rows.schema.get_field_index(name)) for name in names]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(buckets, pa.int32())], names=[*names, BUCKET])


def _runs(batch: "pyarrow.RecordBatch") -> "Iterator[tuple[int, pyarrow.RecordBatch]]":
    """The rows of each assigner, which follow each other."""
    import numpy as np

    if not batch.num_rows:
        return
    places = batch.column(batch.schema.get_field_index(_ASSIGNER)).to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), batch.num_rows]
    for start, end in pairwise(bounds):
        yield int(places[start]), batch.slice(start, end - start)


def _schema_of(table: "FileStoreTable") -> "pyarrow.Schema":
    from pypaimon.schema.data_types import PyarrowFieldParser

    return PyarrowFieldParser.from_paimon_schema(table.table_schema.fields)
