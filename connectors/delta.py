"""Delta Lake tables by path: one transaction for each write, the same run id at most once."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Final

from catalog.datatypes import VOID, Struct, has_unknown, parts
from catalog.diagnostics import Diagnostics, RunError, did_you_mean, run_error
from catalog.quoting import quote
from catalog.savemode import Action, DataSaveMode, SchemaSaveMode, TargetState, WriteMode
from catalog.table import CatalogTable, Column
from connectors.support.files import file_commit
from connectors.support.files.delta_log import latest_columns
from connectors.support.files.file_commit import FileStaged
from connectors.support.files.file_schema import UnknownSchemaError, local_path, spark_path, target_folder
from connectors.support.files.file_types import can_hold
from connectors.support.files.filesystem import as_uri, committing, files_at
from connectors.support.option import SAVE_OPTIONS, Option, Options, OptionType
from connectors.support.schema_option import SCHEMA_OPTION, declared_table, refuse_missing_columns
from connectors.support.sink import Sink, SinkCapabilities, WriteTask
from connectors.support.source import ScanTask, Source, SourceCapabilities
from connectors.support.spark_types import table_of
from connectors.support.staged import Staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VERSION: Final = "4.4.0"
_SIGNS: Final = frozenset(" ,;{}()\n\t=")
"""What no name of a column may hold without column mapping (Delta's `SchemaMergingUtils`)."""
EVOLUTION: Final = Option(
    "schema_evolution",
    OptionType.STRING,
    "What happens where the rows have columns that the target lacks.",
    default="fail",
    choices=("fail", "add_columns"),
)


@dataclass(frozen=True, slots=True)
class DeltaStaged(FileStaged):
    """How Delta is to write the staged rows."""

    save: str
    settings: Mapping[str, str]
    by: tuple[str, ...]
    keeps_schema: bool


class Delta(Source, Sink[DeltaStaged]):
    name: ClassVar[str] = "Delta"
    doc: ClassVar[str] = "Reads and writes Delta Lake tables, local or of any Hadoop file system."
    maven: ClassVar[tuple[str, ...]] = (f"io.delta:delta-spark_4.1_2.13:{VERSION}",)
    session_settings: ClassVar[Mapping[str, str]] = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    source_options: ClassVar[tuple[Option, ...]] = (
        Option("path", OptionType.STRING, "The table's directory.", required=True),
        SCHEMA_OPTION,
        Option("version", OptionType.INTEGER, "Reads the table as of this version.", alternatives=("versionAsOf",)),
        Option("timestamp", OptionType.STRING, "Reads the table as of this time.", alternatives=("timestampAsOf",)),
    )
    source_capabilities: ClassVar[SourceCapabilities] = SourceCapabilities(is_pruned_by_spark=True)
    sink_options: ClassVar[tuple[Option, ...]] = (
        Option("path", OptionType.STRING, "The table's directory.", required=True),
        Option(
            "partition_by",
            OptionType.LIST,
            "Columns by which a new table is partitioned.",
            element=OptionType.STRING,
            alternatives=("partitionBy",),
        ),
        EVOLUTION,
        *SAVE_OPTIONS,
    )
    staged_type: ClassVar[type[Staged]] = DeltaStaged
    sink_capabilities: ClassVar[SinkCapabilities] = SinkCapabilities(
        schema_save_modes=tuple(SchemaSaveMode),
        data_save_modes=(DataSaveMode.DROP_DATA, DataSaveMode.APPEND_DATA, DataSaveMode.ERROR_WHEN_DATA_EXISTS),
        write_modes=(WriteMode.APPEND, WriteMode.OVERWRITE_PARTITIONS),
        fills_columns=True,
    )

    def tables(self, options: Options, diagnostics: Diagnostics) -> tuple[CatalogTable, ...]:
        if options.get("version") is not None and options.get("timestamp") is not None:
            diagnostics.error("PEN2011", "`version` and `timestamp` exclude each other", options.span("timestamp"))
        if declared := declared_table(options, "delta", diagnostics):
            _check_declared(declared, options, diagnostics)
            return (declared,)
        try:
            path = local_path(options.string("path"))
            if path is None:
                raise UnknownSchemaError("its file system is not read before the run")
            if options.get("timestamp") is not None:
                raise UnknownSchemaError("only Spark knows which version `timestamp` means")
            columns = latest_columns(path, options.get("version"))
            return (CatalogTable.of(os.path.basename(path.rstrip("/")) or "delta", columns),)
        except UnknownSchemaError as cause:
            help = "name its columns: `schema { fields { name = type } }`, in SQL `CREATE TABLE name (column type, …)`"
            message = f"the columns of `{options['path']}` are not known: {cause.reason}"
            diagnostics.error("PEN4002", message, options.span("path"), help)
            return (CatalogTable.unknown("delta"),)

    def read(self, spark: "SparkSession", task: ScanTask) -> "DataFrame":
        reader = spark.read.format("delta")
        for option, spark_name in (("version", "versionAsOf"), ("timestamp", "timestampAsOf")):
            if task.options.get(option) is not None:
                reader = reader.option(spark_name, str(task.options[option]))
        df = reader.load(spark_path(task.options.string("path")))
        names = task.columns or (() if task.table.is_open else task.table.schema.names)
        return df.select(*map(quote, names)) if names else df

    def validate(self, options: Options, table: CatalogTable, diagnostics: Diagnostics) -> None:
        file_commit.check_path(options, diagnostics)
        for name in options.strings("partition_by"):
            if not table.is_open and table.column(name) is None:
                hint = did_you_mean(name, table.schema.names)
                diagnostics.error(
                    "PEN4008", f"no column `{name}` to partition the table by", options.span("partition_by"), hint
                )
        for column in table.columns:
            if not has_unknown(column.type) and not can_hold("delta", column.type):
                message = f"Delta tables cannot hold the column `{column.name}` of type {column.type}"
                diagnostics.error("PEN4003", message, options.span("path"), "cast it to string")
        place = local_path(options.string("path"))
        if place is not None and not os.path.exists(os.path.join(place, "_delta_log")):
            _refuse_for_new_table(table.columns, options, diagnostics)

    def target(self, options: Options) -> str | None:
        return target_folder(options.string("path"))

    def caveats(self, options: Options, actions: Sequence[Action]) -> tuple[str, ...]:
        return ("its rows are written twice: staged as Parquet, then by Delta's one transaction",)

    def inspect(self, spark: "SparkSession", task: WriteTask) -> TargetState:
        files, target = files_at(spark, task.options.string("path"))
        if not files.exists(f"{target}/_delta_log"):
            if files.is_file(target) or files.children(target):
                message = f"`{target}` holds files that are not a Delta table"
                raise run_error("PEN5005", message, task.options.span("path"))
            _check_new_columns(task.table.columns, task.options)
            return TargetState(exists=False)
        df = spark.read.format("delta").load(as_uri(target))
        if "delta.columnMapping.mode" not in _properties(spark, as_uri(target)):
            is_new = task.schema_save_mode is SchemaSaveMode.RECREATE_SCHEMA
            known = () if is_new else [name.lower() for name in df.columns]
            new = [column for column in task.table.columns if column.name.lower() not in known]
            _check_new_columns(new, task.options)
        asks_for_rows = task.data_save_mode is DataSaveMode.ERROR_WHEN_DATA_EXISTS
        return TargetState(True, not df.isEmpty() if asks_for_rows else True, table_of("target", df.schema))

    def prepare(self, spark: "SparkSession", task: WriteTask, actions: Sequence[Action]) -> DeltaStaged:
        recreates = Action.DROP_AND_CREATE in actions
        replaces = recreates or Action.REPLACE_ROWS in actions or Action.REPLACE_PARTITIONS in actions
        settings = {
            "mergeSchema": str(task.options["schema_evolution"] == "add_columns").lower(),
            "overwriteSchema": str(recreates).lower(),
            "partitionOverwriteMode": "dynamic" if Action.REPLACE_PARTITIONS in actions else "static",
        }
        by = task.options.strings("partition_by") if recreates or Action.CREATE in actions else ()
        places = file_commit.prepare(spark, task, actions)
        return DeltaStaged(
            **{each.name: getattr(places, each.name) for each in fields(places)},
            save="overwrite" if replaces else "append",
            settings={key: value for key, value in settings.items() if value != "false"},
            by=by,
            keeps_schema=not recreates and Action.CREATE not in actions,
        )

    def stage(self, spark: "SparkSession", df: "DataFrame", task: WriteTask, prepared: DeltaStaged) -> DeltaStaged:
        def write(frame: "DataFrame", folder: str, by: list[str]) -> None:
            frame.write.mode("overwrite").parquet(folder)

        if prepared.keeps_schema:
            df = _checked(spark, df, prepared.target)
        return file_commit.stage(spark, df, task, prepared, by=[], write=write, end=self.commit)

    def keeps_rows(self, options: Options) -> bool:
        return True

    def staged_rows(self, spark: "SparkSession", task: WriteTask, staged: DeltaStaged) -> "DataFrame":
        return spark.read.parquet(file_commit.staged_data(spark, staged))

    def commit(self, spark: "SparkSession", staged: DeltaStaged) -> None:
        """One transaction. Delta keeps the run's id in its log and passes over a second one of the same id."""
        with committing(spark, staged.staging) as is_due:
            if is_due:
                _write(spark, staged)
        file_commit.abort(spark, staged)

    def abort(self, spark: "SparkSession", staged: DeltaStaged) -> None:
        file_commit.abort(spark, staged)


connector = Delta()


def _check_declared(table: CatalogTable, options: Options, diagnostics: Diagnostics) -> None:
    """Report declared columns that the log lacks, where it can be read: the run would fail."""
    path = local_path(options.string("path"))
    if path is None or options.get("timestamp") is not None:
        return
    with suppress(UnknownSchemaError):
        names = [column.name for column in latest_columns(path, options.get("version"))]
        refuse_missing_columns(table, names, options, diagnostics)


def _write(spark: "SparkSession", staged: DeltaStaged) -> None:
    rows = spark.read.parquet(file_commit.staged_data(spark, staged))
    writer = rows.write.format("delta").mode(staged.save).options(**staged.settings)
    writer = writer.option("txnAppId", f"penstock/{staged.identity}").option("txnVersion", 1)
    (writer.partitionBy(*staged.by) if staged.by else writer).save(staged.target)


def _check_new_columns(columns: Sequence[Column], options: Options) -> None:
    diagnostics = Diagnostics()
    _refuse_for_new_table(columns, options, diagnostics)
    if diagnostics.has_errors:
        raise RunError(diagnostics)


def _refuse_for_new_table(columns: Sequence[Column], options: Options, diagnostics: Diagnostics) -> None:
    """What only a table that is there already may have: columns with certain signs (by column mapping), and NULLs of no
    type (in the table's type). Delta itself would say so when the other sinks have been committed."""
    for column in columns:
        at = options.span("path")
        nested = [field.name for part in parts(column.type) if isinstance(part, Struct) for field in part.fields]
        for name in (column.name, *nested):
            if _SIGNS & set(name):
                message = (
                    f"a new Delta table cannot have a column `{name}`: a blank or one of `,;{{}}()=` is in its name"
                )
                diagnostics.error("PEN4003", message, at, "give it another name: AS, or the transform FieldRename")
        if VOID in parts(column.type):
            message = f"the column `{column.name}` of type {column.type} cannot be stored in a new Delta table"
            diagnostics.error("PEN4003", message, at, "cast its NULLs to the intended type")


def _properties(spark: "SparkSession", target: str) -> dict[str, str]:
    detail = spark.sql(f"describe detail delta.{quote(target)}").select("properties").first()
    return dict(detail[0]) if detail is not None else {}


def _checked(spark: "SparkSession", df: "DataFrame", target: str) -> "DataFrame":
    """The rows, failing where one breaks a constraint of the table: Delta itself would say so only at the commit."""
    properties = _properties(spark, target)
    demands = {name: text for name, text in properties.items() if name.startswith("delta.constraints.")}
    written = {name.lower() for name in df.columns}
    for field in spark.read.format("delta").load(target).schema.fields:
        if not field.nullable and field.name.lower() in written:
            demands[f"not null of {field.name}"] = f"{quote(field.name)} is not null"
    for name, text in demands.items():
        message = f"a row breaks the constraint {name.removeprefix('delta.constraints.')} of the Delta table"
        df = df.where(f"assert_true(coalesce({text}, false), '{message}') is null")
    return df
