"""MySQL and MariaDB as the server of a log: snapshots, and the binary log by the protocol of their replicas.

A snapshot is one transaction; MariaDB says at which position of the log it is, on MySQL a short lock holds it.
"""

import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal as DecimalNumber
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import Diagnostic, RunError, TransientError, run_error
from catalog.types.datatypes import BINARY, BOOLEAN, STRING, TIMESTAMP, DataType, Decimal
from connectors.change_capture.arrow_types import arrow_type
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import LogServer, OpenLog, TableSnapshot, Transaction
from connectors.change_capture.table_shape import ShapeColumn, TableShape
from connectors.jdbc.describe import native_type
from connectors.jdbc.known_dialects import MARIADB
from connectors.mysql_cdc.binlog_events import BinlogReader, MappedTable, TableMap
from connectors.mysql_cdc.row_values import STORED_AS, decoder, time_text

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS: Final = """
select c.table_schema, c.table_name, c.column_name, c.column_type, c.data_type, c.character_set_name,
       c.numeric_precision, c.numeric_scale, c.is_nullable, t.engine, t.table_comment,
       (select k.ordinal_position from information_schema.key_column_usage k
        where k.constraint_name = 'PRIMARY' and k.table_schema = c.table_schema and k.table_name = c.table_name
          and k.column_name = c.column_name)
from information_schema.columns c join information_schema.tables t
  on t.table_schema = c.table_schema and t.table_name = c.table_name
where t.table_type = 'BASE TABLE' and concat(c.table_schema, '.', c.table_name) in ({})
order by c.table_schema, c.table_name, c.ordinal_position
"""
_VARIABLES: Final = {"log_bin": ("ON", "1"), "binlog_format": ("ROW",), "binlog_row_image": ("FULL",)}
_UNREAD: Final = ("json", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
                  "multipolygon", "geometrycollection", "uuid", "inet6", "inet4", "vector")  # fmt: skip
_PART_ROWS: Final = 50_000
_HEARTBEAT_NANOSECONDS: Final = 200_000_000
_SILENCE_SECONDS: Final = 30
_DUMP: Final = b"\x12"
_RIGHTS: Final = "the user needs SELECT on the tables, REPLICATION SLAVE and REPLICATION CLIENT (on MySQL also RELOAD)"


