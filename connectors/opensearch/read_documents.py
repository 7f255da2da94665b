"""Reads the documents of an index in slices: each task scrolls through one, or pages through it at a point in time."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from catalog.options import Options
from catalog.tables.table import CatalogTable, Column
from catalog.types.datatypes import (
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    parts,
)
from connectors.documents.exact_json import shaped, written
from connectors.opensearch.mappings import columns_of_mapping
from connectors.opensearch.search_client import reported

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

ID: Final = "_id"
_MOST_SLICES: Final = 64
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIMES: Final = (DATE, TIMESTAMP, TIMESTAMP_NTZ)


@dataclass(frozen=True, slots=True)
class Slice:
    """The documents that one task reads: a part of an index, or of a point in time."""

    index: str
    number: int
    of: int
    point_in_time: str | None = None


def slices_of(options: Options) -> tuple[Slice, ...]:
    """The parts of a read: as many as the index has shards, at most 64; each shard by itself at a point in time.

    Raises PEN5004.
    """
    index = options.string("index")
    with reported(options, "PEN5004") as client:
        shards = _shards(client, index)
        if options.string("search_api_type").upper() == "SCROLL":
            count = max(1, min(sum(shards.values()), _MOST_SLICES))
            return tuple(Slice(index, number, count) for number in range(count))
        return tuple(
            Slice(name, number, count, point)
            for name, count in shards.items()
            for point in [_point_in_time(client, name, options)]
            for number in range(count)
        )


def mapped_table(options: Options, fields: Sequence[str], arrays: Mapping[str, DataType]) -> CatalogTable:
    """The fields of the index by its mapping; those of all indices, where a pattern names several.

    Raises PEN5004.
    """
    with reported(options, "PEN5004") as client:
        mappings = client.indices.get_mapping(index=options.string("index"))
    known: dict[str, Column] = {}
    for index in sorted(mappings):
        for column in columns_of_mapping(mappings[index]["mappings"].get("properties", {})):
            known.setdefault(column.name, column)
    known[ID] = known.get(ID, Column(ID, STRING))
    names = fields or [name for name in known if name != ID]
    columns = [
        Column(name, arrays[name]) if name in arrays else known.get(name, Column(name, STRING)) for name in names
    ]
    return CatalogTable.of(options.string("index"), columns)


def documents_of(options: Options, columns: Sequence[Column], part: Slice) -> Iterator[str]:
    """The documents of a slice as JSON objects of these columns. Raises PEN5004."""
    row = Struct(tuple(Field(column.name, column.type) for column in columns))
    with reported(options, "PEN5004", is_exact=True) as client:
        for hit in _hits(client, options, columns, part):
            source = hit.get("_source") or {}
            found = {ID: hit[ID], **source}
            yield written(shaped(_with_times(found, row), row))


def _hits(
    client: "OpenSearch", options: Options, columns: Sequence[Column], part: Slice
) -> Iterator[Mapping[str, Any]]:
    fields = [column.name for column in columns if column.name != ID]
    # A node that picks fields writes their numbers anew, as doubles.
    is_exact = any(isinstance(part, Decimal) for column in columns for part in parts(column.type))
    body: dict[str, Any] = {
        "query": query_of(options),
        "_source": True if is_exact else fields or False,
        "size": options.integer("scroll_size"),
        "sort": ["_doc"],
    }
    if part.of > 1:
        body["slice"] = {"id": part.number, "max": part.of}
    return _pages(client, options, body, part) if part.point_in_time else _scrolled(client, options, body, part)


def _scrolled(
    client: "OpenSearch", options: Options, body: Mapping[str, Any], part: Slice
) -> Iterator[Mapping[str, Any]]:
    wait, scroll = options.string("scroll_time"), None
    try:
        found = client.search(body=body, index=part.index, params={"scroll": wait})
        while hits := found["hits"]["hits"]:
            scroll = found["_scroll_id"]
            yield from hits
            found = client.scroll(body={"scroll_id": scroll, "scroll": wait})
    finally:
        if scroll is not None:
            client.clear_scroll(body={"scroll_id": scroll}, params={"ignore": [404]})


def _pages(client: "OpenSearch", options: Options, body: dict[str, Any], part: Slice) -> Iterator[Mapping[str, Any]]:
    """A slice is a part of one shard: there the number of a document, by which pages are sorted, is unique."""
    body["pit"] = {"id": part.point_in_time, "keep_alive": _keep_alive(options)}
    while hits := client.search(body=body)["hits"]["hits"]:
        yield from hits
        body["search_after"] = hits[-1]["sort"]


def query_of(options: Options) -> Any:
    """Raises ValueError for a text that is no JSON object."""
    given = options["query"]
    query = json.loads(given) if isinstance(given, str) else given
    if not isinstance(query, Mapping):
        raise ValueError(f"`{given}` is no object")
    return _plain(query)


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    return value


def _shards(client: "OpenSearch", index: str) -> Mapping[str, int]:
    found = client.indices.get_settings(index=index, name="index.number_of_shards")
    return {name: int(of["settings"]["index"]["number_of_shards"]) for name, of in sorted(found.items())}


def _point_in_time(client: "OpenSearch", index: str, options: Options) -> str:
    """OpenSearch and Elasticsearch have this by different paths."""
    wait = {"keep_alive": _keep_alive(options)}
    if client.info()["version"].get("distribution") == "opensearch":
        return str(client.create_pit(index=index, params=wait)["pit_id"])
    return str(client.transport.perform_request("POST", f"/{quote(index, safe=',*')}/_pit", params=wait)["id"])


def _keep_alive(options: Options) -> str:
    return f"{options.integer('pit_keep_alive')}ms"


def _with_times(value: Any, type: DataType) -> Any:
    """The value with numbers of milliseconds since 1970 as texts, where a time is wanted."""
    match type, value:
        case Struct(fields), dict():
            types = {field.name: field.type for field in fields}
            return {name: _with_times(item, types[name]) if name in types else item for name, item in value.items()}
        case Array(element, _), list():
            return [_with_times(item, element) for item in value]
        case Array(element, _), _ if value is not None:
            return [_with_times(value, element)]  # a field of one value is written without brackets
        case Map(_, of, _), dict():
            return {name: _with_times(item, of) for name, item in value.items()}
    if type in _TIMES and isinstance(value, int) and not isinstance(value, bool):
        return (_EPOCH + timedelta(milliseconds=value)).isoformat()
    return value
