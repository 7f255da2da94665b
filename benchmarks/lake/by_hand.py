"""What the jobs of `measure.py` do, in plain PySpark.

    python -m benchmarks.lake.by_hand WHAT ROWS_FOLDER TARGET [URL USER PASSWORD]

It has no staging, journal, checks, counts or retries. `WHAT`: `generate`, `append`, `replace` (Delta), `load`,
`load-rewritten` (PostgreSQL by Spark's JDBC writer, without and with `reWriteBatchedInserts`) or `read`.
"""

import sys

from pyspark.sql import SparkSession

from connectors.delta import connector as delta
from connectors.support.jdbc.dialects import DIALECTS
from engine.spark.session import EXCLUDES

POSTGRESQL = next(dialect for dialect in DIALECTS if dialect.name == "PostgreSQL")


def main(what: str, source: str, target: str, *login: str) -> None:
    url, user, password = login or ("", "", "")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars.excludes", ",".join(EXCLUDES))
    if url:
        builder = builder.config("spark.jars.packages", POSTGRESQL.maven)
    elif what != "generate":
        builder = builder.config("spark.jars.packages", ",".join(delta.maven))
        for name, value in delta.session_settings.items():
            builder = builder.config(name, value)
    spark = builder.getOrCreate()
    jdbc = {"url": url, "user": user, "password": password, "driver": POSTGRESQL.driver, "dbtable": target}
    match what:
        case "generate":
            columns = (
                "id",
                "cast(id % 1000 as int) as customer",
                "concat('name ', id % 5000) as name",
                "id / 7.0 as price",
            )
            rows = spark.range(0, int(target), 1, 4).selectExpr(*columns, "timestamp_seconds(id) as at")
            rows.write.mode("overwrite").parquet(source)
        case "append" | "replace":
            mode = "append" if what == "append" else "overwrite"
            spark.read.parquet(source).write.format("delta").mode(mode).save(target)
        case "load" | "load-rewritten":
            rewritten = {"url": f"{url}?reWriteBatchedInserts=true"} if what == "load-rewritten" else {}
            options = {**jdbc, **rewritten, "truncate": "true", "batchsize": "5000"}
            spark.read.parquet(source).write.format("jdbc").options(**options).mode("overwrite").save()
        case "read":
            options = {"partitionColumn": "id", "lowerBound": "0", "upperBound": source, "numPartitions": "2"}
            rows = spark.read.format("jdbc").options(**jdbc, **options, fetchsize="10000").load()
            rows.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
