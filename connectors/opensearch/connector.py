"""Documents of an index of OpenSearch or Elasticsearch, as Apache SeaTunnel's connectors read and write them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError, did_you_mean
from catalog.options import Option, Options, Value
from catalog.quoting import quote, quote_text
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath
from catalog.types.datatypes import UNKNOWN, DataType
from catalog.types.typenames import TypeTextError, parse_type
from connectors.documents.document_sink import DocumentSink, failure_in_task
from connectors.documents.document_source import DocumentSource
from connectors.interface.row_sink import RowWrite
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.sink import SinkCapabilities, WriteTask, refuse_unknown_columns, refuse_without_key
from connectors.interface.source import ScanTask, SourceCapabilities
from connectors.opensearch.mappings import mapping_of
from connectors.opensearch.read_documents import ID, Slice, documents_of, mapped_table, query_of, slices_of
from connectors.opensearch.search_client import check_connection, place_of, reported
from connectors.opensearch.search_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.opensearch.write_documents import DOCUMENT_ID, INDEX, changes_of, write_changes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_COLUMN: Final = re.compile(r"\$\{(\w+)\}")
_REFUSED: Final = re.compile(r'[\\/*?"<>| ,#A-Z]')
"""Characters that the name of an index cannot have."""


class SearchIndex(DocumentSource, DocumentSink):
    """What OpenSearch, Elasticsearch and Easysearch have in common."""

    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17", "opensearch-py>=2.8,<4")
    tested_against: ClassVar[tuple[str, ...] | None] = ("OpenSearch 2.19",)
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(
        column_pushdown=True, is_cheap=False, is_deterministic=False
    )
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.APPEND_DATA, DataSaveMode.DROP_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.UPSERT, WriteMode.CHANGELOG),
        row_kind_modes=(WriteMode.CHANGELOG,),
    )

    # the source

    def table_path(self, options: Options) -> TablePath | None:
        index = options.get("index")
        return TablePath(index) if isinstance(index, str) and index else None

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_connection(options, diagnostics)
        _array_types(options, diagnostics)
        try:
            query_of(options)
        except ValueError as cause:
            help = 'query = { "range": { "age": { "gte": 18 } } }'
            diagnostics.error("PEN2004", f"`query` is no query: {cause}", options.span("query"), help)
        table = declared_table(options, options.string("index"), diagnostics)
        if table is None:
            return (CatalogTable.unknown(options.string("index")),)
        for name in options.strings("source"):
            if table.column(name) is None:
                message = f"`schema` has no column `{name}`, a field of `source`"
                diagnostics.error("PEN2004", message, options.span("source"), did_you_mean(name, table.schema.names))
        return (table,)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table, else the fields of the index's mapping. Raises PEN5004."""
        declared = declared_table(options, options.string("index"), Diagnostics())
        return declared or mapped_table(options, options.strings("source"), _array_types(options, Diagnostics()))

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return _place(options)

    def partitions(self, spark: "SparkSession", task: ScanTask) -> Sequence[Any]:
        return slices_of(task.options)

    def read_documents(self, task: ScanTask, partition: Any) -> Iterable[str]:
        assert isinstance(partition, Slice)
        columns = [column for column in task.table.columns if column.name in task.names]
        return documents_of(task.options, columns, partition)

    # the sink

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        """By the key where there is one, as Apache SeaTunnel writes."""
        key = table.schema.primary_key
        if not options.strings("primary_keys") and not (key and key.columns):
            return WriteMode.APPEND
        return WriteMode.CHANGELOG if table.has_row_kind else WriteMode.UPSERT

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_connection(options, diagnostics)
        _check_index(options, table, diagnostics)
        refuse_unknown_columns(options.strings("primary_keys"), "primary_keys", options, table, diagnostics)
        is_given = options.get("write_mode") is not None
        mode = options.choice("write_mode", WriteMode) if is_given else self.default_write_mode(options, table)
        has_no_key = refuse_without_key(mode, "primary_keys", options, table, diagnostics)
        if not has_no_key and mode is WriteMode.CHANGELOG and not table.has_row_kind:
            message = "write_mode changelog needs rows with row kinds"
            diagnostics.error("PEN2011", message, options.span("write_mode"), "write_mode = upsert writes plain rows")

    def target(self, options: Options) -> str | None:
        return _place(options)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        again = "an interrupted commit writes all documents again, with the same ids: none is doubled"
        return (*super().caveats(options, actions), again)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """Raises PEN5005 where the cluster does not answer."""
        index = task.options.string("index")
        if _columns_in(index):
            return TargetState(exists=False, is_known=False)
        with reported(task.options, "PEN5005") as client:
            if not client.indices.exists(index=index):
                return TargetState(exists=False)
            has_rows = not task.asks_for_rows or client.count(index=index)["count"] > 0
        return TargetState(exists=True, has_rows=has_rows)

    def extra_columns(self, columns: Sequence[Column], task: WriteTask) -> Mapping[str, str]:
        return {DOCUMENT_ID: _document_id(task), INDEX: _index_name(task.options.string("index"))}

    def begin_rows(self, write: RowWrite, run: RunContext) -> None:
        """Raises PEN5401 where the run has another owner now, PEN5005 where the index cannot be made."""
        run.check_claim()
        index, actions = write.options.string("index"), set(write.actions)
        if _columns_in(index):
            return  # the cluster makes each index that a row is in
        with reported(write.options, "PEN5005") as client:
            if Action.DROP_AND_CREATE in actions:
                client.indices.delete(index=index, params={"ignore_unavailable": "true"})
            if {Action.DROP_AND_CREATE, Action.CREATE} & actions and not client.indices.exists(index=index):
                types = {name: parse_type(text) for name, text in write.types.items()}
                client.indices.create(index=index, body={"mappings": mapping_of(types)} if types else {})
            elif Action.REPLACE_ROWS in actions:
                everything: dict[str, Any] = {"query": {"match_all": {}}}
                client.indices.refresh(index=index)
                client.delete_by_query(index=index, body=everything, params={"conflicts": "proceed", "refresh": "true"})

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        def written() -> None:
            with reported(write.options, "PEN5005") as client:
                write_changes(client, (change for batch in batches for change in changes_of(batch)), write.options)

        return failure_in_task(batches, written)

    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        super().commit_rows(write, messages, run)
        index = write.options.string("index")
        with suppress(RunError), reported(write.options, "PEN5005") as client:  # what is written is found later, anyway
            client.indices.refresh(index=_COLUMN.sub("*", index), params={"ignore_unavailable": "true"})


