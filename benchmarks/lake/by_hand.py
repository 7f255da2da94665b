"""What the jobs of `measure.py` do, in plain PySpark.

    python -m benchmarks.lake.by_hand WHAT ROWS_FOLDER TARGET [URL USER PASSWORD]
    python -m benchmarks.lake.by_hand read ROWS TABLE URL USER PASSWORD FOLDER
    python -m benchmarks.lake.by_hand generate ROWS_FOLDER ROWS [KEYS]

It has no staging, journal, checks, counts or retries. `WHAT`: `append`, `replace` (Delta), `iceberg`, `paimon`
(appends, the second by pypaimon in one process), `load`, `load-rewritten` (PostgreSQL by Spark's JDBC writer, without
and with `reWriteBatchedInserts`) or `read` (a table of PostgreSQL into Parquet files).
"""

import sys

from pyspark.sql import SparkSession

from connectors.delta.connector import connector as delta
from connectors.iceberg.connector import connector as iceberg
from connectors.jdbc.known_dialects import DIALECTS
from engine.spark.starting.jars import EXCLUDES

POSTGRESQL = next(dialect for dialect in DIALECTS if dialect.name == "PostgreSQL")


def main(what: str, source: str, target: str, *more: str) -> None:
    if what == "paimon":
        append_paimon(source, target)
        return
    url, user, password, *folder = more if len(more) > 1 else ("", "", "")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars.excludes", ",".join(EXCLUDES))
    for name, value in settings(what, target).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    jdbc = {"url": url, "user": user, "password": password, "driver": POSTGRESQL.driver, "dbtable": target}
    match what:
        case "generate":
            columns = (
                f"id % {more[0]} as id" if more else "id",
                "cast(id % 1000 as int) as customer",
                "concat('name ', id % 5000) as name",
                "id / 7.0 as price",
            )
            rows = spark.range(0, int(target), 1, 4).selectExpr(*columns, "timestamp_seconds(id) as at")
            rows.write.mode("overwrite").parquet(source)
        case "append" | "replace":
            mode = "append" if what == "append" else "overwrite"
            spark.read.parquet(source).write.format("delta").mode(mode).save(target)
        case "iceberg":
            rows = spark.read.parquet(source)
            table = rows.writeTo("hand.db.rows")
            table.append() if spark.catalog.tableExists("hand.db.rows") else table.create()
        case "load" | "load-rewritten":
            rewritten = {"url": f"{url}?reWriteBatchedInserts=true"} if what == "load-rewritten" else {}
            options = {**jdbc, **rewritten, "truncate": "true", "batchsize": "5000"}
            spark.read.parquet(source).write.format("jdbc").options(**options).mode("overwrite").save()
        case "read":
            options = {"partitionColumn": "id", "lowerBound": "0", "upperBound": source, "numPartitions": "2"}
            rows = spark.read.format("jdbc").options(**jdbc, **options, fetchsize="10000").load()
            rows.write.mode("overwrite").parquet(*folder)
    spark.stop()


def settings(what: str, target: str) -> dict[str, str]:
    """The session's jars, extensions and catalogs."""
    match what:
        case "append" | "replace":
            return {"spark.jars.packages": ",".join(delta.maven), **delta.session_settings}
        case "iceberg":
            catalog = "spark.sql.catalog.hand"
            named = {catalog: "org.apache.iceberg.spark.SparkCatalog", f"{catalog}.type": "hadoop"}
            return {"spark.jars.packages": ",".join(iceberg.maven), **named, f"{catalog}.warehouse": target}
        case "load" | "load-rewritten" | "read":
            return {"spark.jars.packages": POSTGRESQL.maven}
    return {}


def append_paimon(source: str, target: str) -> None:
    import pyarrow.dataset
    from pypaimon import CatalogFactory, Schema

    rows = pyarrow.dataset.dataset(source, format="parquet")
    catalog = CatalogFactory.create({"warehouse": target})
    catalog.create_database("db", True)
    catalog.create_table("db.rows", Schema.from_pyarrow_schema(rows.schema), True)
    builder = catalog.get_table("db.rows").new_batch_write_builder()
    write, commit = builder.new_write(), builder.new_commit()
    for batch in rows.to_batches():
        write.write_arrow_batch(batch)
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
