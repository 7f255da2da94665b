"""The events of a binary log of MySQL or MariaDB, as transactions of changes.

What is not a change of a captured table moves the position only. Events whose changes cannot be known are refused:
statements instead of rows, compressed events, transactions in two phases.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, Final

from catalog.diagnostics.diagnostic import run_error
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import Transaction
from connectors.change_capture.table_shape import Row, RowChange, TableShape
from connectors.mysql_cdc.row_values import META_BYTES, Decoder

_HEADER: Final = Struct("<IBIIIH")
_QUERY, _ROTATE, _XID, _TABLE_MAP, _HEARTBEAT = 2, 4, 16, 19, 27
_WRITE, _UPDATE, _DELETE = (23, 30), (24, 31), (25, 32)
_SECOND: Final = (30, 31, 32)
"""The events of rows whose header has more data, which is passed over."""
_REFUSED: Final = {
    38: "a transaction in two phases (XA)",
    39: "a part of a JSON value (`binlog_row_value_options`)",
    40: "a compressed transaction (`binlog_transaction_compression`)",
    165: "a compressed statement (`log_bin_compress`)",
    166: "compressed rows (`log_bin_compress`)",
    167: "compressed rows (`log_bin_compress`)",
    168: "compressed rows (`log_bin_compress`)",
    26: "an incident: the server has lost events",
}
_COLUMN_NAMES: Final = 4
"""The field of a table map's optional data that names the columns (`binlog_row_metadata = FULL`)."""
_STARTS: Final = re.compile(r"(?is)^\s*(?:/\*.*?\*/\s*|--[^\n]*\n\s*|#[^\n]*\n\s*)*(\w+)")
_IN_TRANSACTION: Final = ("BEGIN", "SAVEPOINT", "ROLLBACK", "COMMIT", "SET", "FLUSH", "ANALYZE", "OPTIMIZE", "GRANT",
                          "REVOKE")  # fmt: skip
_ROWS: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD")


