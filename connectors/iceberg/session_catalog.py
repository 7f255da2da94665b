"""Opens a catalog of Iceberg in a session of Spark's, which keeps none of its secrets afterwards.

Spark hands all settings of a session to each of its jobs, and writes them into its event log without hiding those that
the application was not started with. A catalog reads its settings once, when it is opened.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from connectors.shared.java_names import java_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_catalog(
    spark: "SparkSession", session: Any, name: str, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> Any:
    """The catalog of that name in the JVM session. Secrets that the session has already are left in it."""
    conf = session.sessionState().conf()
    for key, value in settings.items():
        conf.setConfString(key, value)
    added = [key for key in secrets if not conf.contains(key)]
    for key, value in secrets.items():
        conf.setConfString(key, value)
    classic = java_named(spark.sparkContext._jvm, "org.apache.spark.sql.classic.SparkSession")
    before = classic.getActiveSession()
    classic.setActiveSession(session)  # whose settings `hadoop.*` of the catalog are read
    try:
        return session.sessionState().catalogManager().catalog(name)
    finally:
        for key in added:
            conf.unsetConf(key)
        if before.isDefined():
            classic.setActiveSession(before.get())
        else:
            classic.clearActiveSession()
