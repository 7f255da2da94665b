"""`penstock warm`: lets Java write its archive of Spark's classes, with which later sessions start faster."""

from argparse import ArgumentParser, Namespace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUMMARY = "make Spark start faster from now on: write the archive of its classes, once for a machine or an image"

_SECONDS: Final = 300.0
"""How long Java may take to write the archive."""

_ROWS: Final = """
    select id % 7 as key, id / 3 as amount, concat('2024-01-0', id % 9 + 1, ' x') as name, timestamp_seconds(id) as at
    from range(1000)
"""
_TOTALS: Final = """
    select t.key, count(*) as rows, sum(t.amount) as amount, max(struct(t.at, t.day)) as newest,
        row_number() over (order by sum(t.amount) desc) as place
    from (select *, to_date(substring(name, 1, 10)) as day from rows) t
    left join (select distinct key, upper(name) as label from rows) labels on labels.key = t.key
    where t.amount > 1 and coalesce(label, '') <> '' group by t.key
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--accelerator",
        choices=("none", "comet"),
        default="none",
        help="for jobs with this accelerator (default: none)",
    )


def run(arguments: Namespace) -> int:
    from catalog.diagnostics.diagnostic import run_error
    from engine.job.model.job import Accelerator
    from engine.spark.session import end_java, find_java, open_session, settings_with
    from engine.spark.starting.class_archive import VARIABLE, ClassArchive

    accelerator = Accelerator(arguments.accelerator)
    help = f"set {VARIABLE} to a folder that can be written to, with 1 GB of free space"
    try:
        archive = ClassArchive.of(find_java(), settings_with(accelerator, {}))
    except OSError as error:
        raise run_error(
            "PEN5002", f"no folder for the archive: {error.strerror}: {error.filename}", None, help
        ) from error
    if archive is None:
        raise run_error(
            "PEN5002", f"no folder for the archive: {VARIABLE} is `off`, or there is no home directory", None, help
        )
    if archive.find() is None:
        spark = open_session("penstock warm", {}, writes_archive=True, accelerator=accelerator)
        _work(spark)
        spark.stop()
        end_java(_SECONDS)
    path = archive.find()
    if path is None:
        raise run_error("PEN5002", f"Java wrote no archive to {archive.folder}", None, help)
    print(f"Spark starts faster with {path} ({path.stat().st_size >> 20} MB)")
    return 0


def _work(spark: "SparkSession") -> None:
    """What most jobs do, so that their classes are loaded: read and type files, join, aggregate, write."""
    with TemporaryDirectory(prefix="penstock-") as folder:
        spark.sql(_ROWS).write.option("header", True).csv(f"{folder}/rows.csv")
        read = spark.read.option("header", True).option("inferSchema", True).csv(f"{folder}/rows.csv")
        read.createOrReplaceTempView("rows")
        spark.sql(_TOTALS).write.partitionBy("place").parquet(f"{folder}/totals")
        spark.read.parquet(f"{folder}/totals").write.json(f"{folder}/totals.json")
