"""The jars of connectors by the version of Spark that they were built for, as Maven coordinates.

A jar for another version of Spark or Scala fails in the middle of a run: each is looked up here, by the version.
"""

from collections.abc import Mapping
from typing import Final

from catalog.spark_version import NEWEST, SPARK_4_1, SparkVersion

COMET_VERSION: Final = "1.2.0"
DELTA_VERSION: Final = "4.4.0"
ICEBERG_VERSION: Final = "1.12.0"

_JARS: Final[Mapping[SparkVersion, Mapping[str, str]]] = {
    SPARK_4_1: {
        "avro": "org.apache.spark:spark-avro_2.13:4.1.1?transitive=false",
        "comet": f"org.apache.datafusion:comet-spark-spark4.1_2.13:{COMET_VERSION}",
        "delta": f"io.delta:delta-spark_4.1_2.13:{DELTA_VERSION}",
        "hadoop-aliyun": "org.apache.hadoop:hadoop-aliyun:3.4.2",
        "hadoop-aws": "org.apache.hadoop:hadoop-aws:3.4.2",
        "hadoop-azure": "org.apache.hadoop:hadoop-azure:3.4.2",
        "hadoop-cloud": "org.apache.spark:spark-hadoop-cloud_2.13:4.1.2?transitive=false",
        "iceberg": f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG_VERSION}",
        "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.2",
        "kafka-tokens": "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0?transitive=false",
    },
}
"""Hadoop's are of the version that Spark includes; the others were tried with each patch of Spark."""


def spark_jar(name: str, spark: SparkVersion = NEWEST) -> str:
    """The coordinates of a jar. Raises `KeyError` where there is none for that version of Spark."""
    return _JARS[spark][name]
