"""Rows sent to a web service, each as a JSON object or many as an array: Apache SeaTunnel's Http sink."""

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlencode

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from catalog.options import Option, Options, Value
from catalog.secret_names import redacted_text
from catalog.tables.row_kind import ROW_KIND
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState
from catalog.tables.table import CatalogTable
from connectors.http_.http_options import SINK_OPTIONS
from connectors.http_.http_pages import client_of
from connectors.http_.http_requests import check_url
from connectors.interface.row_sink import RowSink, RowsStaged, RowWrite
from connectors.interface.run_context import RunContext
from connectors.interface.sink import SinkCapabilities, WriteTask
from connectors.records.json_rows import json_of
from connectors.shared.http_client import HttpRequest
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class HttpSink(RowSink):
    """The rows are staged; the requests are made at the commit, when all rows of the job are there."""

    stages_rows: ClassVar[bool] = False
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
    )

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_url(options, diagnostics)
        if options.integer("batch_size") > 1 and not options.flag("array_mode"):
            message = "`batch_size` has no effect: a request has one row as an object"
            diagnostics.warning("PEN2011", message, options.span("batch_size"), "array_mode = true")

    def target(self, options: Options) -> str | None:
        return redacted_text(options.string("url"))

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False, is_known=False)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        header = options.string("idempotency_header")
        repeats = f", with the same `{header}`" if header else ""
        return (f"at least once: an interrupted commit sends all requests again{repeats}",)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: RowsStaged) -> RowsStaged:
        columns = [column for column in columns_of(df.schema) if column.name != ROW_KIND]
        is_local = task.options.seatunnel is not None
        return super().stage(spark, df.selectExpr(f"{json_of(columns, is_local=is_local)} as value"), task, prepared)

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        """Send the requests of a task; returns None, or the code, message and remedy of the first that failed."""
        options, failure = write.options, None
        rows = (row for batch in batches for row in batch.column("value").to_pylist())
        bodies = _bodies(rows, options)
        try:
            _send(bodies, options, f"{write.identity} {write.partition}")
        except RunError as error:
            [first, *_] = error.diagnostics
            failure = {"code": first.code, "message": first.message, "help": first.help}
            for _ in rows:  # all batches are taken
                pass
        return failure

    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Raises PEN5004 or PEN5040, where a request failed."""
        for failure in messages:
            if isinstance(failure, dict):
                raise run_error(str(failure["code"]), str(failure["message"]), None, str(failure["help"] or "") or None)

    def abort_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Nothing was sent before the commit."""


def _bodies(rows: Iterable[str], options: Options) -> Iterator[str]:
    if not options.flag("array_mode"):
        yield from rows
        return
    batch: list[str] = []
    for row in rows:
        batch.append(row)
        if len(batch) == options.integer("batch_size"):
            yield f"[{','.join(batch)}]"
            batch = []
    if batch:
        yield f"[{','.join(batch)}]"


def _send(bodies: Iterable[str], options: Options, unit: str) -> None:
    """Make the requests, one after another. `unit`: what the keys of requests are unique in."""
    client, pause = client_of(options, follows_redirects=False), options.integer("request_interval_ms") / 1000
    seen: Counter[str] = Counter()
    for number, body in enumerate(bodies):
        if number and pause:
            time.sleep(pause)
        digest = hashlib.sha256(body.encode()).hexdigest()
        seen[digest] += 1
        key = hashlib.sha256(f"{unit} {seen[digest]} {digest}".encode()).hexdigest()
        client.text(_request(options, body, key))


def _request(options: Options, body: str, key: str) -> HttpRequest:
    url, params = options.string("url"), options.texts_by_key("params")
    label = f"`{redacted_text(url)}`"
    if params:
        url += ("&" if "?" in url else "?") + urlencode(params)
    given = options.texts_by_key("headers")
    names = {name.lower() for name in given}
    own = {"Content-Type": "application/json"}
    if header := options.string("idempotency_header"):
        own[header] = key
    headers = {**{name: text for name, text in own.items() if name.lower() not in names}, **given}
    return HttpRequest(url, options.string("method").upper(), headers, body.encode(), label)
