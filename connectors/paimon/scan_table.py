"""How a scan becomes a read of Spark's."""

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from catalog.diagnostics.diagnostic import run_error
from catalog.tables.ddl import columns_to_ddl
from catalog.tables.table import Column
from catalog.types.datatypes import INT
from connectors.files.file_schema import UnknownSchemaError
from connectors.interface.incremental import Incremental, NewRows, ReadProgress, Since
from connectors.interface.source import ScanTask
from connectors.paimon.file_predicates import file_predicates
from connectors.paimon.paimon_table import opened, require_pypaimon
from connectors.paimon.split_reading import BUCKET
from connectors.paimon.stream_source import appending_snapshots
from connectors.paimon.table_address import address_span, folder_of, shown
from connectors.paimon.table_files import Schema, recorded_schema, table_of
from connectors.shared.active_session import active_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS_PER_CORE = 4


def read_table(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """The columns that the scan names, of the snapshot that it names."""
    options, schema = task.options, _schema(task)
    at: dict[str, str] = {}
    if (snapshot := options.optional_integer("snapshot_id")) is not None:
        at["scan.snapshot-id"] = str(snapshot)
    if (tag := options.optional_string("tag")) is not None:
        at["scan.tag-name"] = tag
    predicates = list(file_predicates(task.filters, table_of(schema)))
    described = _described(spark, folder_of(options), schema, _columns(task, schema), options=at, predicates=predicates)
    return _loaded(spark, described)


def read_appended(spark: "SparkSession", task: ScanTask, asked: Incremental, since: Since) -> NewRows:
    """The columns that the scan names, of the rows that the snapshots of one run have appended."""
    schema = _schema(task)
    table = opened(folder_of(task.options), schema)
    latest = table.snapshot_manager().get_latest_snapshot()
    until = int(since.until.value) if since.until else latest.id if latest else 0
    after = min(_first(asked, since), until)
    try:
        if after:
            appending_snapshots(table, after, until)
    except ValueError as error:
        help = "`penstock state JOB --reset NAME` has the next run read the whole table"
        raise run_error("PEN5004", str(error), task.options.span("incremental"), help) from error
    folder, columns = folder_of(task.options), _columns(task, schema)
    df = _loaded(spark, _described(spark, folder, schema, columns, after=after, until=until))
    return NewRows(df, lambda: ReadProgress(str(until)) if until else None)


def read_with_buckets(
    spark: "SparkSession", folder: str, schema: Schema, snapshot: int, names: Collection[str]
) -> "DataFrame":
    """These columns of the table's rows as of a snapshot, and `BUCKET`."""
    columns = [*(column for column in table_of(schema).columns if column.name in names), Column(BUCKET, INT)]
    at = {"scan.snapshot-id": str(snapshot)}
    return _loaded(spark, _described(spark, folder, schema, columns, options=at))


def _first(asked: Incremental, since: Since) -> int:
    """The snapshot after which a run begins."""
    if since.after is None:
        return max(int(asked.initial or 1) - 1, 0)
    return max(int(since.after.value) - int(asked.lag or 0), 0)


def _loaded(spark: "SparkSession", described: tuple[str, str, str]) -> "DataFrame":
    format, ddl, plan = described
    with active_session(spark, spark._jsparkSession):
        return spark.read.format(format).schema(ddl).option("plan", plan).load()


def stream_table(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """A streaming DataFrame of the columns that the scan names: the rows of the table, then those that are appended."""
    schema = _schema(task)
    format, ddl, plan = _described(spark, folder_of(task.options), schema, _columns(task, schema))
    with active_session(spark, spark._jsparkSession):
        return spark.readStream.format(format).schema(ddl).option("plan", plan).load()


def _schema(task: ScanTask) -> Schema:
    require_pypaimon(task.options.span())
    try:
        return recorded_schema(folder_of(task.options), task.options)
    except UnknownSchemaError as cause:
        message = f"the Paimon table `{shown(task.options)}` cannot be read: {cause.reason}"
        raise run_error("PEN5004", message, address_span(task.options)) from cause


def _columns(task: ScanTask, schema: Schema) -> list[Column]:
    wanted = {name.lower() for name in task.names}
    return [column for column in table_of(schema).columns if not wanted or column.name.lower() in wanted]


def _described(
    spark: "SparkSession", folder: str, schema: Schema, columns: Sequence[Column], **more: object
) -> tuple[str, str, str]:
    """The name of the data source, the columns as DDL, and the option `plan`; `more` of it than the usual."""
    from connectors.paimon.data_source import FORMAT, paimon_source

    with active_session(spark, spark._jsparkSession):  # Spark refuses a name that another active session knows
        spark.dataSource.register(paimon_source())
    tasks = _TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    plan = {"folder": folder, "schema": schema, "options": {}, "tasks": tasks, **more}
    return FORMAT, columns_to_ddl(columns), json.dumps(plan)
