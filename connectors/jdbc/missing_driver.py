"""The error of a session without the JDBC driver of a database."""

import re
from typing import Final

from catalog.diagnostics.diagnostic import RunError, run_error
from catalog.diagnostics.source import Span

_NO_DRIVER: Final = re.compile(r"No suitable driver|ClassNotFoundException: (?P<class>[\w.$]*Driver\b)")


def missing_driver(text: str, of: str = "", span: Span | None = None) -> RunError | None:
    """PEN5033 if the messages of an error and its causes say that no driver was found; `of` ends its message."""
    driver = _NO_DRIVER.search(text)
    if driver is None:
        return None
    what = f" `{driver['class']}`" if driver["class"] else ""
    help = (
        "name the database's driver in `env`: `spark.jars.packages`, or `spark.jars` for a file; "
        "`penstock package` prints the `--packages` that `spark-submit` needs"
    )
    return run_error("PEN5033", f"Spark has no JDBC driver{what}{of}", span, help)
