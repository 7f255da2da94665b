"""What pypaimon lacks to write a table whose primary key spans partitions. Runs on executors."""

from typing import Any

Partition = tuple[Any, ...]


def allow_spanning_keys(table: Any) -> None:
    """Have the table not refuse its writers; their rows come with buckets."""
    from pypaimon.write.row_key_extractor import UnawareBucketRowKeyExtractor

    table.create_row_key_extractor = lambda **_: UnawareBucketRowKeyExtractor(table.table_schema)


def find_sequences_of_null(store: Any) -> None:
    """Have the writers find the sequence numbers of a partition with a NULL, which no other primary key allows."""
    find = store._load_seq_number_stats
    store._load_seq_number_stats = lambda partition: (
        _sequences(store, partition) if None in partition else find(partition)
    )


def _sequences(store: Any, partition: Partition) -> dict[int, int]:
    """The greatest sequence number of each bucket."""
    builder = store.table.new_read_builder()
    build = builder.new_predicate_builder()
    conditions = [
        build.is_null(name) if value is None else build.equal(name, value)
        for name, value in zip(store.table.partition_keys, partition, strict=True)
    ]
    greatest: dict[int, int] = {}
    for split in builder.with_filter(build.and_predicates(conditions)).new_scan().plan_for_write().splits():
        numbers = (file.max_sequence_number for file in split.files)
        greatest[split.bucket] = max(greatest.get(split.bucket, -1), *numbers)
    return greatest
