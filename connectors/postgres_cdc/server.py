"""PostgreSQL as the server of a log: its slot and publication, snapshots, and the replication protocol by libpq.

A table's snapshot is read under the snapshot that a temporary slot exports when it is made: the position of that slot
is where the log goes on, without a gap and without repeats.
"""

import io
import re
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import Diagnostic, RunError, TransientError, run_error
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import LogServer, OpenLog, TableSnapshot, Transaction
from connectors.change_capture.table_shape import ShapeColumn, TableShape
from connectors.postgres_cdc.descriptions import NativeTypes, TableDescription, describe, relation_shape
from connectors.postgres_cdc.pgoutput import LoggedRelation, PgoutputReader
from connectors.postgres_cdc.text_values import SESSION, from_texts

if TYPE_CHECKING:
    import pyarrow as pa

_DATA: Final = Struct("!cQQq")
_KEEPALIVE: Final = Struct("!cQqB")
_STATUS: Final = Struct("!cQQQqB")
_EPOCH: Final = 946_684_800
"""Seconds of 2000-01-01, where PostgreSQL's clock begins."""
_PART_BYTES: Final = 16 * 2**20
COMMITTED_OFFSET: Final = "committed-offset"
_BUSY_SECONDS: Final = 90
"""How long a slot may be in use by the connection of a killed driver, which the server has yet to notice."""
_RIGHTS: Final = (
    "the server needs `wal_level = logical`, and the user the right REPLICATION and ownership of the tables, or a "
    "publication that somebody else has made: `publication.name`"
)


