"""Versions of Spark as a value, and that each table has each supported version."""

import pytest

from catalog.diagnostics.source import PlacedText
from catalog.spark_version import JAVA_VERSIONS, SUPPORTED, SparkVersion, Versions
from connectors.shared import spark_jars
from sql.analyze import analyze
from sql.functions.catalogue import function_names


def test_a_patch_is_no_part_of_a_version():
    assert SparkVersion.parse("4.1.4") == SparkVersion(4, 1)
    assert str(SparkVersion.parse("4.1")) == "4.1"
    assert SparkVersion(4, 1) < SparkVersion(4, 10) < SparkVersion(5, 0)


def test_since_is_inclusive_and_until_is_exclusive():
    versions = Versions(SparkVersion(4, 1), SparkVersion(4, 3))
    found = [minor for minor in range(5) if SparkVersion(4, minor) in versions]
    assert found == [1, 2]
    assert SparkVersion(9, 0) in Versions()


@pytest.mark.parametrize("spark", SUPPORTED, ids=str)
def test_each_supported_version_has_java_jars_and_functions(spark):
    assert JAVA_VERSIONS[spark]
    assert set(spark_jars._JARS[spark]) == {name for jars in spark_jars._JARS.values() for name in jars}
    assert "count" in function_names(spark)


@pytest.mark.parametrize("spark", SUPPORTED, ids=str)
def test_a_message_names_the_version_that_the_query_is_checked_for(spark):
    query = PlacedText.bare("select 1 as a union by name select 2 as a")
    messages = [item.message for item in analyze(query, {}, spark=spark).diagnostics]
    assert f"Spark {spark} has no UNION BY NAME" in messages
