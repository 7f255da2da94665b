"""Keys of Redis, as Apache SeaTunnel's connector reads and writes them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, Value
from catalog.quoting import quote, quote_text
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, Column, TablePath
from catalog.types.datatypes import STRING
from connectors.documents.document_sink import POSITION, DocumentSink, failure_in_task
from connectors.documents.document_source import DocumentSource
from connectors.interface.row_sink import RowWrite
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.sink import SinkCapabilities, WriteTask, refuse_unknown_columns
from connectors.interface.source import ScanTask, SourceCapabilities
from connectors.redis_.read_keys import CONTENT, documents_of, type_of
from connectors.redis_.redis_client import check_connection, is_cluster, place_of, reported
from connectors.redis_.redis_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.redis_.write_keys import ENTRY, KEY, VALUE, part_of, rows_of, write_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_COLUMN: Final = re.compile(r"\$?\{(\w+)\}")
_TEXTS: Final = CatalogTable.of("redis", [Column(CONTENT, STRING)])


class RedisKeys(DocumentSource, DocumentSink):
    name: ClassVar[str] = "Redis"
    doc: ClassVar[str] = (
        "Keys of Redis: texts, hashes, lists, sets and sorted sets. A read scans the keys in one task; a write is made "
        "at the commit."
    )
    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17", "redis>=5.1,<9")
    tested_against: ClassVar[tuple[str, ...] | None] = ("Redis 7",)
    experimental: ClassVar[tuple[str, ...]] = ("clusters",)
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_cheap=False, is_deterministic=False)
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA,),
        row_kind_modes=(WriteMode.APPEND,),
    )

    # the source

    def table_path(self, options: Options) -> TablePath | None:
        return None

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_connection(options, diagnostics)
        table, kind = declared_table(options, "redis", diagnostics), str(options.get("format") or "").lower()
        if table is None and kind == "json":
            help = "schema { fields { id = bigint } }, or format = text"
            diagnostics.error("PEN2005", "`format = json` needs a `schema`", options.span("format"), help)
        if table is not None and kind == "text" and (len(table.columns) != 1 or table.columns[0].type != STRING):
            help = "`format = json`, or a `schema` of one string column"
            diagnostics.error("PEN2011", "`format = text` yields one string column", options.span("format"), help)
        return (table or _TEXTS,)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table: keys describe no columns."""
        return self.tables(options, Diagnostics())[0]

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return place_of(options, options.string("keys"))

    def read_documents(self, task: ScanTask, partition: Any) -> Iterable[str]:
        return documents_of(task.options, task.table.columns)

    # the sink

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_connection(options, diagnostics)
        if table.is_open:
            return
        named = {name: [str(options[name])] for name in _FIELDS if options.get(name) is not None}
        if options.flag("support_custom_key"):
            named["key"] = _COLUMN.findall(options.string("key"))
        for option, names in named.items():
            refuse_unknown_columns(names, option, options, table, diagnostics)
        if (options.get("hash_key_field") is None) != (options.get("hash_value_field") is None):
            message = "`hash_key_field` and `hash_value_field` belong together"
            given = "hash_key_field" if options.get("hash_key_field") is not None else "hash_value_field"
            diagnostics.error("PEN2011", message, options.span(given), "name both columns")

    def target(self, options: Options) -> str | None:
        return place_of(options, options.string("key"))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        again = "an interrupted commit writes all rows again, which changes nothing: the values are the same"
        if type_of(options) == "list":
            again = "an interrupted commit pushes only the values that are not in the list yet, within seven days"
            if is_cluster(options):
                again = "at least once: an interrupted commit pushes all values again"
        return (*super().caveats(options, actions), again)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """Raises PEN5005 where the server does not answer."""
        with reported(task.options, "PEN5005") as client:
            client.ping()
        return TargetState(exists=False, is_known=False)

    def extra_columns(self, columns: Sequence[Column], task: WriteTask) -> Mapping[str, str]:
        options = task.options
        value, entry = options.optional_string("value_field"), options.optional_string("hash_key_field")
        document = self.document(columns, task)
        if entry is not None:
            value = options.optional_string("hash_value_field")
        return {
            KEY: _key(options, columns),
            VALUE: document if value is None else _text_of(value),
            ENTRY: "cast(null as string)" if entry is None else _text_of(entry),
        }

    def arranged(self, df: "DataFrame", write: RowWrite) -> "DataFrame":
        """The values of a list in the order in which they were staged; of others, the last value of a key last."""
        if type_of(write.options) == "list":
            part = part_of(POSITION)
            return df.selectExpr("*", f"{part} as part").repartition("part").sortWithinPartitions(POSITION).drop("part")
        return df.repartition(KEY).sortWithinPartitions(POSITION)

    def begin_rows(self, write: RowWrite, run: RunContext) -> None:
        """Raises PEN5401 where the run has another owner now."""
        run.check_claim()

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        def written() -> None:
            with reported(write.options, "PEN5005") as client:
                write_rows(client, rows_of(batches), write.options, write.identity)

        return failure_in_task(batches, written)


connector = RedisKeys()

_FIELDS: Final = ("value_field", "hash_key_field", "hash_value_field")


def _text_of(column: str) -> str:
    return f"coalesce(cast({quote(column)} as string), '')"


def _key(options: Options, columns: Sequence[Column]) -> str:
    """Spark SQL for the key of a row."""
    key = options.string("key")
    if options.flag("support_custom_key"):
        parts = [_text_of(part) if index % 2 else quote_text(part) for index, part in enumerate(_COLUMN.split(key))]
        return f"concat({', '.join(parts)})"
    return _text_of(key) if any(column.name == key for column in columns) else quote_text(key)
