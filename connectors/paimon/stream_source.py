"""Paimon tables read as streams: the rows of the table, then those that its snapshots append, each once.

An offset is the number of the last snapshot that was read; 0: none.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from connectors.paimon.paimon_table import opened
from connectors.paimon.split_reading import batches, shared

if TYPE_CHECKING:
    import pyarrow
    from pypaimon.snapshot.snapshot import Snapshot
    from pypaimon.table.file_store_table import FileStoreTable
    from pyspark.sql.datasource import DataSourceStreamReader
    from pyspark.sql.types import StructType

_SNAPSHOT: Final = "snapshot"
_WITHOUT_ROWS: Final = ("COMPACT", "ANALYZE")
"""Snapshots with the same rows as the one before."""


def stream_reader(plan: Mapping[str, Any], schema: "StructType") -> "DataSourceStreamReader":
    """The reader of a table as `paimon_source` describes it in `plan`."""
    from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

    class StreamReader(DataSourceStreamReader):
        def initialOffset(self) -> dict[str, int]:  # noqa: N802 (the names are Spark's)
            return {_SNAPSHOT: 0}

        def latestOffset(self) -> dict[str, int]:  # noqa: N802
            latest = _table(plan).snapshot_manager().get_latest_snapshot()
            return {_SNAPSHOT: latest.id if latest is not None else 0}

        def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> Sequence[Any]:
            splits = appended_splits(_table(plan), start[_SNAPSHOT], end[_SNAPSHOT])
            return [InputPartition(share) for share in shared(splits, plan["tasks"])]

        def read(self, partition: Any) -> Iterator["pyarrow.RecordBatch"]:
            from pyspark.sql.pandas.types import to_arrow_schema

            yield from batches(plan, partition.value, to_arrow_schema(schema))

    return StreamReader()


def appended_splits(table: "FileStoreTable", start: int, end: int) -> list[Any]:
    """The splits of the rows that the table has at the snapshot `end` and had not at `start`. Raises ValueError where a
    snapshot in between replaced or removed rows, or has expired."""
    from pypaimon.manifest.manifest_list_manager import ManifestListManager

    manifests = ManifestListManager(table)
    if start == 0 < end:
        last = _snapshot(table, end)
        return _planned(table, manifests.read_all(last), last)
    snapshots = appending_snapshots(table, start, end)
    return [split for each in snapshots for split in _planned(table, manifests.read_delta(each), each)]


def appending_snapshots(table: "FileStoreTable", start: int, end: int) -> list["Snapshot"]:
    """The snapshots that append rows, past `start`, up to `end`. Raises ValueError as `appended_splits`."""
    snapshots = [_snapshot(table, number) for number in range(start + 1, end + 1)]
    for snapshot in snapshots:
        if snapshot.commit_kind not in ("APPEND", *_WITHOUT_ROWS):
            message = f"snapshot {snapshot.id} of the Paimon table replaces or removes rows: {snapshot.commit_kind}"
            raise ValueError(message)
    return [snapshot for snapshot in snapshots if snapshot.commit_kind == "APPEND"]


def _snapshot(table: "FileStoreTable", number: int) -> "Snapshot":
    snapshot = table.snapshot_manager().get_snapshot_by_id(number)
    if snapshot is None:
        raise ValueError(f"snapshot {number} of the Paimon table has expired before it was read")
    return snapshot


def _planned(table: "FileStoreTable", manifests: Sequence[Any], snapshot: "Snapshot") -> list[Any]:
    from pypaimon.read.scanner.file_scanner import FileScanner

    return list(FileScanner(table, lambda: (manifests, snapshot), predicate=None, limit=None).scan().splits())


def _table(plan: Mapping[str, Any]) -> "FileStoreTable":
    return opened(plan["folder"], plan["schema"], plan["options"])
