"""How a scan becomes a read of Spark's."""

import json
from typing import TYPE_CHECKING

from catalog.diagnostics import run_error
from catalog.typenames import columns_to_ddl
from connectors.support.files.file_schema import UnknownSchemaError
from connectors.support.paimon.paimon_table import require_pypaimon
from connectors.support.paimon.table_address import address_span, folder_of, shown
from connectors.support.paimon.table_files import recorded_schema, table_of
from connectors.support.source import ScanTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TASKS_PER_CORE = 4


def read_table(spark: "SparkSession", task: ScanTask) -> "DataFrame":
    """The columns that the scan names, of the snapshot that it names."""
    require_pypaimon(task.options.span())
    from connectors.support.paimon.data_source import FORMAT, paimon_source

    options, folder = task.options, folder_of(task.options)
    try:
        schema = recorded_schema(folder, options)
    except UnknownSchemaError as cause:
        message = f"the Paimon table `{shown(options)}` cannot be read: {cause.reason}"
        raise run_error("PEN5004", message, address_span(options)) from cause
    at = {}
    if (snapshot := options.optional_integer("snapshot_id")) is not None:
        at["scan.snapshot-id"] = str(snapshot)
    if (tag := options.optional_string("tag")) is not None:
        at["scan.tag-name"] = tag
    wanted = {name.lower() for name in task.names}
    columns = [column for column in table_of(schema).columns if not wanted or column.name.lower() in wanted]
    tasks = _TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    plan = {"folder": folder, "schema": schema, "options": at, "tasks": tasks}
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(paimon_source())
    return spark.read.format(FORMAT).schema(columns_to_ddl(columns)).option("plan", json.dumps(plan)).load()