@dataclass(eq=False)
class MysqlServer(LogServer):
    """`settings`: the connection, as pymysql names it. `server_id`: of this reader among the server's replicas.
    `keys`: what identifies rows, where the job says so. `specific`, `earliest_ms`: where a stream may start."""

    settings: Mapping[str, Any] = field(repr=False)
    server_id: int
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    specific: LogPosition | None = None
    earliest_ms: int = 0
    remembered: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def remember(self, table: str, columns: Sequence[tuple[str, str]]) -> None:
        """A log that does not name its columns has them in this order."""
        self.remembered[table] = tuple(columns)

    @property
    def place(self) -> str:
        return f"{self.settings['host']}:{self.settings['port']}"

    def shapes(self, tables: Sequence[str]) -> Mapping[str, TableShape]:
        return {name: described.shape for name, described in self.described(tables).items()}

    def described(self, tables: Sequence[str]) -> dict[str, "TableColumns"]:
        marks = ", ".join(["%s"] * len(tables))
        with self.connected() as connection:
            rows = _rows(connection, _COLUMNS.format(marks), tuple(tables))
        found: dict[str, list[Any]] = {}
        for row in rows:
            found.setdefault(f"{row[0]}.{row[1]}", []).append(row)
        return {table: _described(listed, self.keys.get(table, ())) for table, listed in found.items()}

    def matching(self, pattern: re.Pattern[str]) -> tuple[str, ...]:
        query = (
            "select concat(table_schema, '.', table_name) from information_schema.tables where table_type = "
            "'BASE TABLE' and table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')"
        )
        with self.connected() as connection:
            return tuple(sorted(row[0] for row in _rows(connection, query) if pattern.fullmatch(row[0])))

    def prepare(self, tables: Sequence[str], *, is_begun: bool) -> None:
        with self.connected() as connection:
            for name, allowed in _VARIABLES.items():
                found = _rows(connection, "show global variables like %s", (name,))
                if found and str(found[0][1]).upper() not in allowed:
                    message = f"`{self.place}` has {name} = {found[0][1]}, and captured changes need {allowed[0]}"
                    raise run_error("PEN5490", message, None, f"set {name} = {allowed[0]} for the server")
        described = self.described(tables)
        for table in tables:
            _check_table(table, described.get(table), self.place)

    @contextmanager
    def snapshot(self, table: str) -> Iterator[TableSnapshot]:
        described = self.described([table])[table]
        with self.connected() as connection, connection.cursor() as cursor:
            cursor.execute("set session transaction isolation level repeatable read")
            at = self._begun(cursor)
            yield TableSnapshot(at, described.shape, self._parts(connection, described))
            cursor.execute("rollback")

    def start(self, mode: str) -> LogPosition:
        if mode == "specific":
            assert self.specific is not None, "is checked before"
            return self.specific
        if mode == "latest":
            return self.now()
        files = self._files()
        if not files:
            raise run_error("PEN5490", f"`{self.place}` has no binary log", None, "`log_bin` turns it on")
        return LogPosition.parse(f"{min(files)}:4")

    def now(self) -> LogPosition:
        with self.connected() as connection, connection.cursor() as cursor:
            return self._end(cursor)

    def refuse_lost(self, table: str, start: LogPosition, confirmed: LogPosition) -> None:
        files = self._files()
        at = max(start, confirmed)
        if at.log_file in files and files[at.log_file] >= at.offset:
            return
        first = min(files) if files else "none"
        reason = "has purged its log up to" if at.log_file < first else "has another log, which begins with"
        message = f"`{self.place}` {reason} {first}: changes of `{table}` after {at} are lost"
        help = "begin anew with a snapshot: name another checkpoint, `env { stream.checkpoint = … }`"
        raise run_error("PEN5494", message, None, help)

    def open(self, start: LogPosition, tables: Sequence[str]) -> OpenLog:
        return _OpenBinlog(self, start, tables)

    def arrow(self, values: Sequence[Any], column: ShapeColumn) -> "pa.Array":
        return as_array(values, column.type)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        import pymysql

        connection = self.connect()
        try:
            yield connection
        except pymysql.MySQLError as error:
            raise _refused(self.place, error) from error
        finally:
            with suppress(Exception):
                connection.close()

    def connect(self) -> Any:
        """A connection of pymysql, in UTC. Raises PEN5012 where there is none."""
        import pymysql

        try:
            return pymysql.connect(
                **self.settings, charset="utf8mb4", autocommit=True, init_command="set session time_zone = '+00:00'"
            )
        except pymysql.MySQLError as error:
            raise _refused(self.place, error) from error

    def _files(self) -> dict[str, int]:
        """The files of the log, with their sizes."""
        with self.connected() as connection:
            return {row[0]: int(row[1]) for row in _rows(connection, "show binary logs")}

    def _begun(self, cursor: Any) -> LogPosition:
        """Begin a transaction with a consistent snapshot; where in the log it is."""
        cursor.execute("show status like 'binlog_snapshot_%'")
        if cursor.fetchall():  # MariaDB
            cursor.execute("start transaction with consistent snapshot")
            cursor.execute("show status like 'binlog_snapshot_%'")
            found = {name.lower(): value for name, value in cursor.fetchall()}
            return LogPosition.parse(f"{found['binlog_snapshot_file']}:{found['binlog_snapshot_position']}")
        cursor.execute("flush tables with read lock")
        try:
            cursor.execute("start transaction with consistent snapshot")
            return self._end(cursor)
        finally:
            cursor.execute("unlock tables")

    def _end(self, cursor: Any) -> LogPosition:
        import pymysql

        try:
            cursor.execute("show master status")
        except pymysql.MySQLError:  # MySQL 8.4
            cursor.execute("show binary log status")
        row = cursor.fetchone()
        if row is None:
            raise run_error("PEN5490", f"`{self.place}` has no binary log", None, "`log_bin` turns it on")
        return LogPosition.parse(f"{row[0]}:{row[1]}")

    def _parts(self, connection: Any, described: "TableColumns") -> "Iterator[pa.Table]":
        import pyarrow as pa
        from pymysql.cursors import SSCursor

        shape = described.shape
        listed = ", ".join(
            _read_as(name, column_type) for name, column_type in zip(shape.names, described.column_types, strict=True)
        )
        readers = [_reader(column_type) for column_type in described.column_types]
        with connection.cursor(SSCursor) as cursor:
            cursor.execute(f"select {listed} from {'.'.join(map(_quoted, shape.name))}")
            while rows := cursor.fetchmany(_PART_ROWS):
                arrays = []
                for place, column in enumerate(shape.columns):
                    arrays.append(_checked([row[place] for row in rows], readers[place], column, shape))
                yield pa.table(arrays, names=list(shape.names))


