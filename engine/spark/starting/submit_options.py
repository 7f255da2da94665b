"""The options by which spark-submit starts an application with Comet; needs no pyspark.

--driver-class-path /opt/comet.jar --conf spark.executor.extraClassPath=comet.jar
"""

from pathlib import PurePath
from typing import Final

EXECUTOR_PATH: Final = "spark.executor.extraClassPath"


def submit_options(jar: str) -> str:
    """`jar`: the path of Comet's jar where spark-submit is called; executors of YARN find it in their own folder."""
    return f"--driver-class-path {jar} --conf {EXECUTOR_PATH}={PurePath(jar).name}"
