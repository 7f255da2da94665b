"""Decides which errors are transient, so that a retry may succeed.

Spark marks its errors with SQLSTATE codes (its `error-conditions.json`); the first two characters name a class. Errors
of a query, its data or its schema are permanent: they return on every attempt. Errors of a network, a disk or another
program may be transient.
"""

import errno
import re
from collections.abc import Iterator
from typing import Any, Final

from catalog.diagnostics.diagnostic import JobError, PenstockError, TransientError
from connectors.files.damaged_files import OF_NO_NETWORK

PERMANENT_SQLSTATES: Final = {
    "07": "dynamic SQL error: a parameter is missing",
    "0A": "a feature that Spark does not have",
    "21": "a scalar subquery with more than one row",
    "22": "data exception: division by zero, overflow, a cast that fails",
    "23": "a constraint is violated",
    "28": "a user or password that a database refuses",
    "2B": "something else still depends on it",
    "38": "a user's function failed",
    "39": "a user's function gave what it may not give",
    "3D": "no such catalog",
    "3F": "no such schema",
    "42": "syntax error, unknown name, types that do not fit, missing path",
    "44": "a check option is violated",
    "46": "a user's Java class cannot be used",
    "54": "a limit of Spark's analyzer is passed",
    "56": "settings that contradict each other",
    "P0": "raise_error or a failed assertion in the query",
}

PERMANENT_CLASSES: Final = frozenset(
    {
        "AnalysisException",
        "ParseException",
        "ArithmeticException",
        "NumberFormatException",
        "DateTimeException",
        "ArrayIndexOutOfBoundsException",
        "IllegalArgumentException",
        "UnsupportedOperationException",
        "PythonException",
        "SparkUpgradeException",
    }
)
"""Exceptions of `pyspark.errors`, by name so that this module works without pyspark."""

PERMANENT_TEXTS: Final = (
    "PARQUET_COLUMN_DATA_TYPE_MISMATCH",
    "is not a Parquet file",
    "Malformed ORC file",
    "IncompatibleSchemaException",  # of Avro: a field is not of the declared type
    "Not an Avro data file",
    "Invalid sync!",  # an Avro file is damaged
    "CSV header does not conform to the schema",
    "Number of column in CSV header is not equal to number of fields in the schema",
    "java.nio.charset.MalformedInputException",
    "Relative path in absolute URI",  # a `:` in a file's name
)
"""Permanent conditions of unreadable files, which Spark reports under the SQLSTATE of all read errors."""

PERMANENT_OS_ERRORS: Final = (
    PermissionError,
    FileNotFoundError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
)

TRANSIENT_CODES: Final = frozenset({"PEN5001", "PEN5004", "PEN5005", "PEN5313"})
"""Diagnostics that say where it failed, not why: their cause decides. Without a cause, Penstock itself has refused the
data, the schema or the target, and does so on every attempt. Every other code is a permanent error."""

DATABASE_CODES: Final = frozenset({"PEN5012", "PEN5013"})
"""Diagnostics of a database that are transient where its own SQLSTATE says so."""

TRANSIENT_DATABASE_STATES: Final = {
    "08": "the connection failed or was lost",
    "40": "a deadlock, or a transaction that another one made impossible",
    "53": "the server has no connections or memory left",
    "57": "the server is shutting down or starting",
}

_SQLSTATE: Final = re.compile(r"SQLSTATE: (\w{2})\w{3}")


def is_transient(error: BaseException) -> bool:
    """Whether a retry of the same work may succeed."""
    return isinstance(error, TransientError) or all(not _is_permanent(cause) for cause in causes(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _is_permanent(error: BaseException) -> bool:
    if isinstance(error, JobError):
        return True
    if isinstance(error, TransientError):
        return False
    if isinstance(error, PenstockError):
        return any(not _may_pass(diagnostic.code, error.__cause__) for diagnostic in error.diagnostics)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return True
    if isinstance(error, PERMANENT_OS_ERRORS) or _says_permanent(error):
        return True
    if isinstance(error, (AssertionError, TypeError, KeyError, AttributeError, ImportError, SyntaxError)):
        return True
    if any(base.__name__ in PERMANENT_CLASSES for base in type(error).__mro__ if base is not ValueError):
        return True
    states = (*_sqlstate_classes(error), *_database_states(error))
    return any(state in PERMANENT_SQLSTATES for state in states)


def _says_permanent(error: BaseException) -> bool:
    """By the texts of the error and, for one that came from Java, of every exception that caused it there."""
    texts = [str(error), *(str(thrown) for thrown in _thrown(error))]
    return any(part in text for part in PERMANENT_TEXTS for text in texts) or any(map(OF_NO_NETWORK.search, texts))


def _may_pass(code: str, cause: BaseException | None) -> bool:
    if cause is None:
        return False
    if code in DATABASE_CODES:
        return any(state in TRANSIENT_DATABASE_STATES for state in _database_states(cause))
    return code in TRANSIENT_CODES


def _sqlstate_classes(error: BaseException) -> Iterator[str]:
    """Of the error's text and, for one that came from Java, of every exception that caused it there."""
    yield from _SQLSTATE.findall(str(error))
    for thrown in _thrown(error):
        yield from _SQLSTATE.findall(str(thrown.getMessage() or ""))


def _database_states(error: BaseException) -> Iterator[str]:
    """The classes of the SQLSTATEs that a JDBC driver gave."""
    for thrown in _thrown(error):
        if _is_of_jdbc(thrown) and (state := thrown.getSQLState()):
            yield str(state)[:2]


def _thrown(error: BaseException) -> Iterator[Any]:
    """The exceptions of Java behind an error, outermost first."""
    thrown: Any = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    while thrown is not None:
        yield thrown
        thrown = thrown.getCause()


def _is_of_jdbc(thrown: Any) -> bool:
    kind = thrown.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False