@dataclass(frozen=True, slots=True)
class TableColumns:
    """A table and how the server describes its columns: their whole types, character sets, and the table's engine."""

    shape: TableShape
    column_types: tuple[str, ...]
    charsets: tuple[str | None, ...]
    engine: str


class _OpenBinlog(OpenLog):
    """The log from a position at the end of a transaction, as a replica receives it."""

    def __init__(self, server: MysqlServer, start: LogPosition, tables: Sequence[str]) -> None:
        self.server = server
        self.known = server.described(tables)
        self.changed: dict[str, str] = {}
        self.checksum = 0
        self.connection = server.connect()
        self.socket: socket.socket = self.connection._sock
        self._ask(start)
        self.reader = BinlogReader(start, frozenset(tables), self._mapped, self._altered)
        self.reader.earliest_ms = server.earliest_ms
        self.buffer = bytearray()
        self.packet = bytearray()
        self.heard = time.monotonic()

    def next(self, seconds: float) -> Transaction | None:
        until = time.monotonic() + seconds
        while True:
            packet = self._packet(until)
            if packet is None:
                if time.monotonic() - self.heard > _SILENCE_SECONDS:
                    raise ConnectionError("the server has sent nothing, not even a sign of life")
                return None
            self.heard = time.monotonic()
            if packet[0] == 0xFF:
                raise self._error(packet)
            if packet[0] == 0xFE and len(packet) < 9:
                raise ConnectionError("the server has ended the log")
            transaction = self.reader.read(packet[1 : len(packet) - self.checksum])
            if transaction is not None:
                return transaction

    def confirm(self, position: LogPosition) -> None:
        """A server keeps its log for a time, whatever has been read."""

    def close(self) -> None:
        with suppress(Exception):
            self.connection._force_close()

    def _ask(self, start: LogPosition) -> None:
        import pymysql

        try:
            with self.connection.cursor() as cursor:
                cursor.execute("show global variables like 'binlog_checksum'")
                found = cursor.fetchone()
                self.checksum = 4 if found is not None and str(found[1]).upper() != "NONE" else 0
                for name in ("master", "source") if self.checksum else ():
                    cursor.execute(f"set @{name}_binlog_checksum = @@global.binlog_checksum")
                cursor.execute("set @mariadb_slave_capability = 4")
                for name in ("master", "source"):
                    cursor.execute(f"set @{name}_heartbeat_period = {_HEARTBEAT_NANOSECONDS}")
            command = (
                _DUMP
                + start.offset.to_bytes(4, "little")
                + b"\0\0"
                + self.server.server_id.to_bytes(4, "little")
                + start.log_file.encode()
            )
            self.connection._next_seq_id = 0
            self.connection._write_bytes(len(command).to_bytes(3, "little") + b"\0" + command)
        except pymysql.OperationalError as error:
            raise ConnectionError(str(error)) from error

    def _packet(self, until: float) -> bytes | None:
        """The next packet; None where it has not come whole by then."""
        while True:
            if len(self.buffer) >= 4:
                size = int.from_bytes(self.buffer[:3], "little")
                if len(self.buffer) >= 4 + size:
                    self.packet += self.buffer[4 : 4 + size]
                    del self.buffer[: 4 + size]
                    if size < 0xFFFFFF:
                        whole, self.packet = bytes(self.packet), bytearray()
                        return whole
                    continue
            self.socket.settimeout(max(until - time.monotonic(), 0.001))
            try:
                received = self.socket.recv(262_144)
            except (TimeoutError, BlockingIOError):
                return None
            if not received:
                raise ConnectionError("the server has closed the connection")
            self.buffer += received

    def _error(self, packet: bytes) -> Exception:
        number = int.from_bytes(packet[1:3], "little")
        text = packet[9:].decode(errors="replace")
        if number == 1236 and re.search(r"(?i)could not find|purged|not find first log|impossible position", text):
            message = f"`{self.server.place}` no longer has the log after {self.reader.position}: {text}"
            help = "begin anew with a snapshot: name another checkpoint, `env { stream.checkpoint = … }`"
            return run_error("PEN5494", message, None, help)
        if number == 1236:
            return ConnectionError(text)
        return run_error("PEN5490", f"`{self.server.place}` does not send its log: {text}", None, _RIGHTS)

    def _altered(self, table: str, statement: str) -> TableShape:
        """Remember that a statement has changed a table: what it has changed is seen at its next rows."""
        if not keeps_columns(statement):
            self.changed[table] = statement
            self.reader.forget_maps()
        return self.known[table].shape

    def _mapped(self, found: TableMap) -> MappedTable:
        """The columns of a table's rows. Raises PEN5492 where they are not known for certain."""
        known = self.known[found.table]
        statement = self.changed.get(found.table)
        before = self.server.remembered.get(found.table)
        columns = tuple((column.name, column.native) for column in known.shape.columns)
        if found.names is None and before is not None and before != columns:
            message = f"the columns of `{found.table}` are not those of when its stream began, and the log has no names"
            help = "begin anew with a snapshot: name another checkpoint, `env { stream.checkpoint = … }`"
            raise run_error("PEN5492", message, None, help)
        if statement is not None or not _fits(found, known):
            current = self.server.described([found.table]).get(found.table)
            is_certain = found.names is not None or (
                current is not None
                and current.shape == known.shape
                and not (statement and re.search(r"(?i)\b(rename|change)\b", statement))
            )
            if current is None or not is_certain or not _fits(found, current):
                message = f"the columns of `{found.table}` have changed" + (
                    f" by `{statement[:120].strip()}`" if statement else ""
                )
                help = (
                    "begin anew with a snapshot: name another checkpoint, `env { stream.checkpoint = … }`; with "
                    "`binlog_row_metadata = FULL`, the log names its columns"
                )
                raise run_error("PEN5492", f"{message}, and the log does not name them", None, help)
            self.known[found.table] = known = current
            self.changed.pop(found.table, None)
        try:
            decoders = tuple(
                decoder(code, meta, column_type, charset)
                for code, meta, column_type, charset in zip(
                    found.codes, found.metas, known.column_types, known.charsets, strict=True
                )
            )
        except ValueError as error:
            raise run_error("PEN5490", f"`{found.table}` cannot be captured: {error}") from error
        return MappedTable(known.shape, decoders)


