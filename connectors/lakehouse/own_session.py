"""A JVM session of a write's own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from connectors.shared.java_names import java_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def own_session(spark: "SparkSession", settings: Mapping[str, str]) -> Iterator[Any]:
    """A JVM session with additional settings, active in this thread: the formats read some values only from the
    session, and other writes of the pipeline must not see them."""
    jvm: Any = spark.sparkContext._jvm
    classic = java_named(jvm, "org.apache.spark.sql.classic.SparkSession")
    session = spark._jsparkSession.cloneSession()
    for key, value in settings.items():
        session.sessionState().conf().setConfString(key, value)  # `conf().set` refuses some settings
    before = classic.getActiveSession()
    classic.setActiveSession(session)
    try:
        yield session
    finally:
        if before.isDefined():
            classic.setActiveSession(before.get())
        else:
            classic.clearActiveSession()
