"""What is tried again and what is not."""

import pytest

from catalog.diagnostics.diagnostic import Diagnostic, TransientError, job_error, run_error
from engine.runtime.transient import is_transient


class AnalysisException(Exception):
    """Named as pyspark's, which is found by its name."""


class Thrown:
    """An exception of Java."""

    def __init__(self, *classes: str, state: str | None = None, cause: "Thrown | None" = None) -> None:
        self.classes, self.state, self.cause = classes, state, cause

    def getMessage(self):
        return "what a driver says"

    def getCause(self):
        return self.cause

    def getSQLState(self):
        return self.state

    def getClass(self):
        return self

    def getName(self):
        return self.classes[0]

    def getSuperclass(self):
        return Thrown(*self.classes[1:]) if len(self.classes) > 1 else None


def of_driver(state: str | None) -> BaseException:
    """An error of a JDBC driver, as the class of a driver that another exception wraps."""
    error = RuntimeError("An error occurred while calling o1.execute")
    driver = Thrown("org.postgresql.util.PSQLException", "java.sql.SQLException", state=state)
    error.java_exception = Thrown("java.lang.RuntimeException", cause=driver)
    return error


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    "error",
    [
        OSError("connection refused"),
        RuntimeError("Job aborted: ExecutorLostFailure (executor 1 exited)"),
        RuntimeError("[FAILED_READ_FILE.NO_HINT] Encountered error while reading file x. SQLSTATE: KD001"),
        caused(run_error("PEN5001", "the job failed in Spark"), RuntimeError("ExecutorLostFailure")),
        TransientError([Diagnostic("PEN5005", "Spark sent 5 rows, but the staging table has 10")]),
        caused(run_error("PEN5005", "the sink cannot be written"), OSError("no route to host")),
        caused(run_error("PEN5012", "a database cannot be reached"), of_driver("08001")),
        caused(run_error("PEN5013", "a statement is refused"), of_driver("40P01")),
        caused(run_error("PEN5013", "the server stops"), of_driver("57P01")),
        caused(run_error("PEN5001", "a task failed"), of_driver("08006")),
        caused(run_error("PEN5001", "a task failed"), of_driver(None)),
    ],
)
def test_may_pass(error):
    assert is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        AnalysisException("[TABLE_OR_VIEW_NOT_FOUND]"),
        RuntimeError("Job aborted: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"),
        run_error("PEN5006", "an Assert rule is broken"),
        job_error("PEN4003", "rows do not fit the target's schema"),
        caused(run_error("PEN5001", "the job failed in Spark"), AnalysisException("[UNRESOLVED_COLUMN]")),
        caused(run_error("PEN5005", "cannot write"), RuntimeError("[CAST_INVALID_INPUT] x. SQLSTATE: 22018")),
        TypeError("a bug in a connector"),
        caused(run_error("PEN5012", "a database cannot be reached"), of_driver("28P01")),
        caused(run_error("PEN5012", "a database cannot be reached"), of_driver(None)),
        caused(run_error("PEN5013", "a statement is refused"), of_driver("42601")),
        run_error("PEN5013", "duplicate keys in the rows"),
        run_error("PEN5001", "a key has several rows"),
        run_error("PEN5004", "the topic `orders` does not exist"),
        run_error("PEN5005", "`out/a.csv` is a file"),
        caused(run_error("PEN5001", "a task failed"), of_driver("22001")),
        RuntimeError("[FAILED_READ_FILE.NO_HINT] … Caused by: x is not a Parquet file. SQLSTATE: KD001"),
        RuntimeError(
            "[FAILED_READ_FILE.NO_HINT] … IncompatibleSchemaException: Cannot convert Avro field. SQLSTATE: KD001"
        ),
        caused(run_error("PEN5005", "cannot be written"), PermissionError(13, "Permission denied")),
    ],
)
def test_is_permanent(error):
    assert not is_transient(error)
