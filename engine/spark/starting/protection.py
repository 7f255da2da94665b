"""What protects a session from others on its machine: which settings Spark hides, and where it listens."""

import os
from typing import Any, Final

from pyspark import SparkConf

from catalog.secret_names import SPARK_PATTERN

REDACTION: Final = "spark.redaction.regex"
_SPARKS_OWN: Final = "(?i)secret|password|token|access[.]?key"
"""The default of Spark 4.1."""

_PLACE: Final = ("spark.driver.host", "spark.driver.bindAddress")
_LOOPBACK: Final = "127.0.0.1"


def protect(conf: SparkConf, jvm: Any) -> None:
    """Extend what Spark hides in its event log and its pages, and keep a local session's ports off the network.

    Java knows what the user has set anywhere: in `spark-defaults.conf`, by spark-submit, in the job.
    """
    known = jvm.org.apache.spark.SparkConf(True)

    def setting(name: str, default: str = "") -> str:
        return str(conf.get(name, None) or known.get(name, default))

    hidden = setting(REDACTION, _SPARKS_OWN)
    if SPARK_PATTERN not in hidden:
        conf.set(REDACTION, f"(?:{hidden})|{SPARK_PATTERN}")
    is_placed = "SPARK_LOCAL_IP" in os.environ or "SPARK_LOCAL_HOSTNAME" in os.environ or any(map(setting, _PLACE))
    if setting("spark.master").startswith("local") and not is_placed:
        for name in _PLACE:
            conf.set(name, _LOOPBACK)
