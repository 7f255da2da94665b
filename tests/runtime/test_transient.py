"""What is tried again and what is not."""

import pytest

from catalog.diagnostics import job_error, run_error
from engine.runtime.transient import is_transient


class AnalysisException(Exception):
    """Named as pyspark's, which is found by its name."""


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    "error",
    [
        OSError("connection refused"),
        RuntimeError("Job aborted: ExecutorLostFailure (executor 1 exited)"),
        RuntimeError("[FAILED_READ_FILE.NO_HINT] Encountered error while reading file x. SQLSTATE: KD001"),
        run_error("PEN5001", "the job failed in Spark"),
        caused(run_error("PEN5005", "the sink cannot be written"), OSError("no route to host")),
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
        RuntimeError("[FAILED_READ_FILE.NO_HINT] … Caused by: x is not a Parquet file. SQLSTATE: KD001"),
        caused(run_error("PEN5005", "cannot be written"), PermissionError(13, "Permission denied")),
    ],
)
def test_is_permanent(error):
    assert not is_transient(error)
