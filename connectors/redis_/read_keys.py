"""The values of the keys that match a pattern, as JSON objects of rows.

A scan is no snapshot: it finds each key that is there all the time, and may find others.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Options
from catalog.secret_names import redacted_text
from catalog.tables.table import Column
from catalog.types.datatypes import Field, Struct
from connectors.documents.exact_json import parsed, shaped, written
from connectors.redis_.redis_client import reported

HASH_KEY: Final = "hash_key"
CONTENT: Final = "content"
_SHOWN: Final = 60
_OF_TYPE: Final[dict[str, Callable[[Any, str], Any]]] = {
    "string": lambda pipeline, key: pipeline.get(key),
    "hash": lambda pipeline, key: pipeline.hgetall(key),
    "list": lambda pipeline, key: pipeline.lrange(key, 0, -1),
    "set": lambda pipeline, key: pipeline.smembers(key),
    "zset": lambda pipeline, key: pipeline.zrange(key, 0, -1),
}


def type_of(options: Options) -> str:
    """As Redis names it."""
    named = options.string("data_type").lower()
    return "string" if named == "key" else named


def documents_of(options: Options, columns: Sequence[Column]) -> Iterator[str]:
    """Raises PEN5004 for a value that is no JSON object."""
    is_text = str(options.get("format") or ("json" if options.mapping("schema") else "text")).lower() == "text"
    row = Struct(tuple(Field(column.name, column.type) for column in columns))
    for key, value in _values(options):
        if is_text:
            yield json.dumps({columns[0].name: value if isinstance(value, str) else json.dumps(value)})
            continue
        for found in _objects(key, value, columns, options):
            yield written(shaped(found, row))


def _values(options: Options) -> Iterator[tuple[str, Any]]:
    """Each key with a value: a text, or a hash with the key in it."""
    kind = type_of(options)
    with reported(options, "PEN5004") as client:
        keys = _keys(client, options.string("keys"), kind, options.integer("batch_size"))
        while several := list(islice(keys, options.integer("batch_size"))):
            pipeline = client.pipeline(transaction=False)
            for key in several:
                _OF_TYPE[kind](pipeline, key)
            for key, found in zip(several, pipeline.execute(), strict=True):
                yield from ((key, value) for value in _rows(key, found, kind))


def _rows(key: str, found: Any, kind: str) -> Iterable[Any]:
    if kind == "hash":
        return [{HASH_KEY: key, **found}] if found else ()
    if kind == "string":
        return () if found is None else (found,)  # it has expired since
    return sorted(found) if isinstance(found, set) else found


def _keys(client: Any, pattern: str, kind: str, count: int) -> Iterator[str]:
    """Each key once: a scan may find one several times."""
    seen: set[str] = set()
    for key in client.scan_iter(match=pattern, count=count, _type=kind):
        if key not in seen:
            seen.add(key)
            yield key


def _objects(key: str, value: Any, columns: Sequence[Column], options: Options) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        yield from _parsed(key, value, options)
    elif options.string("hash_key_parse_mode").lower() == "kv":
        for name, text in value.items():
            if name != HASH_KEY:
                yield from ({**found, columns[0].name: name} for found in _parsed(key, text, options))
    else:
        nested = {column.name for column in columns if isinstance(column.type, Struct)}
        yield {name: _object(key, text, options) if name in nested else text for name, text in value.items()}


def _object(key: str, text: str, options: Options) -> dict[str, Any]:
    return next(_parsed(key, text, options))


def _parsed(key: str, text: str, options: Options) -> Iterator[dict[str, Any]]:
    try:
        document = parsed(text)
    except ValueError:
        document = None
    rows = document if isinstance(document, list) else [document]
    for row in rows:
        if not isinstance(row, dict):
            shown = redacted_text(text[:1_000])[:_SHOWN].replace("\n", " ")
            message = f"a value of the key `{key}` is no JSON object: `{shown}`"
            raise run_error("PEN5004", message, options.span("format"), "format = text reads any value as `content`")
        yield row
