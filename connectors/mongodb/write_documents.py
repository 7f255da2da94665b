"""Writes staged rows as documents, each by its `_id` or its key: a repeated request changes nothing."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from catalog.options import Options
from catalog.types.datatypes import DataType, Field, Struct
from connectors.documents.document_sink import DOCUMENT, IS_DELETE, POSITION
from connectors.documents.exact_json import parsed
from connectors.mongodb.bson_values import bson_value

if TYPE_CHECKING:
    import pyarrow as pa

ID = "_id"


def write_documents(
    collection: Any,
    batches: "Iterable[pa.RecordBatch]",
    options: Options,
    *,
    types: Mapping[str, DataType],
    keys: Sequence[str],
    identity: str,
) -> None:
    """`keys`: the fields by which a document is found; none: its `_id`, which is made of `identity` and the row where
    the row has none."""
    from pymongo import DeleteOne, ReplaceOne, UpdateOne

    row_type = Struct(tuple(Field(name, type) for name, type in types.items()))

    def changes() -> Iterator[Any]:
        for row in (row for batch in batches for row in batch.to_pylist()):
            document = bson_value(parsed(row[DOCUMENT]), row_type)
            found = {name: document.get(name) for name in keys}
            if row[IS_DELETE]:
                yield DeleteOne(found or {ID: document.get(ID)})
            elif found:
                yield UpdateOne(found, {"$set": document}, upsert=True)
            else:
                document = {ID: _id_of(identity, row[POSITION]), **document}
                yield ReplaceOne({ID: document[ID]}, document, upsert=True)

    given = changes()
    while several := list(islice(given, options.integer("buffer-flush.max-rows"))):
        collection.bulk_write(several, ordered=bool(keys))


def _id_of(identity: str, position: int) -> Any:
    from bson import ObjectId

    return ObjectId(hashlib.sha256(f"{identity} {position}".encode()).digest()[:12])
