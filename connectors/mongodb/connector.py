"""Documents of a collection of MongoDB, as Apache SeaTunnel's connector reads and writes them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, Value
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, TablePath
from catalog.types.datatypes import STRING
from catalog.types.typenames import parse_type
from connectors.documents.document_sink import DocumentSink, failure_in_task
from connectors.documents.document_source import DocumentSource
from connectors.interface.row_sink import RowWrite
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.sink import SinkCapabilities, WriteTask, refuse_unknown_columns, refuse_without_key
from connectors.interface.source import ScanTask, SourceCapabilities
from connectors.mongodb.mongo_client import check_connection, place_of, reported
from connectors.mongodb.mongo_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.mongodb.read_documents import KeyRange, documents_of, ranges_of
from connectors.mongodb.shell_json import extended_json
from connectors.mongodb.write_documents import write_documents

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


class MongoDB(DocumentSource, DocumentSink):
    name: ClassVar[str] = "MongoDB"
    doc: ClassVar[str] = "Documents of a collection of MongoDB. A write is made at the commit, by key or by `_id`."
    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17", "pymongo>=4.10,<5")
    tested_against: ClassVar[tuple[str, ...] | None] = (
        "FerretDB, which speaks MongoDB's protocol, in the soak tests; not MongoDB",
    )
    experimental: ClassVar[tuple[str, ...]] = ("reads that are divided by a key",)
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
        name = options.optional_string("collection")
        return None if name is None else TablePath(name, None, options.optional_string("database"))

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_connection(options, diagnostics)
        for name in ("match.query", "match.projection"):
            try:
                extended_json(options.optional_string(name) or "{}")
            except ValueError as cause:
                message = f"`{name}` is no document: {cause}"
                diagnostics.error("PEN2004", message, options.span(name), f'{name} = "{{ status: 1 }}"')
        table = declared_table(options, options.string("collection"), diagnostics)
        if table is None:
            return (CatalogTable.unknown(options.string("collection")),)
        if options.flag("flat.sync-string") and (len(table.columns) != 1 or table.columns[0].type != STRING):
            message = "`flat.sync-string` yields one string column"
            diagnostics.error("PEN2011", message, options.span("flat.sync-string"), "a `schema` of one string column")
        return (table,)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table: a collection describes no fields."""
        return self.tables(options, Diagnostics())[0]

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return place_of(options)

    def partitions(self, spark: "SparkSession", task: ScanTask) -> Sequence[Any]:
        return ranges_of(task.options)

    def read_documents(self, task: ScanTask, partition: Any) -> Iterable[str]:
        assert isinstance(partition, KeyRange)
        columns = [column for column in task.table.columns if column.name in task.names]
        return documents_of(task.options, columns, partition)

    # the sink

    def completed(self, options: Options) -> Options:
        """`primary-key` is what other sinks call `primary_keys`."""
        if "buffer-flush.max-rows" not in options.values:
            return options
        return replace(options, values={**options.values, "primary_keys": options.get("primary-key")})

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        """By the key where the rows have kinds, or `upsert-enable` says so."""
        if table.has_row_kind:
            return WriteMode.CHANGELOG
        return WriteMode.UPSERT if options.get("upsert-enable") else WriteMode.APPEND

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_connection(options, diagnostics)
        refuse_unknown_columns(options.strings("primary-key"), "primary-key", options, table, diagnostics)
        is_given = options.get("write_mode") is not None
        mode = options.choice("write_mode", WriteMode) if is_given else self.default_write_mode(options, table)
        has_no_key = refuse_without_key(mode, "primary-key", options, table, diagnostics)
        if not has_no_key and mode is WriteMode.CHANGELOG and not table.has_row_kind:
            message = "write_mode changelog needs rows with row kinds"
            diagnostics.error("PEN2011", message, options.span("write_mode"), "write_mode = upsert writes plain rows")

    def target(self, options: Options) -> str | None:
        return place_of(options)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        again = "an interrupted commit writes all documents again, each in the place of itself: none is doubled"
        return (*super().caveats(options, actions), again)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """Raises PEN5005 where the deployment does not answer."""
        with reported(task.options, "PEN5005") as collection:
            if collection.name not in collection.database.list_collection_names():
                return TargetState(exists=False)
            has_rows = not task.asks_for_rows or collection.find_one({}, {"_id": 1}) is not None
        return TargetState(exists=True, has_rows=has_rows)

    def begin_rows(self, write: RowWrite, run: RunContext) -> None:
        """Raises PEN5401 where the run has another owner now, PEN5005 where the collection cannot be emptied."""
        run.check_claim()
        actions = set(write.actions)
        with reported(write.options, "PEN5005") as collection:
            if Action.DROP_AND_CREATE in actions:
                collection.drop()
            if {Action.CREATE, Action.DROP_AND_CREATE} & actions:
                if collection.name not in collection.database.list_collection_names():
                    collection.database.create_collection(collection.name)
            elif Action.REPLACE_ROWS in actions:
                collection.delete_many({})

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        types = {name: parse_type(text) for name, text in write.types.items()}
        keys = write.primary_keys if write.write_mode.needs_key else ()

        def written() -> None:
            with reported(write.options, "PEN5005") as collection:
                write_documents(collection, batches, write.options, types=types, keys=keys, identity=write.identity)

        return failure_in_task(batches, written)


connector = MongoDB()