def keeps_columns(statement: str) -> bool:
    """Whether a statement certainly leaves the columns of its table as they are, such as one about indexes."""
    text = re.sub(r"(?s)^\s*(?:/\*.*?\*/\s*)+", "", statement).strip()
    if re.match(r"(?i)(truncate|(create|drop)\s+(or\s+replace\s+)?((unique|fulltext|spatial)\s+)?index)\b", text):
        return True
    altered = re.match(r"(?is)alter\s+(?:online\s+|ignore\s+)*table\s+\S+\s+(.*)\Z", text)
    if altered is None:
        return False
    clauses = re.sub(r"\([^()]*\)", "", altered[1]).split(",")
    return all(_WITHOUT_COLUMNS.match(clause) for clause in clauses)


_WITHOUT_COLUMNS: Final = re.compile(
    r"(?i)\s*(?:(?:add|drop)\s+(?:unique|index|key|fulltext|spatial|constraint|foreign|check|partition)\b"
    r"|(?:comment|auto_increment|engine|row_format|algorithm|lock)\s*=?)"
)


def as_array(values: Sequence[Any], type: DataType) -> "pa.Array":
    """Values of the log or of a snapshot as an array of a type. Raises ValueError for one that it cannot hold."""
    import pyarrow as pa

    if type == BOOLEAN:
        values = [None if value is None else bool(value) for value in values]
    elif isinstance(type, Decimal):
        values = [DecimalNumber(value) if isinstance(value, int) else value for value in values]
    elif type == STRING:
        values = [format(value, "f") if isinstance(value, DecimalNumber) else value for value in values]
    elif type == TIMESTAMP:
        return pa.array([None if value is None else value.replace(tzinfo=None) for value in values],
                        pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))  # fmt: skip
    elif type == BINARY:
        values = [value.encode() if isinstance(value, str) else value for value in values]
    try:
        return pa.array(values, arrow_type(type))
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


def _described(rows: Sequence[Any], given: tuple[str, ...]) -> TableColumns:
    schema, table = rows[0][0], rows[0][1]
    columns = tuple(_column(row) for row in rows)
    primary = tuple(row[2] for row in sorted((row for row in rows if row[11] is not None), key=lambda row: row[11]))
    names = [column.name for column in columns]
    keys = given or primary
    missing = [key for key in keys if key not in names]
    if missing:
        raise run_error("PEN5492", f"`{schema}.{table}` has no column `{missing[0]}`, which identifies its rows")
    shape = TableShape((schema, table), columns, tuple(names.index(key) for key in keys), rows[0][10] or None)
    charsets = tuple(row[5] for row in rows)
    return TableColumns(shape, tuple(str(row[3]).lower() if "(" not in str(row[3]) else str(row[3]) for row in rows),
                        charsets, str(rows[0][9] or ""))  # fmt: skip


