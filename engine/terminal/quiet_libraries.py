"""Keeps what libraries log out of a command's output: they also raise it, and it is reported with its location."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_LEVELS: Final = {
    "sqlglot": logging.ERROR,  # its warnings have no location; the relevant ones are diagnostics here
    "SQLQueryContextLogger": logging.CRITICAL + 1,  # PySpark's: one JSON line per analysis error
    "DataFrameQueryContextLogger": logging.CRITICAL + 1,
}


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Loggers that PySpark has not made yet are removed at the end: it makes them of a class of its own, and calls
    them with arguments that others do not take."""
    known = frozenset(logging.Logger.manager.loggerDict)
    root, loggers = logging.getLogger(), {name: logging.getLogger(name) for name in _LEVELS}
    before = {name: logger.level for name, logger in loggers.items()}
    for name, level in _LEVELS.items():
        loggers[name].setLevel(level)
    root.addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        root.removeFilter(_is_not_of_py4j)
        for name, level in before.items():
            loggers[name].setLevel(level)
            if name.endswith("ContextLogger") and name not in known:
                del logging.Logger.manager.loggerDict[name]


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Py4J logs a stack trace of errors that it also raises, and of Ctrl-C during a call."""
    return "py4j" not in Path(record.pathname).parts
