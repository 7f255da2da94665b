"""Changes of a table as Debezium's connectors document their records: a generator, not a running connector.

The envelope is that of the MySQL and PostgreSQL connectors with their defaults: decimals as bytes in base64, dates as
days, timestamps as microseconds, and an update of a key as a delete with a tombstone, then a create.
"""

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

COLUMNS = (
    "schema { columns = [{ name = id, type = bigint }, { name = name, type = string }, "
    '{ name = amount, type = "decimal(20,2)" }, { name = day, type = date }, '
    "{ name = at, type = timestamp, columnScale = 6 }, { name = note, type = string }], "
    "primaryKey { columnNames = [id] } }"
)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TYPES = {
    "id": ("int64", None, {}),
    "name": ("string", None, {}),
    "amount": ("bytes", "org.apache.kafka.connect.data.Decimal", {"scale": "2", "connect.decimal.precision": "20"}),
    "day": ("int32", "io.debezium.time.Date", {}),
    "at": ("int64", "io.debezium.time.MicroTimestamp", {}),
    "note": ("string", None, {}),
}


def base64_decimal(value: Decimal, scale: int = 2) -> str:
    unscaled = int(value.scaleb(scale))
    return b64encode(unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)).decode()


def encoded(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """A row as the envelope has it."""
    if row is None:
        return None
    forms = {
        Decimal: base64_decimal,
        datetime: lambda at: (at - EPOCH) // timedelta(microseconds=1),
        date: lambda day: (day - EPOCH.date()).days,
    }
    return {name: forms.get(type(value), lambda same: same)(value) for name, value in row.items()}


def envelope(
    op: str, before: dict[str, Any] | None, after: dict[str, Any] | None, *, table: str = "people", schema: bool = False
) -> str:
    source = {"version": "3.3", "connector": "postgresql", "db": "shop", "schema": "public", "table": table, "ts_ms": 1}
    payload = {"before": encoded(before), "after": encoded(after), "source": source, "op": op, "ts_ms": 2}
    if not schema:
        return json.dumps(payload)
    columns = [
        {"type": type, "optional": True, "field": name, **({"name": logical, "parameters": given} if logical else {})}
        for name, (type, logical, given) in _TYPES.items()
        if name in (after or before or {})
    ]
    images = [{"type": "struct", "optional": True, "fields": columns, "field": each} for each in ("before", "after")]
    others = [{"type": "string", "optional": False, "field": "op"}]
    return json.dumps({"schema": {"type": "struct", "fields": images + others, "name": "Envelope"}, "payload": payload})


@dataclass
class ChangingTable:
    """A table that changes at random; `rows` are what it holds at the end. From the half of the changes on it has one
    more column, `note`."""

    seed: int = 7
    keys: int = 40
    has_schema: bool = False
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def changes(self, count: int) -> Iterator[tuple[bytes, bytes | None]]:
        """`count` changes as records, key and value: inserts, updates, deletes, and updates of the key."""
        for number in range(count):
            id = self.random.randrange(self.keys)
            old, new = self.rows.get(id), self._row(id, has_note=number * 2 >= count)
            if old is None:
                yield self._record(id, "r" if number < 5 else "c", None, new)
            elif (chosen := self.random.random()) < 0.25:
                yield from self._delete(id)
            elif chosen < 0.4:
                moved = self.random.randrange(self.keys, 2 * self.keys)
                yield from self._delete(id)
                before = self.rows.get(moved)
                yield self._record(moved, "u" if before else "c", before, {**new, "id": moved})
            else:
                yield self._record(id, "u", old, new)

    def _delete(self, id: int) -> Iterator[tuple[bytes, bytes | None]]:
        yield self._record(id, "d", self.rows.pop(id), None)
        yield self._key(id), None

    def _record(self, id: int, op: str, before: Any, after: Any) -> tuple[bytes, bytes]:
        if after is not None:
            self.rows[id] = after
        return self._key(id), envelope(op, before, after, schema=self.has_schema).encode()

    def _key(self, id: int) -> bytes:
        return json.dumps({"id": id}).encode()

    def _row(self, id: int, *, has_note: bool) -> dict[str, Any]:
        draw = self.random
        row = {
            "id": id,
            "name": draw.choice(["A", "Ä", "名", None, "x" * 20]),
            "amount": draw.choice([None, Decimal(draw.randrange(-(10**18), 10**18)).scaleb(-2), Decimal("-0.01")]),
            "day": date(1969, 12, 31) + timedelta(days=draw.randrange(30_000)),
            "at": EPOCH + timedelta(microseconds=draw.randrange(-(10**15), 4 * 10**15)),
        }
        return {**row, "note": draw.choice([None, "n"])} if has_note else row

    def held(self) -> list[tuple[Any, ...]]:
        """The rows at the end, by key; the times as UTC without a zone."""
        return [
            (id, row["name"], row["amount"], row["day"], row["at"].replace(tzinfo=None), row.get("note"))
            for id, row in sorted(self.rows.items())
        ]
