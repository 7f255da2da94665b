"""Writes staged rows as values of keys. Lists grow by each value: how many of a write were pushed is recorded on the
server in the same transaction, so that a repeated commit pushes only the others."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final

from catalog.options import Options
from connectors.documents.document_sink import DOCUMENT, IS_DELETE, POSITION
from connectors.redis_.read_keys import type_of
from connectors.redis_.redis_client import is_cluster

if TYPE_CHECKING:
    import pyarrow as pa

KEY: Final = "redis_key"
VALUE: Final = "redis_value"
ENTRY: Final = "hash_entry"
_PART_BITS: Final = 33
"""Spark numbers the rows of a partition from its number times this power of two."""
_MARK_SECONDS: Final = 7 * 24 * 3600

Row = Mapping[str, Any]


def part_of(position: str) -> str:
    """Spark SQL for the partition in which a row was staged."""
    return f"shiftright({position}, {_PART_BITS})"


def rows_of(batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def write_rows(client: Any, rows: Iterable[Row], options: Options, identity: str) -> None:
    if type_of(options) == "list" and not is_cluster(options):
        for part, of_part in groupby(rows, lambda row: int(row[POSITION]) >> _PART_BITS):
            _push_once(client, of_part, options, f"penstock:{identity}:{part}")
        return
    for several in _batches(rows, options):
        pipeline = client.pipeline(transaction=False)
        for row in several:
            _write(pipeline, row, options)
        pipeline.execute()


def _push_once(client: Any, rows: Iterable[Row], options: Options, mark: str) -> None:
    """The rows of a part, which are the same and in the same order in each attempt, but those that are pushed."""
    pushed = int(client.get(mark) or 0)
    for several in _batches(islice(rows, pushed, None), options):
        pushed += len(several)
        transaction = client.pipeline(transaction=True)
        for row in several:
            _write(transaction, row, options)
        transaction.set(mark, pushed, ex=_MARK_SECONDS)
        transaction.execute()


def _batches(rows: Iterable[Row], options: Options) -> Iterator[Sequence[Row]]:
    given = iter(rows)
    while several := list(islice(given, options.integer("batch_size"))):
        yield several


def _write(pipeline: Any, row: Row, options: Options) -> None:
    key, expire = row[KEY], options.integer("expire")
    if row[IS_DELETE]:
        _remove(pipeline, key, row, type_of(options))
        return
    match type_of(options):
        case "string":
            pipeline.set(key, row[VALUE])
        case "hash":
            pipeline.hset(key, mapping=_entries(row))
        case "list":
            pipeline.lpush(key, row[VALUE])
        case "set":
            pipeline.sadd(key, row[VALUE])
        case "zset":
            pipeline.zadd(key, {row[VALUE]: 1})
    if expire > 0:
        pipeline.expire(key, expire)


def _remove(pipeline: Any, key: str, row: Row, kind: str) -> None:
    match kind:
        case "string":
            pipeline.delete(key)
        case "hash" if row[ENTRY] is not None:
            pipeline.hdel(key, row[ENTRY])
        case "hash":
            pipeline.delete(key)
        case "list":
            pipeline.lrem(key, 1, row[VALUE])
        case "set":
            pipeline.srem(key, row[VALUE])
        case "zset":
            pipeline.zrem(key, row[VALUE])


def _entries(row: Row) -> dict[str, str]:
    if row[ENTRY] is not None:
        return {row[ENTRY]: row[VALUE]}
    columns = json.loads(row[DOCUMENT], parse_float=str, parse_int=str)
    return {name: _text(value) for name, value in columns.items()}


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return str(value).lower()
    return json.dumps(value, ensure_ascii=False)