def _column(row: Sequence[Any]) -> ShapeColumn:
    column_type, kind = str(row[3]), str(row[4]).lower()
    unsigned = " unsigned" if "unsigned" in column_type else ""
    size, digits = row[6], row[7]
    if kind == "tinyint":
        size = 1 if column_type.startswith("tinyint(1)") else 3
    native = native_type(MARIADB, f"{kind}{unsigned}", None if size is None else int(size),
                         None if digits is None else int(digits))  # fmt: skip
    shown = column_type if kind in ("decimal", "enum", "set", "bit") or column_type.startswith("tinyint(1)") else kind
    return ShapeColumn(row[2], native, shown + ("" if "unsigned" in shown else unsigned), row[8] == "YES")


def _fits(found: TableMap, known: TableColumns) -> bool:
    """Whether the columns of a table map can be those that are known."""
    if len(found.codes) != len(known.column_types):
        return False
    if found.names is not None and found.names != known.shape.names:
        return False
    for code, meta, column_type in zip(found.codes, found.metas, known.column_types, strict=True):
        kind = re.match(r"\w+", column_type)
        stored = STORED_AS.get(meta[0] if code == 254 and meta[0] in (247, 248) else code, ())
        if kind is None or (kind[0].lower() not in stored and kind[0].lower() not in _UNREAD):
            return False
    return True


def _check_table(table: str, found: TableColumns | None, place: str) -> None:
    if found is None:
        help = "a table is named `database.table`"
        raise run_error("PEN5004", f"`{place}` has no table `{table}` that this user can see", None, help)
    if found.engine.lower() != "innodb":
        message = f"`{table}` is stored by {found.engine}, of which there are no consistent snapshots"
        raise run_error("PEN5490", message, None, f"`ALTER TABLE {table} ENGINE = InnoDB`")
    for column_type, column in zip(found.column_types, found.shape.columns, strict=True):
        kind = re.match(r"\w+", column_type)
        if kind and kind[0].lower() in _UNREAD:
            message = f"`{table}`.`{column.name}` is {column_type}, which is not read from the log"
            raise run_error("PEN5490", message, None, "read the table by a batch job of `Jdbc`, or leave it out")


def _read_as(name: str, column_type: str) -> str:
    """A column in the query of a snapshot: what a text of MySQL would round is read in full."""
    quoted = _quoted(name)
    if column_type.startswith("float"):
        return f"{quoted} + 0e0"
    if column_type.startswith("time") and not column_type.startswith("timestamp"):
        return f"cast({quoted} as char)"
    if column_type.startswith("bit"):
        return f"{quoted} + 0"
    return quoted


def _reader(column_type: str) -> Any:
    """What makes a value of pymysql one of the log."""
    if column_type.startswith(("date", "timestamp")):
        return _dated
    if column_type.startswith("time"):
        digits = re.search(r"\((\d)\)", column_type)
        return lambda value: _time(value, int(digits[1]) if digits else 0)
    return lambda value: value


def _dated(value: Any) -> Any:
    if isinstance(value, str):  # pymysql cannot read it
        raise ValueError(f"{value} is no date")
    return value


def _time(value: Any, digits: int) -> str:
    if isinstance(value, timedelta):
        return time_text(value // timedelta(microseconds=1), digits)
    return str(value)


def _checked(values: Sequence[Any], read: Any, column: ShapeColumn, shape: TableShape) -> "pa.Array":
    try:
        return as_array([None if value is None else read(value) for value in values], column.type)
    except (ValueError, TypeError, OverflowError) as error:
        message = f"a value of `{shape.text}`.`{column.name}` ({column.native}) is not {column.type}: {error}"
        raise run_error("PEN5495", message) from error


def _rows(connection: Any, query: str, values: Sequence[Any] = ()) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query, values or None)
        return list(cursor.fetchall())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _refused(place: str, error: Exception) -> RunError:
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    text = str(error.args[1] if len(error.args) > 1 else error).strip()
    if number in (0, 1040, 1053, 1205, 1213, 2002, 2003, 2006, 2013, 2055):
        help = "check `url`, `user` and `password`, and that the database can be reached from here"
        return TransientError([Diagnostic("PEN5012", f"`{place}` cannot be reached: {text}", None, help)])
    if number in (1044, 1045, 1049):
        return run_error("PEN5012", f"`{place}` cannot be reached: {text}", None, "check `url`, `user` and `password`")
    return run_error("PEN5490", f"`{place}` cannot be captured: {text}", None, _RIGHTS)