@dataclass(frozen=True, slots=True)
class TableMap:
    """The columns of a table as the events of its rows have them. `names`: where the server logs them."""

    table: str
    codes: bytes
    metas: tuple[bytes, ...]
    names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A captured table, with what decodes the values of its rows."""

    shape: TableShape
    decoders: tuple[Decoder, ...]


@dataclass(eq=False)
class BinlogReader:
    """`tables`: those that are captured. `mapped` finds the columns of one by its table map; `altered` is called with
    the table and the statement that changes it."""

    position: LogPosition
    tables: frozenset[str]
    mapped: Callable[[TableMap], MappedTable]
    altered: Callable[[str, str], TableShape]
    maps: dict[int, tuple[bytes, MappedTable | None]] = field(default_factory=dict)
    changes: dict[str, list[RowChange]] = field(default_factory=dict)
    in_transaction: bool = False
    earliest_ms: int = 0

    def read(self, event: bytes) -> Transaction | None:
        """The transaction that an event ends, or how far the log is read; None for other events."""
        seconds, kind, _, _, position, _ = _HEADER.unpack_from(event)
        if kind == _ROTATE:
            name = event[27:].split(b"\0")[0].decode()
            offset = int.from_bytes(event[19:27], "little")
            self.position = LogPosition.parse(f"{name}:{offset}")
            self.changes, self.in_transaction = {}, False  # of a server that ended while it wrote a transaction
            return None
        if kind in _WRITE or kind in _UPDATE or kind in _DELETE:
            self._rows(event, kind)
            return None
        if kind == _TABLE_MAP:
            self._map(event)
            return None
        if kind == _XID:
            return self._ended(position, seconds)
        if kind == _QUERY:
            return self._query(event, position, seconds)
        if kind == _HEARTBEAT:
            return None if self.in_transaction else self._moved(position)
        if kind in _REFUSED:
            raise run_error("PEN5490", f"the log at {self.position} has {_REFUSED[kind]}, which is not read")
        if kind in (33, 34, 162):  # where a transaction begins, with its global id
            self.in_transaction = True
        return None

    def _moved(self, position: int) -> Transaction | None:
        if position > self.position.offset:
            self.position = LogPosition(self.position.file, position, self.position.name)
        return Transaction(self.position)

    def _ended(self, position: int, seconds: int) -> Transaction | None:
        if position < self.position.offset:
            raise run_error("PEN5490", f"the log file {self.position.log_file} is longer than 4 GB, which is not read")
        changes, self.changes, self.in_transaction = self.changes, {}, False
        self.position = LogPosition(self.position.file, position, self.position.name)
        return Transaction(self.position, changes if seconds * 1000 >= self.earliest_ms else {})

    def _query(self, event: bytes, position: int, seconds: int) -> Transaction | None:
        length = event[27]
        variables = int.from_bytes(event[30:32], "little")
        start = 32 + variables
        schema = event[start : start + length].decode()
        text = event[start + length + 1 :].decode(errors="replace")
        found = _STARTS.match(text)
        word = found[1].upper() if found else ""
        if word in ("BEGIN", "START", "SAVEPOINT"):
            self.in_transaction = True
            return None
        if word == "ROLLBACK":
            if " TO " in text.upper():  # to a savepoint: the rows that follow it are not in the log
                return None
            self.changes = {}
        elif word == "XA":
            raise run_error("PEN5490", f"the log at {self.position} has {_REFUSED[38]}, which is not read")
        elif word not in _IN_TRANSACTION:
            for table in self._named(text, schema):
                self._statement(table, word, text)
        return self._ended(position, seconds)

    def _statement(self, table: str, word: str, text: str) -> None:
        if word in _ROWS:
            message = f"the log has a statement on `{table}`, not its rows: {text[:120]}"
            raise run_error("PEN5490", message, None, "`binlog_format = ROW` for all sessions of the server")
        shape = self.altered(table, text)
        if word == "TRUNCATE":
            self.changes.setdefault(table, []).append(RowChange(shape, None, None))

    def _named(self, text: str, schema: str) -> list[str]:
        """The captured tables that a statement may be about."""
        words = set(re.findall(r"[\w$]+", text))
        found = []
        for table in self.tables:
            database, _, name = table.partition(".")
            is_named = set(re.findall(r"[\w$]+", name)) <= words
            if is_named and (database == schema or set(re.findall(r"[\w$]+", database)) <= words):
                found.append(table)
        return found

    def _map(self, event: bytes) -> None:
        number, found = _table_map(event, self.tables)
        self.in_transaction = True
        if found is None:
            self.maps[number] = (b"", None)
            return
        known = self.maps.get(number)
        if known is None or known[0] != event[19:]:
            self.maps[number] = (event[19:], self.mapped(found))

    def forget_maps(self) -> None:
        """Look at the columns of tables again: a statement has changed one."""
        self.maps.clear()

    def _rows(self, event: bytes, kind: int) -> None:
        number = int.from_bytes(event[19:25], "little")
        table = self.maps[number][1]
        if table is None:
            return
        offset = 27
        if kind in _SECOND:
            offset += int.from_bytes(event[27:29], "little")
        count, offset = _packed(event, offset)
        size = (count + 7) // 8
        bitmaps = 2 if kind in _UPDATE else 1
        for _ in range(bitmaps):
            if _present(event[offset : offset + size], count) != count:
                message = f"the log has only some columns of `{table.shape.text}`"
                raise run_error("PEN5490", message, None, "`binlog_row_image = FULL` for all sessions of the server")
            offset += size
        found = self.changes.setdefault(table.shape.text, [])
        end = len(event)
        while offset < end:
            first, offset = _row(event, offset, size, table)
            if kind in _UPDATE:
                after, offset = _row(event, offset, size, table)
                found.append(RowChange(table.shape, first, after))
            elif kind in _WRITE:
                found.append(RowChange(table.shape, None, first))
            else:
                found.append(RowChange(table.shape, first, None))


def _row(event: bytes, offset: int, size: int, table: MappedTable) -> tuple[Row, int]:
    nulls = int.from_bytes(event[offset : offset + size], "little")
    offset += size
    values: list[Any] = []
    for index, decode in enumerate(table.decoders):
        if nulls >> index & 1:
            values.append(None)
            continue
        try:
            value, offset = decode(event, offset)
        except (ValueError, UnicodeDecodeError, IndexError) as error:
            column = table.shape.columns[index]
            message = f"a value of `{table.shape.text}`.`{column.name}` is not {column.type}: {error}"
            raise run_error("PEN5495", message) from error
        values.append(value)
    return tuple(values), offset


def _table_map(event: bytes, tables: frozenset[str]) -> tuple[int, TableMap | None]:
    """The number by which rows refer to a table, and its columns; None of a table that is not captured."""
    number = int.from_bytes(event[19:25], "little")
    offset = 27
    database = event[offset + 1 : offset + 1 + event[offset]].decode()
    offset += 2 + event[offset]
    name = event[offset + 1 : offset + 1 + event[offset]].decode()
    offset += 2 + event[offset]
    table = f"{database}.{name}"
    if table not in tables:
        return number, None
    count, offset = _packed(event, offset)
    codes = event[offset : offset + count]
    length, offset = _packed(event, offset + count)
    metas, end = [], offset + length
    for code in codes:
        size = META_BYTES.get(code, 0)
        metas.append(event[offset : offset + size])
        offset += size
    return number, TableMap(table, codes, tuple(metas), _names(event, end + (count + 7) // 8))


def _names(event: bytes, offset: int) -> tuple[str, ...] | None:
    while offset < len(event):
        kind = event[offset]
        length, offset = _packed(event, offset + 1)
        if kind == _COLUMN_NAMES:
            return _texts(event[offset : offset + length])
        offset += length
    return None


def _texts(data: bytes) -> tuple[str, ...]:
    found, offset = [], 0
    while offset < len(data):
        length, offset = _packed(data, offset)
        found.append(data[offset : offset + length].decode())
        offset += length
    return tuple(found)


def _packed(data: bytes, offset: int) -> tuple[int, int]:
    """A number of MySQL's variable length, and where it ends."""
    first = data[offset]
    size = {252: 2, 253: 3, 254: 8}.get(first, 0)
    if not size:
        return first, offset + 1
    return int.from_bytes(data[offset + 1 : offset + 1 + size], "little"), offset + 1 + size


def _present(bitmap: bytes, count: int) -> int:
    return (int.from_bytes(bitmap, "little") & ((1 << count) - 1)).bit_count()