class OpenSearch(SearchIndex):
    name: ClassVar[str] = "OpenSearch"
    doc: ClassVar[str] = (
        "Documents of an index of OpenSearch. A read is divided by the index's shards. A write makes requests for many "
        "documents at the commit; a document has an id of its key, or of the run and the row."
    )


connector = OpenSearch()


def _place(options: Options) -> str | None:
    try:
        return place_of(options, options.string("index"))
    except ValueError:
        return None  # is reported


def _columns_in(index: str) -> tuple[str, ...]:
    """The columns by which each row chooses its index."""
    return tuple(_COLUMN.findall(index))


def _check_index(options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
    index = options.string("index")
    refuse_unknown_columns(_columns_in(index), "index", options, table, diagnostics)
    fixed = _COLUMN.sub("", index)
    if (found := _REFUSED.search(fixed)) or fixed.startswith(("_", "-", "+")):
        shown = f"`{found[0]}`" if found else f"a `{fixed[0]}` at its start"
        message = f"the name of an index has no {shown}, and `{index}` has"
        diagnostics.error("PEN2004", message, options.span("index"), "lower case letters, digits, `-`, `_` and `.`")
    only = {
        "schema_save_mode": (SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST.value, SchemaSaveMode.IGNORE.value),
        "data_save_mode": (DataSaveMode.APPEND_DATA.value,),
    }
    for name, supported in only.items():
        if _columns_in(index) and str(options[name]).upper() not in supported:
            message = f"{name} {options[name]} is for one index, and each row of `{index}` chooses its own"
            diagnostics.error("PEN2011", message, options.span(name), f"{name} = {supported[0]}")


def _document_id(task: WriteTask) -> str:
    """Spark SQL for the `_id`: the values of the key, else a text that no other row of any run has."""
    if not task.write_mode.needs_key:
        return f"concat({quote_text(task.identity)}, '-', monotonically_increasing_id())"
    values = (f"coalesce(cast({quote(name)} as string), 'null')" for name in task.primary_keys)
    return f"concat_ws({quote_text(task.options.string('key_delimiter'))}, {', '.join(values)})"


def _index_name(index: str) -> str:
    """Spark SQL for the name, in lower case where columns are in it."""
    parts: list[str] = []
    for position, part in enumerate(_COLUMN.split(index)):
        parts.append(f"lower(cast({quote(part)} as string))" if position % 2 else quote_text(part))
    return parts[0] if len(parts) == 1 else f"concat({', '.join(parts)})"


def _array_types(options: Options, diagnostics: Diagnostics) -> Mapping[str, DataType]:
    found: dict[str, DataType] = {}
    for name, text in options.texts_by_key("array_column").items():
        try:
            found[name] = parse_type(text)
        except TypeTextError as cause:
            diagnostics.error("PEN4001", cause.message, options.span(f"array_column.{name}"), cause.help)
            found[name] = UNKNOWN
    return found


__all__ = ["ID", "SearchIndex", "connector"]
