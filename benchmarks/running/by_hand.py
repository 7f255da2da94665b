"""The same work written by hand in PySpark: `python by_hand.py session|generate|synthetic|flights DATA OUT`.

The queries are taken from the job files, so that both sides do the same; reading, wiring and writing are by hand.
"""

import re
import sys
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
FLIGHTS = ROOT / "examples" / "flights"
SCHEMAS = {
    "flights": "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int, "
    "sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string, dest string, "
    "air_time int, distance int, hour int, minute int, time_hour timestamp",
    "airlines": "carrier string, name string",
    "airports": "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string",
    "planes": "tailnum string, year int, type string, manufacturer string, model string, engines int, seats int, "
    "speed int, engine string",
    "weather": "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double, "
    "wind_dir int, wind_speed double, wind_gust double, precip double, pressure double, visib double, "
    "time_hour timestamp",
}


def session() -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def queries(job: Path) -> dict[str, str]:
    """The text of each Sql transform, by its output's name."""
    block = r'plugin_output = "(\w+)"\s+(?:cache = [^\n]*\s+)?query = (?:"""(.*?)"""|"([^"\n]*)")'
    return {name: long or short for name, long, short in re.findall(block, job.read_text(), re.DOTALL)}


def write(df: DataFrame, path: str, *by: str) -> None:
    (df.write.partitionBy(*by) if by else df.write).mode("overwrite").parquet(path)


def generate(spark: SparkSession, data: str) -> None:
    spark.range(0, 10_000_000, 1, 8).selectExpr(
        "id",
        "id % 100000 as customer",
        "cast(id % 100000 as decimal(10,2)) as amount",
        "concat('word', cast(id % 1000 as string)) as word",
    ).write.parquet(f"{data}/events")


def synthetic(spark: SparkSession, data: str, out: str) -> None:
    spark.read.parquet(f"{data}/events").createOrReplaceTempView("events")
    texts = queries(Path(__file__).with_name("synthetic.conf"))
    write(spark.sql(texts["kept"]), f"{out}/kept")
    write(spark.sql(texts["by_customer"]), f"{out}/by_customer")


def flights(spark: SparkSession, data: str, out: str) -> None:
    for name, schema in SCHEMAS.items():
        reader = spark.read.schema(schema).option("header", "true").option("nullValue", "NA").option("mode", "FAILFAST")
        reader.csv(f"{data}/{name}.csv.gz").createOrReplaceTempView(name)
    frames = {}
    for name, text in queries(FLIGHTS / "flights.conf").items():
        frames[name] = spark.sql(text)
        if name == "enriched":  # the job says `cache = disk`
            frames[name] = frames[name].persist(StorageLevel.DISK_ONLY)
        frames[name].createOrReplaceTempView(name)
    write(frames["enriched"], f"{out}/enriched", "flown_in")
    for name in ("carrier", "route", "weather"):
        write(frames[f"by_{name}"], f"{out}/delays_by_{name}")
    (totals,) = frames["totals"].collect()
    assert totals.flights == 336_776
    assert totals.routes == 224
    frames["by_carrier"].show()


def main() -> None:
    what, *places = sys.argv[1:]
    spark = session()
    if what != "session":
        {"generate": generate, "synthetic": synthetic, "flights": flights}[what](spark, *places)
    spark.stop()


if __name__ == "__main__":
    main()
