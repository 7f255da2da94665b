"""What a captured table's stream keeps next to its checkpoint: the snapshot that its first micro-batch reads.

<folder>/begun.json        the stream has had the server keep its log
<folder>/snapshot.json     the snapshot is whole: its position, its columns, and the directory of its rows
<folder>/rows-<id>         the rows, as Parquet, until they are committed

A snapshot is taken once: a first micro-batch that comes again after a kill has the same rows.
"""

import json
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from catalog.tables.ddl import columns_to_ddl
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import LogServer
from connectors.change_capture.table_shape import TableShape
from connectors.storage.filesystem import Files, as_uri

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, eq=False, slots=True)
class StoredSnapshot:
    """`at`: where the log goes on; `data`: the directory of the rows, None where the stream has begun without them.
    `columns`: the columns of the table at this position, with the database's types; `identity`: of the stream."""

    at: LogPosition
    data: str | None
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False, slots=True)
class SourceFolder:
    """The folder of one table's stream."""

    files: Files
    folder: str

    def is_begun(self, identity: str) -> bool:
        """Whether the stream, or another one of its job, has had the server keep the log that `identity` names."""
        root = self.folder.rsplit("/", 2)[0]
        streams = (f"{root}/{name}/source/begun.json" for name in self.files.children(root))
        records = (json.loads(self.files.read(path)) for path in streams if self.files.exists(path))
        return any(record["log"] == identity for record in records)

    def begin(self, identity: str) -> None:
        self.files.write(f"{self.folder}/begun.json", json.dumps({"log": identity}))

    def snapshot(self) -> StoredSnapshot | None:
        values = self._json("snapshot.json")
        if values is None:
            return None
        columns = tuple((name, native) for name, native in values["columns"])
        return StoredSnapshot(LogPosition.parse(values["at"]), values["data"], columns)

    def confirmed(self) -> LogPosition | None:
        values = self._json("read.json")
        return None if values is None else LogPosition.parse(values["at"])

    def confirm(self, position: LogPosition) -> None:
        self.files.write(f"{self.folder}/read.json", json.dumps({"at": str(position)}))

    def start_at(self, at: LogPosition, shape: TableShape) -> StoredSnapshot:
        """Begin without a snapshot."""
        return self._store(StoredSnapshot(at, None, _columns(shape)))

    def take(self, spark: "SparkSession", server: LogServer, table: str) -> StoredSnapshot:
        """Store the rows of a table. What an interrupted attempt has left is removed."""
        for name in self.files.children(self.folder):
            if name.startswith("rows-"):
                self.files.delete(f"{self.folder}/{name}")
        data = f"{self.folder}/rows-{token_hex(6)}"
        with server.snapshot(table) as snapshot:
            ddl = columns_to_ddl(snapshot.shape.as_table().columns)
            wanted = spark.createDataFrame([], ddl)
            wanted.write.parquet(as_uri(data))
            for part in snapshot.parts:
                spark.createDataFrame(part, wanted.schema).write.mode("append").parquet(as_uri(data))
        return self._store(StoredSnapshot(snapshot.at, data.rpartition("/")[2], _columns(snapshot.shape)))

    def rows(self, spark: "SparkSession", data: str) -> "DataFrame":
        return spark.read.parquet(as_uri(f"{self.folder}/{data}"))

    def forget_rows(self) -> None:
        """Remove the rows, which are committed."""
        stored = self.snapshot()
        if stored is not None and stored.data is not None:
            self.files.delete(f"{self.folder}/{stored.data}")

    def _store(self, stored: StoredSnapshot) -> StoredSnapshot:
        values = {"at": str(stored.at), "data": stored.data, "columns": stored.columns}
        self.files.write(f"{self.folder}/snapshot.json", json.dumps(values))
        return stored

    def _json(self, name: str) -> Any:
        path = f"{self.folder}/{name}"
        return json.loads(self.files.read(path)) if self.files.exists(path) else None


def _columns(shape: TableShape) -> tuple[tuple[str, str], ...]:
    return tuple((column.name, column.native) for column in shape.columns)
