"""Any data source of Spark, by format and options, or a table of Spark's catalog.

Rows are staged as Parquet next to the run's journal and written by the data source at the commit. Whether that write is
atomic depends on the data source. An interrupted append is not repeated, since its rows may already be in the target:

    <run>/staging/<write id>/data     the staged rows
    <run>/staging/<write id>/begun    the data source has started to write them
    <run>/staging/<write id>/done     it has written them; what is left here can be removed
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.diagnostics.diagnostic import Diagnostics, RunError, run_error
from catalog.options import SAVE_OPTIONS, Option, Options, OptionType
from catalog.outside import Fill
from catalog.secret_names import is_secret_name, redacted
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState
from catalog.tables.table import CatalogTable
from connectors.interface.run_context import RunContext
from connectors.interface.schema_option import SCHEMA_OPTION, declared_table
from connectors.interface.sink import Sink, SinkCapabilities, WriteTask
from connectors.interface.source import STREAM, ScanTask, Source, SourceCapabilities
from connectors.interface.source_abilities import SupportsStreaming
from connectors.matching.catalog_tables import full_name
from connectors.shared.active_session import active_session
from connectors.shared.staged import Staged, secret_mapping
from connectors.storage.filesystem import as_uri, committing, files_at
from connectors.storage.paths import target_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT: Final = Option("format", OptionType.STRING, "The data source, as `spark.read.format` takes it.", required=True)
OPTIONS: Final = Option("options", OptionType.MAP, "Its options, passed to Spark unchanged.")
PATH: Final = Option(
    "path",
    OptionType.STRING,
    "The path to read or write, for data sources that have one.",
    fill=Fill.PATH,
)
TABLE: Final = Option(
    "table",
    OptionType.STRING,
    "A table of Spark's catalog, instead of a path.",
    fill=Fill.SPARK_TABLE,
)


@dataclass(frozen=True, slots=True)
class SparkStaged(Staged):
    """`staging`: the directory of the staged rows; the other fields are for the data source at the commit."""

    staging: str
    run_id: str
    format: str
    save: str
    path: str | None
    table: str | None
    options: Mapping[str, str]
    secrets: Mapping[str, str] = secret_mapping()


class Spark(Source, SupportsStreaming, Sink[SparkStaged]):
    name: ClassVar[str] = "Spark"
    doc: ClassVar[str] = (
        "Reads and writes through any Spark data source. Its commit is as atomic as that source's own writes."
    )
    source_options: ClassVar[tuple[Option, ...]] = (FORMAT, PATH, TABLE, OPTIONS, SCHEMA_OPTION, STREAM)
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True, is_cheap=False)
    sink_options: ClassVar[tuple[Option, ...]] = (FORMAT, PATH, TABLE, OPTIONS, *SAVE_OPTIONS)
    staged_type: ClassVar[type[Staged]] = SparkStaged
    aborts_without_spark: ClassVar[bool] = True
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        allows_concurrent_runs=True,
        schema_save_modes=(SchemaSaveMode.CREATE_SCHEMA_WHEN_NOT_EXIST, SchemaSaveMode.IGNORE),
        data_save_modes=(DataSaveMode.APPEND_DATA, DataSaveMode.DROP_DATA),
    )

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        _check_place(options, diagnostics)
        table = declared_table(options, "spark", diagnostics)
        if table is not None:
            return (table,)
        help = "name its columns: `schema { fields { name = type } }`, in SQL `CREATE TABLE name (column type, …)`"
        diagnostics.error(
            "PEN4002", f"the columns of a `{options['format']}` source are not known", options.span(), help
        )
        return (CatalogTable.unknown("spark"),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        options, table = task.options, task.table
        reader = spark.read.format(options.string("format")).options(**options.texts_by_key("options"))
        place = options.optional_string("path")
        if options.get("table") is not None:
            with active_session(spark, spark._jsparkSession):  # whose setting says that `${…}` in a name is no variable
                df = reader.table(options.string("table"))
        elif table.is_open or not _takes_schema(options):
            df = reader.load(place) if place else reader.load()
        else:
            reader = reader.schema(columns_to_ddl(table.columns))
            df = reader.load(place) if place else reader.load()
        return task.selected(df)

    def origin(self, options: Options, table: CatalogTable) -> str | None:
        return self.target(options)

    def target(self, options: Options) -> str | None:
        name, path = options.optional_string("table"), options.optional_string("path")
        if name is not None:
            return f"catalog:{'.'.join(full_name(name)).lower()}"
        return None if path is None else target_folder(path)

    def stream_obstacle(self, options: Options) -> str | None:
        known = options.string("format").lower() in _STREAMS
        return None if known else f"Spark's data source `{options['format']}` is not one that it reads as a stream"

    def stream_identity(self, options: Options) -> str:
        return f"{options['format']} {options.get('path') or options.get('table') or ''}"

    def stream(self, spark: "SparkSession", task: ScanTask, *, is_new: bool) -> "DataFrame":
        options, table = task.options, task.table
        reader = spark.readStream.format(options.string("format")).options(**options.texts_by_key("options"))
        if not table.is_open and _takes_schema(options):
            reader = reader.schema(columns_to_ddl(table.columns))
        place = options.optional_string("path")
        df = reader.load(place) if place else reader.load()
        return task.selected(df)

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        _check_place(options, diagnostics)

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        if _appends(options.choice("data_save_mode", DataSaveMode)):
            reason = "an interrupted append may leave part of its rows, and `--resume` does not repeat it"
        else:
            reason = "readers may see it empty or half written until the commit ends"
        return (f"not atomic: the commit is a write of the data source `{options['format']}`; {reason}",)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        return TargetState(exists=False, is_known=False)  # data sources have no general way to ask

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> SparkStaged:
        options, given = task.options, task.options.texts_by_key("options")
        return SparkStaged(
            staging=task.scratch,
            run_id=task.run_id,
            format=options.string("format"),
            save="append" if _appends(task.data_save_mode) else "overwrite",
            path=options.optional_string("path"),
            table=options.optional_string("table"),
            options={key: value for key, value in given.items() if not _is_secret(key, value)},
            secrets={key: value for key, value in given.items() if _is_secret(key, value)},
        )

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: SparkStaged) -> SparkStaged:
        self.abort(spark, prepared, task.run)  # notes of an earlier try, as that of a run which was dismissed
        try:
            df.write.mode("overwrite").parquet(f"{prepared.staging}/data")
        except BaseException:
            with suppress(OSError):  # the run's own abort tries again, and reports what is left
                self.abort(spark, prepared, task.run)
            raise
        return prepared

    def commit(self, spark: "SparkSession", staged: SparkStaged, run: RunContext) -> None:
        """Raises `RunError` PEN5010 if an earlier append was interrupted: its rows may already be in the target."""
        with committing(spark, staged.staging) as is_due:
            if is_due:
                _write(spark, staged)
        self.abort(spark, staged, run)

    def abort(self, spark: "SparkSession", staged: SparkStaged, run: RunContext) -> None:
        files, staging = files_at(spark, staged.staging)
        files.delete(staging)


connector = Spark()


def _write(spark: "SparkSession", staged: SparkStaged) -> None:
    files, staging = files_at(spark, staged.staging)
    if staged.save == "append" and not files.write_new(f"{staging}/begun", ""):
        raise _in_doubt(staged)
    rows = spark.read.parquet(as_uri(f"{staging}/data"))
    given = {**_keeping_definition(staged), **staged.options, **staged.secrets}
    writer = rows.write.format(staged.format).mode(staged.save).options(**given)
    if staged.table is not None:
        writer.saveAsTable(staged.table)
    else:
        writer.save(*(() if staged.path is None else (staged.path,)))


def _keeping_definition(staged: SparkStaged) -> Mapping[str, str]:
    """A database's table is emptied, not dropped: its keys, types, indexes and grants stay. Spark does so for databases
    whose TRUNCATE it knows to leave other tables alone."""
    is_replaced = staged.save == "overwrite" and staged.format.lower() == "jdbc"
    is_given = any(name.lower() == "truncate" for name in staged.options)
    return {"truncate": "true"} if is_replaced and not is_given else {}


def _appends(mode: DataSaveMode) -> bool:
    return mode is not DataSaveMode.DROP_DATA


def _in_doubt(staged: SparkStaged) -> RunError:
    target = staged.table or staged.path or staged.format
    message = (
        f"run `{staged.run_id}` was interrupted while `{staged.format}` appended its rows to `{target}`: "
        "some or all of them may be there"
    )
    help = (
        f"`penstock runs --forget {staged.run_id}` dismisses the run and leaves `{target}` as it is; where its rows "
        f"are not there, then run the job again with `--run-id {staged.run_id}`: it writes only what is not committed"
    )
    return run_error("PEN5010", message, None, help)


def _is_secret(name: str, value: str) -> bool:
    """Whether the option stays out of the journal, by its name or a password in its value (`kafka.sasl.jaas.config`).

    A resumed commit must find it in Spark's own configuration.
    """
    return is_secret_name(name) or redacted(value) != value


_STREAMS: Final = ("rate", "rate-micro-batch", "delta", "parquet", "orc", "json", "csv", "text", "binaryfile", "socket")
"""Data sources of Spark and Delta that have streams."""

_OWN_SCHEMA: Final = ("jdbc", "delta", "iceberg", "binaryfile", "rate", "kafka", "state-metadata", "range")
"""Sources that refuse a schema: theirs is fixed."""


def _takes_schema(options: Options) -> bool:
    return options.string("format").lower() not in _OWN_SCHEMA


def _check_place(options: Options, diagnostics: Diagnostics) -> None:
    if options.get("path") is not None and options.get("table") is not None:
        diagnostics.error("PEN2011", "`path` and `table` exclude each other", options.span("table"))
