"""Turns Spark's errors into diagnostics at their node and, for SQL, at the location in the job file."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.version import __version__

from catalog.diagnostics.diagnostic import Diagnostic, PenstockError, TransientError, run_error
from catalog.diagnostics.source import PlacedText, Span
from connectors.jdbc.server_messages import server_message
from engine.plan.nodes import AnyNode, Native, Query, Scan
from engine.spark.failures.environment_errors import environment_error
from engine.spark.failures.error_causes import ErrorCause, error_causes, message_and_remedy
from engine.spark.failures.fatal_errors import fatal_error
from engine.spark.failures.json_errors import json_error
from engine.spark.failures.lost_values import lost_value
from engine.spark.failures.source_errors import is_of_source, source_error
from engine.spark.failures.unfit_values import unfit_value
from sql.rewrite.select_query import Select

SPARK_ERRORS: Final = (PySparkException, Py4JError)


def as_run_error(error: BaseException, node: AnyNode, nodes: Iterable[AnyNode] = ()) -> PenstockError:
    """The error for users. `node` is the one that was running, `nodes` all from which it may have come."""
    if isinstance(error, PenstockError):
        return error
    causes = tuple(error_causes(error))
    cause = _first(causes) or ErrorCause(None, str(error).split("\n")[0], (), None)
    nodes = tuple(nodes)
    involved = (node, *nodes)
    if fatal := fatal_error(str(error), node, nodes):
        return fatal
    if lost := lost_value(causes, node):
        return lost
    if unfit_number := unfit_value(causes, involved):
        return unfit_number
    whole = "\n".join([str(error), *(cause.message for cause in causes)])
    if found := environment_error(whole, node, in_reading=is_of_source(causes)):
        return found
    python = _raised(str(error))
    if python is not None and (refused := _of_database(python, node)):
        return refused
    if broken := next((each.message for each in (cause, *causes) if _LOST_CONNECTION.search(each.message)), None):
        said = broken.partition("\n")[0]
        return run_error(
            "PEN5012", f"the connection to the database was lost: {said} (in `{node.written_name}`)", node.span, _RERUN
        )
    if unfit := json_error(causes, involved):
        return unfit
    if is_of_source(causes):
        return source_error(causes, involved)
    if misfit := next((cause.message for cause in causes if _OF_ANOTHER_SPARK.match(cause.message)), None):
        message = f"a jar of this session was built for another Spark version than {__version__}: it looks for {misfit}"
        return run_error("PEN9003", f"{message} (in `{node.written_name}`)", node.span)
    if python is not None:
        of = next((involved_node for involved_node in involved if isinstance(involved_node, Native)), node)
        return run_error("PEN5001", f"{python.splitlines()[0]} (in `{of.name}`)", of.span)
    message, help = message_and_remedy(cause.message)
    if placed := _placed(causes, involved):
        query, span = placed
        return run_error("PEN5001", f"{message} (in `{query.name}`)", span, help)
    code = "PEN5004" if isinstance(node, Scan) else "PEN5001"
    return run_error(code, f"{message} (in `{node.written_name}`)", node.span, help)


def placed(error: PenstockError, node: AnyNode) -> PenstockError:
    """The error, at the node where it has no location of its own."""
    return type(error)(item if item.span else replace(item, span=node.span) for item in error.diagnostics)


def _first(causes: tuple[ErrorCause, ...]) -> ErrorCause | None:
    """The outermost cause; not that a task failed while it wrote, where another says why."""
    return next((cause for cause in causes if cause.condition != "TASK_WRITE_FAILED"), causes[0] if causes else None)


def reason(error: BaseException) -> str:
    """The message of an error in one line, without Spark's codes and stack traces."""
    message = next((cause.message for cause in error_causes(error)), str(error) or type(error).__name__)
    return message.partition("\n")[0]


def _raised(message: str) -> str | None:
    """What the exception that Python code raised in a worker says, if the message contains its traceback."""
    _, found, trace = message.rpartition("Traceback (most recent call last)")
    lines = trace.split("\n")[1:]
    first = next((index for index, line in enumerate(lines) if line and not line[0].isspace()), None)
    return "\n".join(lines[first:]).strip() if found and first is not None else None


def _of_database(message: str, node: AnyNode) -> PenstockError | None:
    """The error that a driver of Python raised in a task, as PostgreSQL's COPY does."""
    if lost := _LOST_IN_COPY.search(message):
        text = f"the connection to the database was lost: {lost[0]} (in `{node.written_name}`)"
        return TransientError([Diagnostic("PEN5012", text, node.span, _RERUN)])
    said = server_message(message) if message.startswith(_DRIVER) else None
    if said is None:
        return None
    return run_error(
        "PEN5013", f"the database refused rows: {said.text} (in `{node.written_name}`)", node.span, said.hint
    )


_DRIVER: Final = "adbc_driver_manager."
_LOST_IN_COPY: Final = re.compile(
    r"server closed the connection unexpectedly|could not receive data from server|no connection to the server"
    r"|SSL connection has been closed unexpectedly|could not send data to server|terminating connection[^\n]*"
    r"|the database system is (?:starting up|shutting down)|Connection refused"
)
"""What libpq says of it."""

_LOST_CONNECTION: Final = re.compile(
    r"Socket error|Socket fail to connect|Communications link failure|terminating connection|"
    r"unexpected end of stream, read|"
    r"I/O error occurred while sending to the backend|This connection has been closed"
)
"""What the JDBC drivers of PostgreSQL, MariaDB and MySQL say of it."""
_RERUN: Final = "check that the server is running, and run the job again"

_OF_ANOTHER_SPARK: Final = re.compile(r"'\S+ org\.apache\.spark\.\S+\(.*\)'$")
"""Java's message for a missing method."""


def _placed(causes: tuple[ErrorCause, ...], nodes: tuple[AnyNode, ...]) -> tuple[Query, Span] | None:
    """The query that Spark's error context quotes, and the location of the quoted text."""
    for query, text in _texts(nodes):
        for cause in causes:
            for start, stop, fragment in cause.contexts:
                if fragment and text.value[start : stop + 1] == fragment:
                    return query, text.span(start, stop + 1)
            if cause.position and isinstance(nodes[0], Query) and query is nodes[0]:
                offset = _offset(text.value, *cause.position)
                return query, text.span(offset, min(offset + 1, len(text.value)))
    return None


def _texts(nodes: tuple[AnyNode, ...]) -> Iterator[tuple[Query, PlacedText]]:
    for node in nodes:
        if isinstance(node, Query):
            yield node, node.body.to_text() if isinstance(node.body, Select) else node.body


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(earlier) + 1 for earlier in lines[: line - 1]) + column
