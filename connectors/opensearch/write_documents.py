"""Writes documents by requests for many, each repeated as long as the cluster has no room for it."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from catalog.diagnostics.diagnostic import run_error
from catalog.options import Options
from connectors.documents.document_sink import DOCUMENT, IS_DELETE

if TYPE_CHECKING:
    import pyarrow as pa
    from opensearchpy import OpenSearch

DOCUMENT_ID: Final = "document_id"
INDEX: Final = "index_name"
_MOST_BYTES: Final = 8 * 1024 * 1024
_NO_ROOM: Final = (429, 503)
_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document of a request: its lines, and the id by which an error names it."""

    id: str
    lines: str


def changes_of(batch: "pa.RecordBatch") -> Iterator[DocumentChange]:
    """The documents of staged rows."""
    columns = (batch.column(name).to_pylist() for name in (DOCUMENT, DOCUMENT_ID, INDEX, IS_DELETE))
    for document, id, index, is_delete in zip(*columns, strict=True):
        head = json.dumps({"delete" if is_delete else "index": {"_index": index, "_id": id}})
        yield DocumentChange(id, f"{head}\n" if is_delete else f"{head}\n{document}\n")


def write_changes(client: "OpenSearch", changes: Iterable[DocumentChange], options: Options) -> int:
    """How many were written. Raises PEN5005 for the first document that the cluster refuses."""
    written = 0
    for request in _requests(changes, options.integer("max_batch_size")):
        left, repeated = request, 0
        while left := _refused_for_now(client, left, options):
            if repeated == options.integer("max_retry_count"):
                message = f"the cluster had no room for {len(left)} documents, such as `{left[0].id}`"
                help = "raise `max_retry_count`, or lower `max_batch_size` and `parallelism`"
                raise run_error("PEN5005", message, None, help)
            time.sleep(_SECONDS * 2**repeated)
            repeated += 1
        written += len(request)
    return written


def _requests(changes: Iterable[DocumentChange], most: int) -> Iterator[list[DocumentChange]]:
    request: list[DocumentChange] = []
    size = 0
    for change in changes:
        if request and (len(request) >= most or size + len(change.lines) > _MOST_BYTES):
            yield request
            request, size = [], 0
        request.append(change)
        size += len(change.lines)
    if request:
        yield request


def _refused_for_now(client: "OpenSearch", request: list[DocumentChange], options: Options) -> list[DocumentChange]:
    """The documents that the cluster had no room for; raises PEN5005 for others that it refused."""
    response = client.bulk(body="".join(change.lines for change in request))
    if not response.get("errors"):
        return []
    left = []
    for change, item in zip(request, response["items"], strict=True):
        [(kind, result)] = item.items()
        status = result.get("status", 0)
        if status in _NO_ROOM:
            left.append(change)
        elif status >= 300 and not (kind == "delete" and status == 404):
            message = f"the cluster refused the document `{change.id}` ({status}): {_reason(result.get('error'))}"
            raise run_error("PEN5005", message, None, "change the mapping of the index, or the column in the job")
    return left


def _reason(error: Any) -> str:
    """The innermost cause."""
    found = str(error)
    while isinstance(error, Mapping):
        found = str(error.get("reason") or found)
        error = error.get("caused_by")
    return found
