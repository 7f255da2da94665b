"""A source of the changes of tables: a snapshot, then the log, each change once.

The driver reads the log of a server in one thread for all tables of a job (`log_reader`); a micro-batch of a table is
the range of the log between two offsets of Spark's checkpoint, so that one that comes again has the same rows.
"""

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, ClassVar, Final
from weakref import WeakValueDictionary

from catalog.diagnostics.diagnostic import Diagnostics, PenstockError, run_error
from catalog.options import Options, Value
from catalog.tables.table import CatalogTable, Column, TablePath
from connectors.change_capture.arrived_rows import WantedRows, kind_rows, rows_of, with_declared
from connectors.change_capture.capture_options import (
    ONE_TABLE,
    SCHEMA_CHANGES,
    check_capture,
    keys_given,
    path_of_table,
    pattern_given,
    tables_named,
)
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_reader import LogReader
from connectors.change_capture.log_server import LogServer
from connectors.change_capture.log_tail import LogTail
from connectors.change_capture.offset_source import AT, OF, asked, markers
from connectors.change_capture.stored_snapshot import SourceFolder, StoredSnapshot
from connectors.change_capture.table_shape import RowChange
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.source import ScanTask, Source, SourceCapabilities, StreamState
from connectors.interface.source_abilities import (
    SupportsAcknowledgement,
    SupportsNewColumns,
    SupportsStreaming,
    SupportsTablePatterns,
    SupportsTableSets,
)
from connectors.jdbc.connection import check_connection, connection_of, jars_of
from connectors.jdbc.reading import Reading, read
from connectors.jdbc.table_location import location_of
from connectors.shared.spark_types import columns_of
from connectors.shared.staged import Staged
from connectors.storage.filesystem import files_at

if TYPE_CHECKING:
    import re

    from pyspark.sql import DataFrame, SparkSession

_READERS: "Final[WeakValueDictionary[str, LogReader]]" = WeakValueDictionary()
"""The readers that are running, each kept by its thread, by the job's checkpoints and the server."""


@dataclass(frozen=True, slots=True)
class CapturePosition(Staged):
    """Up to where a micro-batch has read the log; `of`: the folder of its stream."""

    of: str
    at: str


