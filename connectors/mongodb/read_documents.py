"""Reads the documents of a collection, divided by the index of a field."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from catalog.options import Options
from catalog.tables.table import Column
from catalog.types.datatypes import Field, Struct
from connectors.documents.exact_json import shaped
from connectors.mongodb.bson_values import extended_text, json_value
from connectors.mongodb.mongo_client import reported
from connectors.mongodb.shell_json import extended_json

_MOST_TASKS: Final = 64
_SAMPLES: Final = 20
"""For each part, so many keys are sampled."""
_NOT_THERE: Final = (59, 238, 40324)
"""CommandNotFound, NotImplemented, and the code for a stage that is not known."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The documents of one task: from a key on, up to another one; None: without an end. In BSON, as its index has
    them, whatever the types of the keys."""

    start: Any = None
    end: Any = None


def ranges_of(options: Options) -> tuple[KeyRange, ...]:
    """One range where the collection is small, or the server cannot sample its keys. Raises PEN5004."""
    from pymongo.errors import OperationFailure

    key = options.string("partition.split-key")
    with reported(options, "PEN5004") as collection:
        size = _size(collection)
        count = min(_MOST_TASKS, size // options.integer("partition.split-size") + 1)
        if count < 2:
            return (KeyRange(),)
        sample = [{"$sample": {"size": count * _SAMPLES}}, {"$sort": {key: 1}}, {"$project": {key: 1}}]
        try:
            keys = [document.get(key) for document in collection.aggregate(sample)]
        except OperationFailure as error:
            if error.code not in _NOT_THERE:
                raise
            return (KeyRange(),)
    bounds = list(dict.fromkeys(map(_frozen, keys[_SAMPLES::_SAMPLES])))
    return tuple(KeyRange(*pair) for pair in zip([None, *bounds], [*bounds, None], strict=True))


def documents_of(options: Options, columns: Sequence[Column], part: KeyRange) -> Iterator[str]:
    """Raises PEN5004."""
    row = Struct(tuple(Field(column.name, column.type) for column in columns))
    is_flat = options.flag("flat.sync-string")
    with reported(options, "PEN5004") as collection:
        for document in _found(collection, options, columns, part):
            if is_flat:
                yield json.dumps({columns[0].name: extended_text(document)})
            else:
                yield json.dumps(shaped(json_value(document), row))


def _found(collection: Any, options: Options, columns: Sequence[Column], part: KeyRange) -> Iterator[Any]:
    from bson.json_util import loads

    query, projection = (options.optional_string(f"match.{name}") for name in ("query", "projection"))
    fields: Any = loads(extended_json(projection)) if projection is not None else None
    if fields is None and not options.flag("flat.sync-string"):
        fields = {"_id": 0, **dict.fromkeys((column.name for column in columns), 1)}
    cursor = collection.find(
        loads(extended_json(query)) if query is not None else {},
        fields,
        no_cursor_timeout=options.flag("cursor.no-timeout"),
        batch_size=options.integer("fetch.size"),
        max_time_ms=options.integer("max.time-min") * 60_000,
    )
    if part != KeyRange():
        key = options.string("partition.split-key")
        cursor = cursor.hint([(key, 1)])
        cursor = cursor if part.start is None else cursor.min([(key, part.start)])
        cursor = cursor if part.end is None else cursor.max([(key, part.end)])
    with cursor:
        yield from cursor


def _size(collection: Any) -> int:
    """In bytes; 0 where the server does not say."""
    stats: dict[str, Any] = next(iter(collection.aggregate([{"$collStats": {"storageStats": {}}}])), {})
    return int(stats.get("storageStats", {}).get("size", 0))


def _frozen(key: Any) -> Any:
    return key if getattr(key, "__hash__", None) else str(key)
