"""The session that Spark's code finds as the active one of this thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def active_session(spark: "SparkSession", session: Any) -> Iterator[None]:
    """Make a session of the JVM the active one of this thread: some of Spark's code and Delta's looks only there."""
    classic: Any = spark.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    before = classic.getActiveSession()
    classic.setActiveSession(session)
    try:
        yield
    finally:
        if before.isDefined():
            classic.setActiveSession(before.get())
        else:
            classic.clearActiveSession()
