"""Iceberg's type `time`, which Spark has no reader for: found when the job is checked, or left out."""

import json
from datetime import time

import pytest

from connectors.in_memory import ROWS
from engine.cli import main
from tests.connectors.kafka.jobs import run

TIME = {"id": 2, "name": "at", "required": False, "type": "time"}
NESTED = {"id": 2, "name": "day", "required": False, "type": {
    "type": "struct", "fields": [{"id": 3, "name": "opens", "required": False, "type": "time"}]}}  # fmt: skip


def job_of(folder, options: str = "", sink: str = "Console {}") -> str:
    return f'source {{ Iceberg {{ warehouse = "{folder}", table = "shop.days", {options} }} }}\nsink {{ {sink} }}'


@pytest.mark.parametrize(
    ("field", "wanted", "code"),
    [
        (TIME, "id = bigint", None),
        (NESTED, "id = bigint", None),
        (None, "id = bigint", None),
        (TIME, "id = bigint, at = string", "PEN4421"),
        (TIME, None, "PEN4421"),
        (NESTED, None, "PEN4421"),
    ],
)
def test_a_table_with_a_time_is_refused_unless_the_job_leaves_the_column_out(tmp_path, capsys, field, wanted, code):
    fields = [{"id": 1, "name": "id", "required": False, "type": "long"}, *([field] if field else [])]
    folder = tmp_path / "shop" / "days" / "metadata"
    folder.mkdir(parents=True)
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    (folder / "v1.metadata.json").write_text(json.dumps({"current-schema-id": 0, "schemas": [schema]}))
    job = tmp_path / "job.conf"
    job.write_text(job_of(tmp_path, f"schema {{ fields {{ {wanted} }} }}" if wanted else ""))
    assert main(["validate", str(job)]) == (2 if code else 0)
    out = "".join(capsys.readouterr())
    assert (code or "no errors") in out
    assert not code or "of Iceberg's type time, which Spark cannot read" in " ".join(out.split())


def table_with_times(spark, warehouse) -> None:
    """As another engine has it: Spark makes no such table."""
    import pyarrow as pa
    from pyarrow import parquet

    iceberg = spark.sparkContext._jvm.org.apache.iceberg
    types, fields = iceberg.types.Types, spark.sparkContext._jvm.java.util.ArrayList()
    kinds = {"id": types.LongType.get(), "at": types.TimeType.get(), "name": types.StringType.get()}
    for number, (name, kind) in enumerate(kinds.items(), 1):
        fields.add(types.NestedField.optional(number, name, kind))
    catalog = iceberg.hadoop.HadoopCatalog(spark._jsc.hadoopConfiguration(), str(warehouse))
    table = catalog.createTable(iceberg.catalog.TableIdentifier.parse("shop.days"), iceberg.Schema(fields))
    columns = [
        pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})
        for number, (name, kind) in enumerate({"id": pa.int64(), "at": pa.time64("us"), "name": pa.string()}.items(), 1)
    ]
    path = warehouse / "rows.parquet"
    parquet.write_table(pa.table([[1, 2], [time(1, 2, 3), None], ["a", "b"]], schema=pa.schema(columns)), path)
    file = iceberg.DataFiles.builder(iceberg.PartitionSpec.unpartitioned()).withPath(str(path)).withRecordCount(2)
    file = file.withFileSizeInBytes(path.stat().st_size).withFormat(iceberg.FileFormat.PARQUET).build()
    table.newAppend().appendFile(file).commit()


@pytest.mark.spark
def test_the_other_columns_are_read(spark, tmp_path):
    table_with_times(spark, tmp_path)
    query = 'Sql { plugin_input = days, plugin_output = found, query = "select * from days where id > 1" }'
    options = "plugin_output = days, schema { fields { name = string, id = bigint } }"
    ROWS.clear()
    text = job_of(tmp_path, options, "InMemory { plugin_input = found }")
    assert run(spark, tmp_path, f"{text}\ntransform {{ {query} }}").errors == ()
    assert [tuple(row) for rows in ROWS.values() for row in rows] == [("b", 2)]
