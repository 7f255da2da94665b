"""The end of Java, in which Spark runs, while a job needs it: the kernel kills a process where memory runs out."""

import re
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext

from catalog.diagnostics.diagnostic import Diagnostic, RunError
from engine.plan.nodes import AnyNode
from engine.spark.failures.long_rows import LONG_ROW_HELP, long_row

_MORE_MEMORY: Final = (
    "free memory of the machine, or give Spark less of it (`spark.driver.memory` in `env`) and less to do at a time "
    "(`parallelism`, more partitions)"
)
_OUT_OF_MEMORY: Final = 52
"""The exit code of Spark where Java has thrown an OutOfMemoryError."""
_SECONDS: Final = 2.0
"""How long a process that was killed may take to be seen as ended."""
_ENDS: Final = re.compile(
    r"java\.lang\.\w*Error\b|SparkContext was shut ?down|stopped SparkContext|Shutdown in progress"
)
"""What Java says of a job while it ends: Spark ends it after errors like that of memory, which fail the job first."""


def exit_of_java(error: BaseException | None = None) -> int | None:
    """How Java has ended: its exit code, negative for a signal; None if it runs, or another process started it.

    `error`: what happened; if a connection was lost, or Java says what it ends after, it may be about to end.
    """
    process: Any = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    if error is not None and _may_be_of_the_end(error):
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS)
    code = process.poll()
    return None if code is None else int(code)


def _may_be_of_the_end(error: BaseException) -> bool:
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        current = current.__cause__ or current.__context__
    return any(map(_is_lost_or_ends, seen))


def _is_lost_or_ends(cause: BaseException) -> bool:
    """Whether it says that a connection was lost, perhaps that to Java, or that Java ends."""
    if not isinstance(cause, Py4JJavaError):
        return isinstance(cause, ConnectionError | Py4JError)
    try:
        text = str(cause)  # Java is asked for it
    except (Py4JError, OSError):
        return True
    return _ENDS.search(text) is not None


def lost_java(code: int, *, run_id: str, is_decided: bool, nodes: Iterable[AnyNode] = ()) -> RunError:
    """The error (PEN5403) of a run whose Java has ended with this code; `is_decided`: while it committed.

    `nodes`: those of the plan, among whose files a row may be too long for Java's memory.
    """
    how = f"by the signal {signal.Signals(-code).name}" if code < 0 else f"with the exit code {code}"
    kernel = ", as the kernel does where memory runs out" if code == -signal.SIGKILL else ""
    if code == _OUT_OF_MEMORY:
        kernel = ", as Spark does where Java's memory runs out"
    message = f"Java, in which Spark runs, was ended {how}{kernel}"
    row = long_row(nodes) if code in (_OUT_OF_MEMORY, -signal.SIGKILL) and not is_decided else None
    if row is not None:
        message += f"; {row}"
    if is_decided:
        message += ": the run had decided to commit, and some targets may be written"
        help = f"`penstock run --resume {run_id} JOB`, or the next run of the job, finishes the commit"
    else:
        message += ": the targets are as they were"
        help = f"{_MORE_MEMORY if row is None else LONG_ROW_HELP}; then run the job again"
    return RunError([Diagnostic("PEN5403", message, None, help)])
