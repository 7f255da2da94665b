"""The settings that a job may not set are those that a running Spark cannot change."""

from typing import TYPE_CHECKING, Any

import pytest

from engine.job.options.env import FIXED, STATIC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHERS = ("spark.sql.hive", "spark.databricks")  # of Hive, and of Delta where its extension is loaded
ALLOWED = {"spark.sql.extensions"}


@pytest.mark.spark
def test_static_settings_are_those_of_spark(spark: "SparkSession") -> None:
    jvm: Any = spark._jvm
    conf = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    known = [str(entry.key()) for entry in conf.getConfigEntries().toArray()]
    static = {key for key in known if conf.isStaticConfigKey(key) and not key.startswith(OTHERS)}
    assert len(static) > 10
    assert static - STATIC <= ALLOWED, static - STATIC
    assert not [key for key in STATIC if spark.conf.isModifiable(key)]
    assert all(spark.conf.isModifiable(key) for key in FIXED)
