"""What Spark's tasks do for a write: compute the bucket of each row, and write rows as data files that no snapshot has.

These functions and `Layout` run on executors, where pypaimon must be installed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from connectors.lakehouse.keyed_rows import DELETED
from connectors.paimon.paimon_table import opened
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.table_files import Schema
from connectors.paimon.writing.bucket_hash import buckets_of
from connectors.paimon.writing.spanning_writes import allow_spanning_keys, find_sequences_of_null

if TYPE_CHECKING:
    import pyarrow
    from pypaimon.table.file_store_table import FileStoreTable

HASH: Final = "__penstock_hash"
"""The hash of the key of a row whose bucket an assigner has found."""

_DELETE_KIND: Final = 3


@dataclass(frozen=True)
class Layout:
    """Where and how files are written: the directory, the schema, the beginning of the files' names.

    `overwrites`: the files take the place of others, whose buckets and sequence numbers then do not matter. `base`: the
    snapshot that the table had when the write began, 0 before the first one; None: the latest one.
    """

    folder: str
    schema: Schema
    name: str
    overwrites: bool
    base: int | None = None

    def open(self) -> "FileStoreTable":
        return opened(self.folder, self.schema, {"data-file.prefix": f"{self.name}-"})


def buckets(layout: Layout, names: Sequence[str], keys: Sequence["pyarrow.Array"]) -> "pyarrow.Array":
    """The bucket of each row of a table with a fixed number of buckets, from the columns of its bucket key."""
    import pyarrow as pa
    from pypaimon.schema.data_types import PyarrowFieldParser
    from pypaimon.write.row_key_extractor import FixedBucketRowKeyExtractor

    table = layout.open()
    types = PyarrowFieldParser.from_paimon_schema(table.table_schema.logical_bucket_key_fields)
    columns = [key.cast(types.field(name).type) for name, key in zip(names, keys, strict=True)]
    found = buckets_of(columns, table.options.bucket())
    if found is None:
        batch = pa.RecordBatch.from_arrays(columns, names=list(names))
        found = FixedBucketRowKeyExtractor(table.table_schema)._extract_buckets_batch(batch)
    return pa.array(found, pa.int32())


def write(layout: Layout, batches: Iterable["pyarrow.RecordBatch"]) -> Iterator[bytes]:
    """Write the rows; yields a commit message, serialized, for each partition and bucket.

    Batches have the table's columns and, where they are known, `BUCKET` and `DELETED`. Rows of a partition and bucket
    follow each other, so that one file is open at a time, unless pypaimon itself assigns the buckets.
    """
    from pypaimon.table.bucket_mode import BucketMode
    from pypaimon.write.commit_message_serializer import serialize_commit_message
    from pypaimon.write.table_write import BatchTableWrite, StreamTableWrite

    table = layout.open()
    spans_partitions = table.bucket_mode() is BucketMode.CROSS_PARTITION
    if spans_partitions:
        allow_spanning_keys(table)
    is_dynamic = table.bucket_mode() is BucketMode.HASH_DYNAMIC
    base = {"restore_snapshot_id": layout.base} if is_dynamic and layout.base is not None else {}
    writer: Any = (
        BatchTableWrite(table, layout.name, {}, **base)
        if layout.overwrites
        else StreamTableWrite(table, layout.name, **base)
    )
    store = writer.file_store_write
    _mark_deleted(store)
    if spans_partitions:
        find_sequences_of_null(store)
    current = None

    def finished() -> Iterator[bytes]:
        for message in writer._prepare_commit(1):
            yield serialize_commit_message(message, table.partition_keys_fields)
        store.data_writers.clear()

    try:
        for batch in batches:
            is_grouped = not is_dynamic or BUCKET in batch.schema.names
            for place, rows in _groups(writer, batch):
                if is_grouped and current not in (None, place):
                    yield from finished()
                current = place
                store.write(*place, rows)
        yield from finished()
    except BaseException:
        writer.abort()
        raise


def _groups(writer: Any, batch: "pyarrow.RecordBatch") -> Iterator[tuple[tuple[Any, int], "pyarrow.RecordBatch"]]:
    """The rows of each partition and bucket, with the table's types."""
    if batch.num_rows == 0:
        return
    extractor = writer.row_key_extractor
    if BUCKET in batch.schema.names:
        assigned = batch.column(batch.schema.get_field_index(BUCKET)).to_pylist()
        extractor._extract_buckets_batch = lambda _: assigned
    rows = typed(batch, writer.table_pyarrow_schema)
    hashes = batch.column(batch.schema.get_field_index(HASH)) if HASH in batch.schema.names else None
    for partition, bucket, indices in extractor.extract_partition_bucket_groups(rows):
        if hashes is not None:
            of_group = hashes if indices is None else hashes.take(indices)
            _note_keys(extractor._index_maintainer, (tuple(partition), bucket), of_group.to_pylist())
        yield (partition, bucket), rows if indices is None else rows.take(indices)


def _note_keys(index: Any, place: tuple[Any, int], hashes: list[int]) -> None:
    """Note many keys at once: pypaimon's index of a bucket is a set of their hashes."""
    known, is_changed = index._states.get(place) or (index._load_bucket(*place), False)
    before = len(known)
    known.update(hashes)
    index._states[place] = known, is_changed or len(known) > before


def typed(batch: "pyarrow.RecordBatch", schema: "pyarrow.Schema") -> "pyarrow.RecordBatch":
    """The batch with the table's arrow types, which differ from Spark's in what is nullable; `DELETED` stays last."""
    import pyarrow as pa

    columns = [batch.column(batch.schema.get_field_index(name)).cast(schema.field(name).type) for name in schema.names]
    if DELETED in batch.schema.names:
        columns.append(batch.column(batch.schema.get_field_index(DELETED)))
        schema = schema.append(pa.field(DELETED, pa.bool_()))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _mark_deleted(store: Any) -> None:
    """Have the writers of tables with a primary key write the row kind that `DELETED` says.

    pypaimon takes row kinds from a column of the table only. Its merging of rows with equal keys is left out: Spark has
    done that, and it goes through Python objects, which changes some types.
    """
    create = store._create_data_writer

    def created(*arguments: Any) -> Any:
        writer = create(*arguments)
        if store.table.is_primary_key_table:
            writer._merge_pending_by_pk = lambda rows: rows
            _with_row_kinds(writer)
        return writer

    store._create_data_writer = created


def _with_row_kinds(writer: Any) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    add_fields, write_file = writer._add_system_fields, writer._write_data_to_file

    def with_kinds(rows: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
        if DELETED not in rows.schema.names:
            return add_fields(rows)
        kinds = pc.if_else(rows.column(DELETED), pa.scalar(_DELETE_KIND, pa.int8()), pa.scalar(0, pa.int8()))
        names = [name for name in rows.schema.names if name != DELETED]
        found = add_fields(rows.select(names))
        place = found.schema.get_field_index("_VALUE_KIND")
        columns = [kinds if index == place else column for index, column in enumerate(found.columns)]
        return pa.RecordBatch.from_arrays(columns, schema=found.schema)

    def counted(rows: "pyarrow.Table") -> None:
        write_file(rows)
        deleted = pc.sum(pc.equal(rows.column("_VALUE_KIND"), _DELETE_KIND)).as_py()
        if deleted:  # without it a reader would take the file's rows as they are
            writer.committed_files[-1].delete_row_count = deleted

    writer._add_system_fields, writer._write_data_to_file = with_kinds, counted
