"""Tables of ClickHouse, read and written as Arrow by Python's client."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from catalog.diagnostics.diagnostic import Diagnostics
from catalog.options import Option, Options, Value
from catalog.quoting import quote
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.tables.table import CatalogTable, TablePath
from catalog.types.datatypes import has_unknown
from catalog.types.typenames import to_ddl
from connectors.clickhouse.clickhouse_client import check_connection, place_of, reported
from connectors.clickhouse.clickhouse_options import SINK_OPTIONS, SOURCE_OPTIONS
from connectors.clickhouse.clickhouse_types import written_type
from connectors.clickhouse.read_tables import QueryPart, batches_of_part, described, parts_of
from connectors.clickhouse.write_tables import create_staging, drop_staging, engine_of, publish, target_of
from connectors.documents.document_sink import failure_in_task, raise_first_failure
from connectors.interface.row_sink import RowSink, RowsStaged, RowWrite
from connectors.interface.row_source import RowSource
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import declared_table
from connectors.interface.sink import SinkCapabilities, WriteTask, refuse_unknown_columns, refuse_without_key
from connectors.interface.source import ScanTask, SourceCapabilities
from connectors.shared.spark_types import columns_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_MOVES = (Action.ADD_ROWS, Action.UPSERT_ROWS)


class Clickhouse(RowSource, RowSink):
    name: ClassVar[str] = "Clickhouse"
    doc: ClassVar[str] = (
        "Tables of ClickHouse. Rows are staged in a table next to the target, and moved or exchanged at the commit."
    )
    requirements: ClassVar[tuple[str, ...]] = ("pyarrow>=17", "clickhouse-connect>=0.8,<2")
    tested_against: ClassVar[tuple[str, ...] | None] = (
        "ClickHouse's engine in process (chDB) behind an HTTP server of the tests, not a ClickHouse server",
    )
    source_options: ClassVar[tuple[Option, ...]] = SOURCE_OPTIONS
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(
        column_pushdown=True, is_cheap=False, is_deterministic=False
    )
    sink_options: ClassVar[tuple[Option, ...]] = SINK_OPTIONS
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.APPEND_DATA, DataSaveMode.DROP_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.UPSERT),
    )

    # the source

    def table_path(self, options: Options) -> TablePath | None:
        named = options.optional_string("table_path")
        return None if named is None else TablePath(named.rpartition(".")[2])

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        check_connection(options, diagnostics)
        given = [name for name in ("sql", "table_path") if options.get(name) is not None]
        if len(given) != 1:
            what = "`sql` and `table_path` exclude each other" if given else "neither `sql` nor `table_path` is given"
            diagnostics.error("PEN2011", what, options.span(*given[:1]), 'table_path = "shop.orders"')
        if options.get("filter_query") is not None and options.get("table_path") is None:
            message = "`filter_query` is a condition for the rows of `table_path`"
            diagnostics.error("PEN2011", message, options.span("filter_query"), "write it into `sql`")
        return (declared_table(options, "clickhouse", diagnostics) or CatalogTable.unknown("clickhouse"),)

    def describe(self, spark: "SparkSession", options: Options) -> CatalogTable:
        """The declared table, else as the server describes it. Raises PEN5004."""
        return declared_table(options, "clickhouse", Diagnostics()) or described(options)

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        named = options.optional_string("table_path")
        return None if named is None else place_of(options, _qualified(options, named))

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        if task.table.is_open:
            task = replace(task, table=self.describe(spark, task.options))
        return super().read(spark, task)

    def partitions(self, task: ScanTask) -> Sequence[Any]:
        return parts_of(task.options, task.names)

    def read_partition(self, task: ScanTask, partition: Any) -> "Iterable[pa.RecordBatch]":
        assert isinstance(partition, QueryPart)
        return batches_of_part(task.options, partition)

    # the sink

    def completed(self, options: Options) -> Options:
        """`primary_key` is what other sinks call `primary_keys`."""
        if "bulk_size" not in options.values:
            return options
        return replace(options, values={**options.values, "primary_keys": options.get("primary_key")})

    def default_write_mode(self, options: Options, table: CatalogTable) -> WriteMode:
        return WriteMode.UPSERT if options.get("support_upsert") else WriteMode.APPEND

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        check_connection(options, diagnostics)
        refuse_unknown_columns(options.strings("primary_key"), "primary_key", options, table, diagnostics)
        is_given = options.get("write_mode") is not None
        mode = options.choice("write_mode", WriteMode) if is_given else self.default_write_mode(options, table)
        refuse_without_key(mode, "primary_key", options, table, diagnostics)
        for column in table.columns:
            if not has_unknown(column.type) and written_type(column.type, nullable=column.nullable) is None:
                message = f"ClickHouse has no type for the column `{column.name}` of type {column.type}"
                diagnostics.error("PEN4003", message, options.span("table"), "cast it to string")

    def target(self, options: Options) -> str | None:
        return place_of(options, _qualified(options, options.string("table")))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        if not set(_MOVES) & set(actions) or set(actions) & {Action.CREATE, Action.DROP_AND_CREATE}:
            return ()
        upsert = ("rows of equal key are deleted before the new ones are there: readers may miss them for a moment",)
        parts = "readers may see the rows of some partitions before those of others"
        others = "in a table that is not of the MergeTree family, an interrupted commit may add rows again"
        return (*(upsert if Action.UPSERT_ROWS in actions else ()), parts, others)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        """Raises PEN5005 where the server does not answer."""
        target = target_of(task.options, "")
        with reported(task.options, "PEN5005") as client:
            if engine_of(client, target.database, target.table) is None:
                return TargetState(exists=False)
            has_rows = not task.asks_for_rows or bool(client.query(f"SELECT 1 FROM {target.sql} LIMIT 1").result_rows)
        return TargetState(exists=True, has_rows=has_rows)

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: RowsStaged) -> RowsStaged:
        types = {column.name: to_ddl(column.type) for column in columns_of(df.schema)}
        if prepared.write.write_mode is WriteMode.UPSERT:
            df = _last_of_each_key(df, prepared.write.primary_keys)
        staged = super().stage(spark, df, task, replace(prepared, write=replace(prepared.write, types=types)))
        raise_first_failure(staged.messages)
        return staged

    def begin_rows(self, write: RowWrite, run: RunContext) -> None:
        with reported(write.options, "PEN5005") as client:
            create_staging(client, target_of(write.options, write.identity), write)

    def write_rows(self, write: RowWrite, batches: "Iterator[pa.RecordBatch]") -> Value:
        import pyarrow as pa

        target, most = target_of(write.options, write.identity), write.options.integer("bulk_size")

        def written() -> None:
            with reported(write.options, "PEN5005") as client:
                for batch in batches:
                    for start in range(0, batch.num_rows, most):
                        part = pa.Table.from_batches([batch.slice(start, most)])
                        client.insert_arrow(target.staging, part, database=target.database)

        return failure_in_task(batches, written)

    def commit_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        """Raises PEN5401 where the run has another owner now."""
        target = target_of(write.options, write.identity)
        run.check_claim()
        with reported(write.options, "PEN5005") as client:
            publish(client, target, write)
            drop_staging(client, target)

    def abort_rows(self, write: RowWrite, messages: Sequence[Value], run: RunContext) -> None:
        with reported(write.options, "PEN5005") as client:
            drop_staging(client, target_of(write.options, write.identity))


connector = Clickhouse()


def _qualified(options: Options, name: str) -> str:
    return name if "." in name else f"{options.string('database')}.{name}"


def _last_of_each_key(df: "DataFrame", keys: Sequence[str]) -> "DataFrame":
    numbered = df.selectExpr("*", "monotonically_increasing_id() as __position")
    by = f"partition by {', '.join(map(quote, keys))} order by __position desc"
    ranked = numbered.selectExpr("*", f"row_number() over ({by}) as __rank")
    return ranked.where("__rank = 1").drop("__position", "__rank")