class CaptureSource(
    Source,
    SupportsTableSets,
    SupportsTablePatterns,
    SupportsStreaming,
    SupportsNewColumns,
    SupportsAcknowledgement[CapturePosition],
):
    """The base of the sources of one database each."""

    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=False)
    position_type: ClassVar[type[Staged]] = CapturePosition

    @abstractmethod
    def full_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        """The parts by which the log names a table, of its name as the job writes it."""

    @abstractmethod
    def shown_name(self, name: tuple[str, ...], options: Options) -> tuple[str, ...]:
        """The name with its database, as sinks see it."""

    @abstractmethod
    def server(self, options: Options, keys: Mapping[str, tuple[str, ...]]) -> LogServer:
        """The server of a block; `keys`: what identifies the rows of its tables, where the job says so."""

    @abstractmethod
    def matching(self, options: Options, pattern: "re.Pattern[str]") -> tuple[str, ...]:
        """The tables of the server that match."""

    @abstractmethod
    def log_identity(self, options: Options) -> str:
        """The server, and who reads its log."""

    def check(self, options: Options, diagnostics: Diagnostics) -> None:
        """Report options of this connector alone."""

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        mark = diagnostics.mark()
        check_connection(options, diagnostics)
        check_capture(options, diagnostics)
        if not mark.has_errors:
            self.check(options, diagnostics)
        table = declared_table(options, "changes", diagnostics) or CatalogTable.unknown("changes")
        return (replace(table, has_row_kind=True),)

    def jars(self, options: Options) -> tuple[str, ...]:
        return jars_of(options)

    def table_path(self, options: Options) -> TablePath | None:
        named = tables_named(options, Diagnostics())
        return path_of_table(self.shown_name(named[0], options)) if len(named) == 1 else None

    def expand(self, options: Options, diagnostics: Diagnostics) -> tuple[Options, ...] | None:
        named = tables_named(options, diagnostics)
        if len(named) < 2:
            return None
        return tuple(self.of_table(options, _written(name)) for name in named)

    def table_pattern(self, options: Options) -> "re.Pattern[str] | None":
        return pattern_given(options)

    def matching_tables(self, spark: "SparkSession", options: Options) -> tuple[str, ...]:
        pattern = pattern_given(options)
        assert pattern is not None, "is called where there is one"
        return self.matching(options, pattern)

    def of_table(self, options: Options, path: str) -> Options:
        return replace(options, values={**options.values, ONE_TABLE: path})

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        table, server = self._table(options), self._server(options)
        shape = server.shapes([table]).get(table)
        if shape is None:
            raise run_error("PEN5004", f"`{server.place}` has no table `{table}` that this user can see")
        return shape.as_table()

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        named = tables_named(options, Diagnostics())
        if len(named) != 1 or not check_connection(options, Diagnostics()):
            return None
        return location_of(connection_of(options), self.full_name(named[0], options))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        """The rows as they are now: what a batch job reads."""
        named = self.full_name(tables_named(task.options, Diagnostics())[0], task.options)
        declared = replace(task.table, has_row_kind=False)
        df = read(spark, Reading(connection_of(task.options), named), declared)
        rows = with_declared(df, columns_of(df.schema), declared)
        return rows if task.table.is_open else task.selected(rows)

    def position(self, spark: "SparkSession", options: Options) -> CapturePosition | None:
        return None

    def stream_identity(self, options: Options) -> str:
        return f"{self.log_identity(options)} {self._table(options)}"

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        assert task.state is not None, "is the only source of its stream"
        options, table = task.options, self._table(task.options)
        source = SourceFolder(*files_at(spark, task.state.folder))
        server = self._server(options)
        _stop_tail(source.folder)
        key = f"{source.folder.rsplit('/', 2)[0]} {self.log_identity(options)}"
        reader = _reader(key, server, self._expected(options), options)
        with reader.holding():
            stored = self._begun(spark, source, server, options)
            tail = self._tail(source, stored, table, task.state, self.stream_identity(options))
            if tail.reached is not None and tail.reached > stored.at:
                source.forget_rows()
            server.refuse_lost(table, tail.seen, tail.confirmed)
            reader.server.remember(table, stored.columns)
            reader.add(tail)
        if task.state.ends and not is_new:
            reader.most_ahead = 2**62  # what is there is one micro-batch, or more
            reader.wait_until(tail, server.now())
        return markers(spark, tail.offers)

    def arrived(self, spark: "SparkSession", task: ScanTask, batch: "DataFrame") -> "DataFrame":
        reader, tail, start, end = _range(task.position, batch)
        stored = tail.source.snapshot()
        assert stored is not None, "the stream has begun"
        options, table = task.options, task.table
        if not start:
            with reader.changed:
                tail.reached = max(end, tail.reached) if tail.reached is not None else end
                tail.offer()
            rows = _snapshot_rows(spark, tail.source, stored, table)
            return rows if table.is_open else task.selected(rows)
        changes = _changes(reader, tail, LogPosition.parse(start), end)
        wanted = WantedRows(
            table,
            stored.columns,
            "schema" in options.places,
            options.flag(SCHEMA_CHANGES),
            str(options["changes"]).lower() == "all",
            options.span(),
        )
        shape = changes[-1].shape if changes else reader.server.shapes([tail.table])[tail.table]
        rows = rows_of(spark, reader.server, shape, kind_rows(changes, wanted.has_all), wanted)
        return rows if table.is_open else task.selected(rows)

    def stream_position(self, options: Options, offsets: str) -> CapturePosition | None:
        values = json.loads(offsets)
        return CapturePosition(values[OF], values[AT]) if values.get(AT) else None

    def acknowledge(self, spark: "SparkSession", position: CapturePosition, run: RunContext) -> None:
        """Where no reader is running, the stream's checkpoint has the position, and its next reader confirms it."""
        found = _running(position.of)
        if found is None:
            return
        reader, tail = found
        at = LogPosition.parse(position.at)
        reader.commit(tail, at)
        if at == tail.first:
            tail.source.forget_rows()

    def is_bounded(self, options: Options) -> bool:
        return str(options["stop.mode"]).lower() == "latest"

    def stream_failure(self, options: Options) -> PenstockError | None:
        identity = self.stream_identity(options)
        tails = ((reader, tail) for reader in list(_READERS.values()) for tail in list(reader.tails.values()))
        return next((reader.error for reader, tail in tails if tail.identity == identity and reader.error), None)

    def close_stream(self, options: Options) -> None:
        identity = self.stream_identity(options)
        for reader in list(_READERS.values()):
            for tail in [tail for tail in reader.tails.values() if tail.identity == identity]:
                _stop_tail(tail.of)

    def streamed_rows_obstacle(self, options: Options, table: CatalogTable) -> str | None:
        return "changes of a table are rows with kinds, which only sinks apply"

    def follows_schema(self, options: Options) -> bool:
        return options.flag(SCHEMA_CHANGES)

    def new_columns(self, task: ScanTask, batch: "DataFrame") -> tuple[Column, ...]:
        if task.table.is_open:
            return ()
        reader, tail, start, end = _range(task.position, batch)
        if not start:
            return ()
        found: dict[str, Column] = {}
        for change in _changes(reader, tail, LogPosition.parse(start), end):
            for column in change.shape.columns:
                if task.table.column(column.name) is None:
                    found.setdefault(column.name, Column(column.name, column.type))
        return tuple(found.values())

    def with_columns(self, options: Options, table: CatalogTable, columns: Sequence[Column]) -> Options:
        from catalog.types.typenames import to_ddl

        listed: list[Value] = [
            {"name": column.name, "type": to_ddl(column.type), "nullable": column.nullable}
            for column in (*table.columns, *columns)
        ]
        key = table.schema.primary_key
        schema: dict[str, Value] = {**options.mapping("schema"), "columns": listed}
        schema.pop("fields", None)
        if key is not None:
            schema["primaryKey"] = {"columnNames": [*key.columns]}
        return replace(options, values={**options.values, "schema": schema})

    def _table(self, options: Options) -> str:
        return ".".join(self.full_name(tables_named(options, Diagnostics())[0], options))

    def _server(self, options: Options) -> LogServer:
        keys = keys_given(options, Diagnostics())
        return self.server(options, {".".join(self.full_name(name, options)): named for name, named in keys.items()})

    def _expected(self, options: Options) -> frozenset[str]:
        """The tables that read the log together; none where a pattern names them."""
        whole = replace(options, values={**options.values, ONE_TABLE: None})
        return frozenset(".".join(self.full_name(name, options)) for name in tables_named(whole, Diagnostics()))

    def _begun(
        self, spark: "SparkSession", source: SourceFolder, server: LogServer, options: Options
    ) -> StoredSnapshot:
        """The stream's beginning: what an earlier run has stored, else a new snapshot, or a position of the log."""
        table = self._table(options)
        if (stored := source.snapshot()) is not None:
            return stored
        identity = self.log_identity(options)
        is_begun = source.is_begun(identity)
        source.begin(identity)
        server.prepare(sorted({table, *self._expected(options)}), is_begun=is_begun)
        mode = str(options["startup.mode"]).lower()
        if mode == "initial":
            return source.take(spark, server, table)
        return source.start_at(server.start(mode), server.shapes([table])[table])

    @staticmethod
    def _tail(source: SourceFolder, stored: StoredSnapshot, table: str, state: StreamState, identity: str) -> LogTail:
        before, reached = _offset(state.before), _offset(state.reached)
        confirmed = source.confirmed() or stored.at
        start = max(before or stored.at, stored.at)
        first = stored.at if stored.data is not None and reached is None else None
        offers = Path(mkdtemp(prefix="penstock-log-"), "offer.json")
        return LogTail(
            table,
            identity,
            source,
            str(offers),
            first=stored.at,
            reached=None if first is not None else reached or stored.at,
            committed=start,
            seen=max(start, confirmed),
            confirmed=confirmed,
            begins_empty=stored.data is not None,
        )


