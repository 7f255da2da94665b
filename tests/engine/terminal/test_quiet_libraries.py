"""What libraries log of errors that they also raise is not shown by a command."""

import logging

import pytest

from engine.terminal.quiet_libraries import quiet_libraries

pytestmark = pytest.mark.spark


def test_no_log_line_of_spark_reaches_stderr(spark):
    from pyspark.errors import PySparkException

    with quiet_libraries():
        with pytest.raises(PySparkException):  # PySpark makes its loggers with the first error
            spark.range(1).selectExpr("nothing").collect()
        with pytest.raises(PySparkException):
            spark.range(1).select(spark.range(1).id / 0).collect()
        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


def test_pyspark_makes_its_loggers_after_a_command(spark):
    """It calls them with `errorClass`, which a logger of another class refuses with a TypeError."""
    from pyspark.errors import PySparkException

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.Logger.manager.loggerDict.pop(name, None)  # as in a new process
    with quiet_libraries():
        pass
    with pytest.raises(PySparkException):
        spark.range(1).selectExpr("nothing").collect()


def test_py4j_logs_no_traces(spark):
    from py4j import java_gateway

    def is_shown(file):
        record = logging.LogRecord("root", logging.ERROR, file, 1, "Exception while sending command.", (), None)
        return bool(logging.getLogger().filter(record))

    files = (java_gateway.__file__, __file__)
    with quiet_libraries():
        assert list(map(is_shown, files)) == [False, True]
    assert list(map(is_shown, files)) == [True, True]