@dataclass(eq=False)
class PostgresServer(LogServer):
    """`settings`: the connection, as libpq names it. `keys`: what identifies rows, where the job says so.
    `takes_slot`: the stream begins with a slot that somebody else has made."""

    settings: Mapping[str, str] = field(repr=False)
    slot: str
    publication: str
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    takes_slot: bool = False

    @property
    def place(self) -> str:
        return f"{self.settings['host']}:{self.settings['port']}/{self.settings['dbname']}"

    def shapes(self, tables: Sequence[str]) -> Mapping[str, TableShape]:
        with self.connected() as connection:
            return {name: found.shape for name, found in self._described(connection, tables).items()}

    def matching(self, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """The tables of which `database.schema.table` or `schema.table` matches."""
        query = (
            "select current_database(), n.nspname, c.relname from pg_class c join pg_namespace n on "
            "n.oid = c.relnamespace where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in "
            "('pg_catalog', 'information_schema') and n.nspname !~ '^pg_toast'"
        )
        with self.connected() as connection:
            rows = connection.execute(query).fetchall()
        return tuple(
            sorted(
                f"{database}.{schema}.{table}"
                for database, schema, table in rows
                if pattern.fullmatch(f"{database}.{schema}.{table}") or pattern.fullmatch(f"{schema}.{table}")
            )
        )

    def prepare(self, tables: Sequence[str], *, is_begun: bool) -> None:
        with self.connected() as connection:
            described = self._described(connection, tables)
            for table in tables:
                _check_identity(table, described.get(table), self.keys.get(table, ()), self.place)
            self._publish(connection, tables)
            self._make_slot(connection, is_begun=is_begun)

    @contextmanager
    def snapshot(self, table: str) -> Iterator[TableSnapshot]:
        with self._exported() as (at, snapshot), self.connected() as connection:
            connection.execute("begin transaction isolation level repeatable read, read only")
            connection.execute(f"set transaction snapshot '{snapshot}'")
            shape = self._described(connection, [table])[table].shape
            yield TableSnapshot(at, shape, self._parts(connection, shape))
            connection.execute("rollback")

    def start(self, mode: str) -> LogPosition:
        if mode == COMMITTED_OFFSET:
            slot = self._slot()
            assert slot is not None, "`prepare` refuses a server without it"
            return slot[0]
        with self._exported() as (at, _):
            return at

    def now(self) -> LogPosition:
        with self.connected() as connection:
            return LogPosition.parse(connection.execute("select pg_current_wal_flush_lsn()::text").fetchone()[0])

    def refuse_lost(self, table: str, start: LogPosition, confirmed: LogPosition) -> None:
        slot = self._slot()
        help = "take a new snapshot: name another checkpoint, `env { stream.checkpoint = … }`, and another `slot.name`"
        if slot is None:
            message = f"`{self.place}` has no replication slot `{self.slot}`, which kept the changes of `{table}`"
            raise run_error("PEN5494", f"{message} after {start}", None, help)
        at, is_lost, why = slot
        if is_lost:
            message = f"`{self.place}` has given up the replication slot `{self.slot}` ({why}): changes of `{table}`"
            raise run_error("PEN5494", f"{message} after {start} may be lost", None, help)
        if at > max(start, confirmed):
            message = (
                f"the replication slot `{self.slot}` of `{self.place}` was moved to {at} by somebody else: changes of "
                f"`{table}` after {max(start, confirmed)} may be lost"
            )
            raise run_error("PEN5494", message, None, help)

    def open(self, start: LogPosition, tables: Sequence[str]) -> OpenLog:
        return _OpenWal(self, start, tables)

    def arrow(self, values: Sequence[Any], column: ShapeColumn) -> "pa.Array":
        return from_texts(values, column.type)

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A connection, whose statements are committed one by one."""
        import psycopg

        try:
            connection = psycopg.connect(**_session(self.settings), autocommit=True)
        except psycopg.OperationalError as error:
            raise _unreachable(self.place, error) from error
        try:
            yield connection
        except psycopg.Error as error:
            raise _refused(self.place, error) from error
        finally:
            connection.close()

    def _described(self, connection: Any, tables: Sequence[str]) -> dict[str, TableDescription]:
        return describe(connection, NativeTypes(connection), tables, self.keys)

    def _publish(self, connection: Any, tables: Sequence[str]) -> None:
        known = "select schemaname || '.' || tablename from pg_publication_tables where pubname = %s"
        there = connection.execute("select 1 from pg_publication where pubname = %s", (self.publication,)).fetchone()
        published = {row[0] for row in connection.execute(known, (self.publication,)).fetchall()} if there else set()
        missing = [_quoted(table) for table in tables if table not in published]
        name = _identifier(self.publication)
        if not there:
            # the root of a partitioned table is what the job names
            settings = "publish = 'insert, update, delete, truncate', publish_via_partition_root = true"
            connection.execute(f"create publication {name} for table {', '.join(missing)} with ({settings})")
        elif missing:
            connection.execute(f"alter publication {name} add table {', '.join(missing)}")

    def _make_slot(self, connection: Any, *, is_begun: bool) -> None:
        found = self._slot()
        if found is None:
            if is_begun:
                return  # `refuse_lost` reports it
            if self.takes_slot:
                message = f"`{self.place}` has no replication slot `{self.slot}`, at whose position reading is to start"
                raise run_error("PEN5490", message, None, "`startup.mode = initial` makes one")
            connection.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", (self.slot,))
        elif not is_begun and not self.takes_slot:
            message = f"`{self.place}` has a replication slot `{self.slot}`, which this stream has not made"
            help = (
                "name another one: `slot.name = …`. If nobody reads it any more, it can be dropped: "
                f"`select pg_drop_replication_slot('{self.slot}')`"
            )
            raise run_error("PEN5490", message, None, help)

    def _slot(self) -> tuple[LogPosition, bool, str] | None:
        """Up to where the slot was confirmed, whether the server has given it up, and why."""
        query = "select confirmed_flush_lsn::text, to_jsonb(s) from pg_replication_slots s where slot_name = %s"
        with self.connected() as connection:
            row = connection.execute(query, (self.slot,)).fetchone()
        if row is None:
            return None
        status = str(row[1].get("wal_status") or "")
        why = row[1].get("invalidation_reason") or row[1].get("conflicting") or ""
        if row[0] is None:
            return LogPosition(0, 0), True, "it is no logical slot"
        return LogPosition.parse(row[0]), status == "lost" or bool(why), str(why or status)

    @contextmanager
    def _exported(self) -> Iterator[tuple[LogPosition, str]]:
        """A position of the log, and the snapshot of the database at it, valid in the block."""
        connection = replication(self)
        try:
            name = f"penstock_{token_hex(6)}"
            made = f"create_replication_slot {name} temporary logical pgoutput export_snapshot".upper()
            made = made.replace(name.upper(), name).replace("PGOUTPUT", "pgoutput")
            values = _executed(self, connection, made)
            yield LogPosition.parse(values[1]), values[2]
        finally:
            connection.finish()

    def _parts(self, connection: Any, shape: TableShape) -> "Iterator[pa.Table]":
        """The rows of a table in the transaction of a connection."""
        listed = ", ".join(_identifier(name) for name in shape.names)
        copy = f"copy (select {listed} from {_quoted(shape.text, shape.name)}) to stdout with (format csv)"
        pending = io.BytesIO()
        with connection.cursor() as cursor, cursor.copy(copy) as rows:
            for row in rows:
                pending.write(row)
                if pending.tell() >= _PART_BYTES:
                    yield _parsed(pending, shape)
                    pending = io.BytesIO()
        if pending.tell():
            yield _parsed(pending, shape)


class _OpenWal(OpenLog):
    """The log from a slot. The position where it starts is at the end of a transaction."""

    def __init__(self, server: PostgresServer, start: LogPosition, tables: Sequence[str]) -> None:
        self.server = server
        self.start = start
        with server.connected() as connection:
            described = server._described(connection, tables)
        self.tables = {name: found.shape.key_names for name, found in described.items()}
        self.catalog: Any = None
        self.types: NativeTypes | None = None
        self.reader = PgoutputReader(self._shape_of)
        self.received = start
        self.confirmed = LogPosition(0, 0)
        self.connection = self._started()
        self.told = time.monotonic()
        self.in_transaction = False

    def next(self, seconds: float) -> Transaction | None:
        until = time.monotonic() + seconds
        while True:
            message = self._message(until)
            if message is None:
                self._tell()
                return None
            if message[:1] == b"w":
                payload = message[_DATA.size :]
                self.in_transaction = payload[:1] != b"C" and (self.in_transaction or payload[:1] == b"B")
                transaction = self.reader.read(payload)
                if transaction is not None:
                    self.received = transaction.end
                    return transaction
            elif message[:1] == b"k":
                _, end, _, is_asked = _KEEPALIVE.unpack_from(message)
                if is_asked:
                    self._tell(force=True)
                position = LogPosition(0, end)
                if not self.in_transaction and position > self.received:
                    self.received = position
                    return Transaction(position)

    def confirm(self, position: LogPosition) -> None:
        self.confirmed = max(self.confirmed, position)
        self._tell(force=True)

    def close(self) -> None:
        with suppress(Exception):
            self.connection.finish()
        if self.catalog is not None:
            with suppress(Exception):
                self.catalog.close()

    def _message(self, until: float) -> bytes | None:
        """The next message; None where none has come by then."""
        import psycopg

        try:
            while True:
                size, data = self.connection.get_copy_data(1)
                if size > 0:
                    return bytes(data)
                if size < 0:
                    self.connection.get_result()
                    raise ConnectionError("the server has ended the replication")
                left = until - time.monotonic()
                ready, _, _ = select.select([self.connection.socket], [], [], max(left, 0))
                if not ready:
                    return None
                self.connection.consume_input()
        except psycopg.OperationalError as error:
            raise ConnectionError(str(error).strip()) from error
        except psycopg.Error as error:
            raise _refused(self.server.place, error) from error

    def _tell(self, *, force: bool = False) -> None:
        """Tell the server that this end is alive, and what it has confirmed."""
        import psycopg

        now = time.monotonic()
        if not force and now - self.told < 5:
            return
        self.told = now
        clock = int((time.time() - _EPOCH) * 1_000_000)
        at = self.confirmed.offset
        try:
            self.connection.put_copy_data(_STATUS.pack(b"r", max(at, self.received.offset), at, at, clock, 0))
            self.connection.flush()
        except psycopg.Error as error:
            raise ConnectionError(str(error).strip()) from error

    def _started(self) -> Any:
        from psycopg.pq import ExecStatus

        until = time.monotonic() + _BUSY_SECONDS
        start = (
            f"START_REPLICATION SLOT {_identifier(self.server.slot)} LOGICAL {self.start} "
            f"(proto_version '1', publication_names '{_identifier(self.server.publication)}')"
        )
        while True:
            connection = replication(self.server)
            result = connection.exec_(start.encode())
            if result.status == ExecStatus.COPY_BOTH:
                return connection
            said = (result.error_message or b"").decode(errors="replace").strip()
            connection.finish()
            if "is active for PID" not in said:
                raise run_error("PEN5490", f"`{self.server.place}` cannot be read: {said}", None, _RIGHTS)
            if time.monotonic() > until:
                help = "end the process that reads it, or name another slot: `slot.name`"
                raise run_error("PEN5490", f"`{self.server.place}` cannot be read: {said}", None, help)
            time.sleep(0.5)

    def _shape_of(self, relation: LoggedRelation) -> TableShape | None:
        import psycopg

        keys = self.tables.get(relation.text)
        if keys is None:
            return None
        if self.types is None:
            self.catalog = psycopg.connect(**_session(self.server.settings), autocommit=True)
            self.types = NativeTypes(self.catalog)
        try:
            return relation_shape(relation, self.types, keys)
        except psycopg.OperationalError as error:
            raise ConnectionError(str(error).strip()) from error


def replication(server: PostgresServer) -> Any:
    """A connection of the replication protocol, a `psycopg.pq.PGconn`. Raises PEN5012 where there is none."""
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import ConnStatus, PGconn

    settings = {**_session(server.settings), "replication": "database"}
    connection = PGconn.connect(make_conninfo("", **settings).encode())
    if connection.status != ConnStatus.OK:
        said = connection.error_message.decode(errors="replace") if connection.error_message else ""
        connection.finish()
        raise _unreachable(server.place, said)
    return connection


def _executed(server: PostgresServer, connection: Any, command: str) -> list[str]:
    """The values of the only row that a command of the replication protocol gives."""
    from psycopg.pq import ExecStatus

    result = connection.exec_(command.encode())
    if result.status != ExecStatus.TUPLES_OK:
        said = (result.error_message or b"").decode(errors="replace").strip()
        raise run_error("PEN5490", f"`{server.place}` cannot be captured: {said}", None, _RIGHTS)
    return [(result.get_value(0, place) or b"").decode() for place in range(result.nfields)]


def _session(settings: Mapping[str, str]) -> dict[str, Any]:
    own = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
    return {"connect_timeout": "30", "application_name": "penstock", **settings, "options": own}


def _parsed(text: io.BytesIO, shape: TableShape) -> "pa.Table":
    """Rows in PostgreSQL's CSV, whose NULLs are the values without quotes that are empty."""
    import pyarrow as pa
    from pyarrow import csv

    text.seek(0)
    names = [str(index) for index in range(len(shape.columns))]
    read = csv.read_csv(
        text,
        csv.ReadOptions(column_names=names, block_size=2 * _PART_BYTES + text.getbuffer().nbytes),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    arrays = []
    for place, column in enumerate(shape.columns):
        try:
            arrays.append(from_texts(read.column(place).combine_chunks(), column.type))
        except ValueError as error:
            raise run_error(
                "PEN5495", f"a value of `{shape.text}`.`{column.name}` is not {column.type}: {error}"
            ) from error
    return pa.table(arrays, names=list(shape.names))


def _check_identity(table: str, found: TableDescription | None, keys: tuple[str, ...], place: str) -> None:
    if found is None:
        help = "a table is named `schema.table`, or `database.schema.table`"
        raise run_error("PEN5004", f"`{place}` has no table `{table}` that this user can see", None, help)
    is_known = found.identity == "f" or (found.identity in "di" and found.identity_names)
    if not is_known:
        message = f"`{table}` has no primary key, so that PostgreSQL would refuse its updates and deletes once captured"
        raise run_error("PEN5490", message, None, f"`ALTER TABLE {table} REPLICA IDENTITY FULL` lets it log whole rows")
    if keys and found.identity != "f" and not set(keys) <= set(found.identity_names):
        message = f"the log of `{table}` identifies rows by {', '.join(found.identity_names)}, not by {', '.join(keys)}"
        help = f"`ALTER TABLE {table} REPLICA IDENTITY FULL` lets it log whole rows"
        raise run_error("PEN5490", message, None, help)


def _quoted(table: str, name: tuple[str, ...] | None = None) -> str:
    parts = name or tuple(table.split(".", 1))
    return ".".join(_identifier(part) for part in parts)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreachable(place: str, error: object) -> TransientError:
    text = re.sub(r"\s*\n\s*", " ", str(error).strip())
    help = "check `url`, `user` and `password`, and that the database can be reached from here"
    return TransientError([Diagnostic("PEN5012", f"`{place}` cannot be reached: {text}", None, help)])


def _refused(place: str, error: Exception) -> RunError:
    import psycopg

    text = re.sub(r"\s*\n\s*", " ", str(error).strip())
    if isinstance(error, psycopg.OperationalError):
        return _unreachable(place, error)
    return run_error("PEN5490", f"`{place}` cannot be captured: {text}", None, _RIGHTS)