def _reader(key: str, server: LogServer, expected: Iterable[str], options: Options) -> LogReader:
    found = _READERS.get(key)
    if found is not None and found.error is None and not found.closing.is_set():
        return found
    reader = LogReader(server, expected, most_ahead=options.integer("max_changes"))
    _READERS[key] = reader
    return reader


def _running(of: str) -> tuple[LogReader, LogTail] | None:
    pairs = ((reader, tail) for reader in list(_READERS.values()) for tail in list(reader.tails.values()))
    return next(((reader, tail) for reader, tail in pairs if tail.of == of), None)


def _stop_tail(of: str) -> None:
    """Read a table no longer, for a stream that has ended or begins again."""
    import shutil

    found = _running(of)
    if found is not None:
        reader, tail = found
        reader.remove(tail.table)
        shutil.rmtree(Path(tail.offers).parent, ignore_errors=True)


def _offset(text: str | None) -> LogPosition | None:
    at = json.loads(text).get(AT) if text else None
    return LogPosition.parse(at) if at else None


def _range(position: Staged | None, batch: "DataFrame") -> tuple[LogReader, LogTail, str, LogPosition]:
    """The reader of a micro-batch, and the offsets between which its changes are: as Spark's process of the source has
    left them, else as its marker says."""
    found = _running(position.of) if isinstance(position, CapturePosition) else None
    begun = asked(found[1].offers) if found is not None else None
    if found is None or begun is None or not isinstance(position, CapturePosition) or begun[1] != position.at:
        row = batch.first()
        assert row is not None, "a micro-batch has a marker"
        found, begun = _running(row[0]), (row[1], row[2])
    if found is None:
        raise run_error("PEN5490", "the log is not read any more by the stream that began this micro-batch")
    return *found, begun[0], LogPosition.parse(begun[1])


def _changes(reader: LogReader, tail: LogTail, start: LogPosition, end: LogPosition) -> list[RowChange]:
    try:
        return reader.changes(tail, start, end)
    except LookupError as error:
        message = f"changes of `{tail.table}` after {start} are needed again, and are confirmed up to {tail.committed}"
        raise run_error("PEN5494", message) from error


def _snapshot_rows(
    spark: "SparkSession", source: SourceFolder, stored: StoredSnapshot, table: CatalogTable
) -> "DataFrame":
    assert stored.data is not None, "the first offset is that before a snapshot"
    df = source.rows(spark, stored.data)
    return with_declared(df, columns_of(df.schema), replace(table, has_row_kind=False))


def _written(name: Sequence[str]) -> str:
    from connectors.jdbc.table_names import quoted_name

    return quoted_name(tuple(name))
