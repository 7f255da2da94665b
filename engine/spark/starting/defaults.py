"""Penstock's defaults of Spark's settings, each set only where the user has set nothing: neither in a job, nor by
`spark-submit --conf`, nor in `spark-defaults.conf`."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark import SparkConf
from pyspark.find_spark_home import _find_spark_home

from connectors.shared.java_names import java_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERYWHERE: Final[Mapping[str, str]] = {
    "spark.scheduler.mode": "FAIR",  # pipelines that run side by side share the executors
    "spark.sql.maxMetadataStringLength": "1000",  # complete paths in plans, since they identify scans in the counts
    # rows of text files are parsed one by one anyway; so those that a filter drops are counted
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
}
ON_THIS_MACHINE: Final[Mapping[str, str]] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
    "spark.sql.shuffle.partitions": "64",
    "spark.databricks.delta.snapshotPartitions": "4",  # Delta's default of 50 tasks takes seconds
}
"""Defaults for the few cores of one machine. On a cluster, Spark's own stay."""

ADDED: Final = "spark.penstock.defaults"
"""A setting of the application: the names of those that are Penstock's defaults in it."""


def add_defaults(conf: SparkConf, given: Mapping[str, str], *, is_local: bool) -> None:
    """Add the defaults that neither `conf` nor the user's settings `given` have."""
    missing = {name: value for name, value in _defaults(is_local=is_local).items()
               if name not in given and not conf.contains(name)}  # fmt: skip
    conf.setAll([*missing.items(), (ADDED, ",".join(sorted(missing)))])


def set_missing(spark: "SparkSession") -> None:
    """Set the defaults that a session of the user's lacks, as far as they can be set while it runs."""
    for name, value in _defaults(is_local=is_local(str(spark.sparkContext.master))).items():
        if name.startswith("spark.sql.") and spark.conf.isModifiable(name) and not is_set(spark, name):
            spark.conf.set(name, value)


def is_set(spark: "SparkSession", name: str) -> bool:
    """Whether the session has a value of the setting, also one that equals Spark's default."""
    return bool(spark._jsparkSession.sessionState().conf().contains(name))


@contextmanager
def missing_settings(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings for a while; those that it has already stay."""
    missing = {name: value for name, value in settings.items() if not is_set(spark, name)}
    for name, value in missing.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in missing:
            spark.conf.unset(name)


def is_users(spark: "SparkSession", name: str) -> bool:
    """Whether the user has set it: in the job, for the application or in `spark-defaults.conf`."""
    return is_set(spark, name) and name not in str(spark.conf.get(ADDED, "")).split(",")


def is_local(master: str) -> bool:
    """Whether the application runs on this machine alone."""
    return master.startswith("local")


def settings_of_application(jvm: Any) -> Mapping[str, str]:
    """What Spark's Java process was started with: `spark-submit --conf` and `spark-defaults.conf`."""
    conf = java_named(jvm, "org.apache.spark.SparkConf")(True)
    return {str(pair._1()): str(pair._2()) for pair in conf.getAll()}


def settings_in_files(environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """The settings in `spark-defaults.conf`, read before Spark starts."""
    folder = environment.get("SPARK_CONF_DIR") or f"{_find_spark_home()}/conf"  # type: ignore[no-untyped-call]
    try:
        text = (Path(folder) / "spark-defaults.conf").read_text("utf-8")
    except OSError:
        return {}
    return dict(_properties(text))


def _defaults(*, is_local: bool) -> Mapping[str, str]:
    return {**EVERYWHERE, **ON_THIS_MACHINE} if is_local else EVERYWHERE


def _properties(text: str) -> "list[tuple[str, str]]":
    """The entries of a file of Java's properties; like Spark, without spaces around values."""
    joined = re.sub(r"\\\r?\n[ \t]*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    found = (_PROPERTY.fullmatch(line) for line in lines if line and line[0] not in "#!")
    return [(match[1], match[2].strip()) for match in found if match]


_PROPERTY: Final = re.compile(r"([^\s=:]+)(?:\s*[=:]\s*|\s+|$)(.*)")
