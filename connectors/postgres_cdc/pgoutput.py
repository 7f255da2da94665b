"""The messages of PostgreSQL's logical decoding plugin `pgoutput`, version 1 of its protocol, as changes of rows.

Values are the texts that PostgreSQL writes; what they mean, `text_values` knows. The format is that of the chapter
"Logical Replication Message Formats" of PostgreSQL's documentation.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct
from typing import Final

from catalog.diagnostics.diagnostic import run_error
from connectors.change_capture.log_position import LogPosition
from connectors.change_capture.log_server import Transaction
from connectors.change_capture.table_shape import UNSENT, Row, RowChange, TableShape

_INT16: Final = Struct("!h")
_INT32: Final = Struct("!I")
_SIGNED_INT32: Final = Struct("!i")
_INT64: Final = Struct("!Q")
_NULL, _UNCHANGED, _TEXT = b"nut"
_KEY, _OLD, _NEW = b"KON"


@dataclass(frozen=True, slots=True)
class LoggedColumn:
    """A column as the log describes it. `modifier`: PostgreSQL's `atttypmod`."""

    name: str
    type: int
    modifier: int
    is_key: bool


@dataclass(frozen=True, slots=True)
class LoggedRelation:
    schema: str
    table: str
    identity: str
    columns: tuple[LoggedColumn, ...]

    @property
    def text(self) -> str:
        return f"{self.schema}.{self.table}"


@dataclass(eq=False)
class PgoutputReader:
    """Turns messages into transactions. `shape_of` gives the columns of a relation; None of a table that is not read:
    its changes are passed over."""

    shape_of: Callable[[LoggedRelation], TableShape | None]
    shapes: dict[int, TableShape | None] = field(default_factory=dict)
    changes: dict[str, list[RowChange]] = field(default_factory=dict)

    def read(self, message: bytes) -> Transaction | None:
        """The transaction that a message ends; None for other messages."""
        kind = message[:1]
        if kind == b"I":
            self._insert(message)
        elif kind == b"U":
            self._update(message)
        elif kind == b"D":
            self._delete(message)
        elif kind == b"B":
            self.changes = {}
        elif kind == b"C":
            end = LogPosition(0, _INT64.unpack_from(message, 10)[0])
            changes, self.changes = self.changes, {}
            return Transaction(end, changes)
        elif kind == b"R":
            id, relation = _relation(message)
            self.shapes[id] = self.shape_of(relation)
        elif kind == b"T":
            self._truncate(message)
        return None  # origins, types and messages of functions have no rows

    def _insert(self, message: bytes) -> None:
        shape = self._shape(message, 1)
        if shape is not None:
            row, _ = _row(message, 6, shape)
            self._add(shape, None, row)

    def _update(self, message: bytes) -> None:
        shape = self._shape(message, 1)
        if shape is None:
            return
        kind, before = message[5], None
        offset = 6
        if kind != _NEW:
            before, offset = _row(message, offset, shape)
            offset += 1
        after, _ = _row(message, offset, shape)
        self._add(shape, after if before is None else before, after, has_before=kind == _OLD)

    def _delete(self, message: bytes) -> None:
        shape = self._shape(message, 1)
        if shape is not None:
            before, _ = _row(message, 6, shape)
            self._add(shape, before, None, has_before=message[5] == _OLD)

    def _truncate(self, message: bytes) -> None:
        count = _INT32.unpack_from(message, 1)[0]
        for index in range(count):
            shape = self._shape(message, 6 + 4 * index)
            if shape is not None:
                self._add(shape, None, None)

    def _shape(self, message: bytes, offset: int) -> TableShape | None:
        return self.shapes[_INT32.unpack_from(message, offset)[0]]

    def _add(self, shape: TableShape, before: Row | None, after: Row | None, *, has_before: bool = True) -> None:
        self.changes.setdefault(shape.text, []).append(RowChange(shape, before, after, has_before))


def _row(message: bytes, offset: int, shape: TableShape) -> tuple[Row, int]:
    """The values of a row and where it ends. Raises PEN5492 where it has more or fewer than the relation."""
    count = _INT16.unpack_from(message, offset)[0]
    offset += 2
    values: list[object] = []
    for _ in range(count):
        kind = message[offset]
        offset += 1
        if kind == _TEXT:
            end = offset + 4 + _INT32.unpack_from(message, offset)[0]
            values.append(message[offset + 4 : end].decode())
            offset = end
        elif kind == _NULL:
            values.append(None)
        elif kind == _UNCHANGED:
            values.append(UNSENT)
        else:
            raise ValueError(f"a value of `{shape.text}` is of the kind {chr(kind)!r}, which was not asked for")
    if count != len(shape.columns):
        message_ = f"a row of `{shape.text}` has {count} values, for {len(shape.columns)} columns"
        raise run_error("PEN5492", message_)
    return tuple(values), offset


def _relation(message: bytes) -> tuple[int, LoggedRelation]:
    id = _INT32.unpack_from(message, 1)[0]
    schema, offset = _text(message, 5)
    table, offset = _text(message, offset)
    identity = chr(message[offset])
    count = _INT16.unpack_from(message, offset + 1)[0]
    offset += 3
    columns = []
    for _ in range(count):
        is_key = bool(message[offset] & 1)
        name, offset = _text(message, offset + 1)
        type = _INT32.unpack_from(message, offset)[0]
        modifier = _SIGNED_INT32.unpack_from(message, offset + 4)[0]
        columns.append(LoggedColumn(name, type, modifier, is_key))
        offset += 8
    return id, LoggedRelation(schema or "pg_catalog", table, identity, tuple(columns))


def _text(message: bytes, offset: int) -> tuple[str, int]:
    end = message.index(b"\0", offset)
    return message[offset:end].decode(), end + 1
